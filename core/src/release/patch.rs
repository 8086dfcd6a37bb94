//! The one write of a release.

use super::Marked;
use crate::gate::{HELD, RESUME};
use crate::intent::{Fresh, Intent, Purpose, annotation};
use crate::object::Switch;

const BYPASS: &str = "sluicegate.dev/bypass";
const REQUESTED: &str = "reconcile.fluxcd.io/requestedAt";
/// What the switch annotation says where an applier declares it: any value but `disabled` is active.
const ENABLED: &str = "enabled";

/// Resumes a marked object: the switch, the mark and a fresh request token in one write.
///
/// The switch is removed, or written off where an applier declares it: it would write it again, and move the generation
/// once more. A token that was handled while the object was suspended is spent, so it gets another one, even where it has
/// one already.
///
/// `None` where the object is not marked or not suspended.
#[must_use]
pub fn resume(fresh: &Fresh, marked: &Marked, token: &str) -> Option<Intent> {
    let key = match marked {
        Marked::Held(_) => HELD,
        Marked::Wished => RESUME,
    };
    let mut intent = Intent::new(fresh, Purpose::Release);
    intent.test(&annotation(key), fresh.annotation(key)?);
    switch_off(fresh, &mut intent)?;
    intent.remove(&annotation(key));
    intent.set(&annotation(REQUESTED), token);
    Some(intent)
}

/// As [`resume`], for an object without a mark that a person asks to resume.
///
/// `None` where it is not suspended.
#[must_use]
pub fn resume_unmarked(fresh: &Fresh, token: &str) -> Option<Intent> {
    let mut intent = Intent::new(fresh, Purpose::Release);
    switch_off(fresh, &mut intent)?;
    // The switch may have been the only annotation: the map stays, empty.
    intent.annotate(fresh, &[(REQUESTED, token)]);
    Some(intent)
}

/// As [`resume`], in the name of a person who gives a reason for not waiting: the reason goes into the bypass annotation,
/// which [`crate::gate`] looks at. It stays on the object until it is taken off.
#[must_use]
pub fn free(fresh: &Fresh, marked: &Marked, token: &str, reason: Option<&str>) -> Option<Intent> {
    let mut intent = resume(fresh, marked, token)?;
    if let Some(reason) = reason {
        intent.set(&annotation(BYPASS), reason);
    }
    Some(intent)
}

/// Takes the bypass annotation off again; `None` where there is none.
#[must_use]
pub fn end_bypass(fresh: &Fresh) -> Option<Intent> {
    let reason = fresh.annotation(BYPASS)?;
    let mut intent = Intent::new(fresh, Purpose::Release);
    intent.test(&annotation(BYPASS), reason);
    intent.remove(&annotation(BYPASS));
    Some(intent)
}

fn switch_off(fresh: &Fresh, intent: &mut Intent) -> Option<()> {
    if !fresh.object().is_suspended() {
        return None;
    }
    let applied = fresh.switch_is_applied();
    match fresh.object().reference.kind.row().switch {
        Switch::Spec => {
            intent.test("/spec/suspend", true);
            if applied { intent.set("/spec/suspend", false) } else { intent.remove("/spec/suspend") }
        }
        Switch::Annotation(key) => {
            let path = annotation(key);
            intent.test(&path, fresh.annotation(key)?);
            if applied { intent.set(&path, ENABLED) } else { intent.remove(&path) }
        }
        Switch::None => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::{Marks, Standing};
    use crate::testing::{reference, sample, set};
    use rstest::rstest;
    use serde_json::{Value, json};

    const MARK: &str = r#"{"applier":{"user":"u","manager":"m"},"at":"2026-01-01T00:00:00Z","cause":"premature"}"#;

    fn held(mut json: Value, applied: Option<Value>) -> Fresh {
        set(&mut json, "/metadata/annotations/sluicegate.dev~1held", MARK.into());
        let fields = applied.map(|fields| json!([{"manager": "x", "operation": "Apply", "fieldsV1": fields}]));
        set(&mut json, "/metadata/managedFields", fields.unwrap_or_default());
        Fresh::read(&reference(&json), json.to_string().as_bytes()).unwrap()
    }

    fn operations(fresh: &Fresh) -> Vec<Value> {
        let Standing::Held(marked) = Standing::of(fresh.object(), Marks::Annotations) else { panic!("not held") };
        let body = resume(fresh, &marked, "T").unwrap().body();
        body.as_array().unwrap()[2..].to_vec()
    }

    fn suspended(mut json: Value) -> Value {
        set(&mut json, "/spec/suspend", json!(true));
        json
    }

    fn disabled(mut json: Value) -> Value {
        set(&mut json, "/metadata/annotations/source.extensions.fluxcd.io~1reconcile", json!("Disabled"));
        json
    }

    #[rstest]
    #[case(None, json!({"op": "remove", "path": "/spec/suspend"}))]
    #[case(Some(json!({"f:spec": {"f:suspend": {}}})), json!({"op": "add", "path": "/spec/suspend", "value": false}))]
    #[case(Some(json!({"f:spec": {"f:path": {}}})), json!({"op": "remove", "path": "/spec/suspend"}))]
    fn one_write_resumes(#[case] applied: Option<Value>, #[case] switch: Value) {
        let fresh = held(suspended(sample::kustomization("ns", "a")), applied);
        let mark = "/metadata/annotations/sluicegate.dev~1held";
        assert_eq!(
            operations(&fresh),
            [
                json!({"op": "test", "path": mark, "value": MARK}),
                json!({"op": "test", "path": "/spec/suspend", "value": true}),
                switch,
                json!({"op": "remove", "path": mark}),
                json!({"op": "add", "path": "/metadata/annotations/reconcile.fluxcd.io~1requestedAt", "value": "T"}),
            ]
        );
    }

    #[rstest]
    #[case(None, json!({"op": "remove", "path": "/metadata/annotations/source.extensions.fluxcd.io~1reconcile"}))]
    #[case(
        Some(json!({"f:metadata": {"f:annotations": {"f:source.extensions.fluxcd.io/reconcile": {}}}})),
        json!({"op": "add", "path": "/metadata/annotations/source.extensions.fluxcd.io~1reconcile", "value": "enabled"})
    )]
    fn the_switch_may_be_an_annotation(#[case] applied: Option<Value>, #[case] switch: Value) {
        let fresh = held(disabled(sample::artifact_generator("ns", "a")), applied);
        let operations = operations(&fresh);
        let path = "/metadata/annotations/source.extensions.fluxcd.io~1reconcile";
        assert_eq!(operations[1], json!({"op": "test", "path": path, "value": "Disabled"}));
        assert_eq!(operations[2], switch);
    }

    #[test]
    fn without_a_gate_the_wish_goes_with_the_switch() {
        let mut json = suspended(sample::kustomization("ns", "a"));
        set(&mut json, "/metadata/annotations/sluicegate.dev~1resume", "when-settled".into());
        let fresh = Fresh::read(&reference(&json), json.to_string().as_bytes()).unwrap();
        assert_eq!(Standing::of(fresh.object(), Marks::Gate), Standing::None);
        let wish = "/metadata/annotations/sluicegate.dev~1resume";
        assert_eq!(operations(&fresh)[0], json!({"op": "test", "path": wish, "value": "when-settled"}));
        assert!(operations(&fresh).contains(&json!({"op": "remove", "path": wish})));
    }

    #[test]
    fn what_is_not_suspended_is_not_resumed() {
        let fresh = held(sample::kustomization("ns", "a"), None);
        assert_eq!(Standing::of(fresh.object(), Marks::Gate), Standing::None);
        assert_eq!(resume(&fresh, &Marked::Wished, "T"), None);
    }

    #[test]
    fn a_person_may_give_a_reason() {
        let fresh = held(suspended(sample::kustomization("ns", "a")), None);
        let Standing::Held(marked) = Standing::of(fresh.object(), Marks::Gate) else { panic!("not held") };
        let body = free(&fresh, &marked, "T", Some("maintenance is over")).unwrap().body();
        let bypass = "/metadata/annotations/sluicegate.dev~1bypass";
        assert_eq!(
            body.as_array().unwrap().last(),
            Some(&json!({"op": "add", "path": bypass, "value": "maintenance is over"}))
        );
        assert_eq!(end_bypass(&fresh), None);
    }
}
