//! What becomes of a mark while the object stays suspended, and when it ends.

use super::*;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stays {
    /// As the request has it.
    AsIs,
    /// The mark of the old object.
    Old,
    None,
}

/// What becomes of a mark while the object stays suspended.
#[rstest]
// no mark before
#[case(None, None, false, Stays::None, "", "", "")]
#[case(None, Some("forged"), false, Stays::None, STRIPPED, STRIPPED, STRIPPED)]
#[case(None, Some("garbage"), false, Stays::None, STRIPPED, STRIPPED, STRIPPED)]
#[case(Some("garbage"), Some("garbage"), false, Stays::AsIs, "", "", "")]
#[case(Some("garbage"), Some("forged"), false, Stays::None, STRIPPED, STRIPPED, STRIPPED)]
#[case(Some("garbage"), None, false, Stays::None, "", "", "")]
#[case(None, None, true, Stays::None, "", "", "")]
#[case(None, Some("forged"), true, Stays::None, STRIPPED, STRIPPED, STRIPPED)]
// a mark before
#[case(Some("old"), Some("old"), false, Stays::Old, "", LEFT, "")]
#[case(Some("old"), Some("forged"), false, Stays::Old, RESTORED, RESTORED, RESTORED)]
#[case(Some("old"), Some("garbage"), false, Stays::Old, RESTORED, RESTORED, RESTORED)]
fn marks_are_put_right(
    #[case] before: Option<&str>,
    #[case] after: Option<&str>,
    #[case] declares: bool,
    #[case] stays: Stays,
    #[case] applier: &str,
    #[case] person: &str,
    #[case] companion: &str,
) {
    let text = |name: Option<&str>| {
        name.map(|name| match name {
            "old" => old_mark(),
            "forged" => forged(),
            other => other.to_owned(),
        })
    };
    let object = if declares { declaring(suspended(own())) } else { suspended(own()) };
    let old = annotated(object.clone(), HELD, text(before).as_deref());
    let new = annotated(object, HELD, text(after).as_deref());
    for (by, said) in [(FLUX, applier), (PERSON, person), (COMPANION, companion)] {
        for role in [Role::Both, Role::Hold] {
            let mut world = unlevel();
            world.settings.role = role;
            let judged = world.update(by, &old, &new);
            let then = stored(&judged, &new);
            let expected = match stays {
                Stays::AsIs => text(after),
                Stays::Old => Some(old_mark()),
                Stays::None => None,
            };
            assert_eq!(annotation(&then, HELD), expected.as_deref(), "{by:?}");
            assert!(is_suspended(&then));
            let expected: &[&str] = if said.is_empty() { &[] } else { &[said] };
            assert_eq!(warnings(&judged), expected, "{by:?}");
            assert_eq!(judged.reads.len() + judged.leases.len() + judged.questions.len(), 0, "without a read");
        }
    }
}

#[test]
fn an_appliers_request_that_loses_the_mark_gets_it_back() {
    let judged = level().update(FLUX, &held(own()), &suspended(own()));
    assert_eq!(stored(&judged, &suspended(own())), held(own()));
    assert_eq!(judged.verdict.warnings, [] as [&str; 0]);
    // Another applier's too.
    assert_eq!(stored(&level().update(HELM, &held(own()), &suspended(own())), &suspended(own())), held(own()));
}

#[rstest]
#[case(PERSON)]
#[case(COMPANION)]
fn persons_and_the_companion_may_take_a_mark_off(#[case] by: By) {
    assert_silent(&level().update(by, &held(own()), &suspended(own())));
}

#[test]
fn an_applier_that_declares_the_switch_on_ends_the_mark() {
    for new in
        [declaring(held(own())), declaring(suspended(own())), declaring(annotated(suspended(own()), HELD, Some("x")))]
    {
        let judged = unlevel().update(FLUX, &held(own()), &new);
        assert_eq!(stored(&judged, &new), declaring(suspended(own())));
        assert_eq!(warnings(&judged), [ENDED]);
        assert_eq!(judged.reads, [] as [&str; 0]);
    }
    // A person's request with the same fields ends nothing.
    let judged = unlevel().update(PERSON, &held(own()), &declaring(held(own())));
    assert_eq!(warnings(&judged), [LEFT]);
    assert!(judged.verdict.mutation.is_empty());
    // Under whatever field manager.
    let diff = By { user: "alice", manager: "kustomize-controller", dry_run: false };
    let judged = unlevel().update(diff, &held(own()), &declaring(held(own())));
    assert_eq!(warnings(&judged), [LEFT]);
    assert!(judged.verdict.mutation.is_empty());
    // Neither does the companion's.
    assert_silent(&unlevel().update(COMPANION, &held(own()), &declaring(held(own()))));
}

#[rstest]
#[case::update(json!([{"manager": "kustomize-controller", "operation": "Update", "fieldsV1": {"f:spec": {"f:suspend": {}}}}]))]
#[case::another(json!([{"manager": "helm-controller", "operation": "Apply", "fieldsV1": {"f:spec": {"f:suspend": {}}}}]))]
#[case::other_field(json!([{"manager": "kustomize-controller", "operation": "Apply", "fieldsV1": {"f:spec": {"f:path": {}}}}]))]
#[case::elsewhere(json!([{"manager": "kustomize-controller", "operation": "Apply", "fieldsV1": {"f:status": {"f:suspend": {}}}}]))]
#[case::deeper(json!([{"manager": "kustomize-controller", "operation": "Apply", "fieldsV1": {"f:spec": {"f:x": {"f:suspend": {}}}}}]))]
#[case::garbage(json!("garbage"))]
#[case::odd(json!([{"manager": "kustomize-controller", "operation": "Apply", "fieldsV1": 3}]))]
#[case::empty(json!([{}]))]
#[case::null(json!(null))]
fn what_is_no_declaration_ends_nothing(#[case] managed: Value) {
    let mut new = held(own());
    new["metadata"]["managedFields"] = managed;
    let judged = unlevel().update(FLUX, &held(own()), &new);
    assert_silent(&judged);
    let mut lost = suspended(own());
    lost["metadata"]["managedFields"] = new["metadata"]["managedFields"].clone();
    let judged = unlevel().update(FLUX, &held(own()), &lost);
    assert_eq!(annotation(&stored(&judged, &lost), HELD), Some(old_mark().as_str()));
}

#[test]
fn a_switch_that_is_declared_off_is_no_end() {
    // Git says false: kustomize-controller owns the field, and each dry-run is a hold again.
    let new = declaring(with(own(), &[("/spec/suspend", json!(false))]));
    let judged = unlevel().update(FLUX, &declaring(held(own())), &new);
    assert_eq!(stored(&judged, &new), declaring(held(own())));
}

#[rstest]
#[case(sample::artifact_generator("n", "x"), "source.extensions.fluxcd.io/reconcile", "Disabled")]
#[case(sample::resource_set("n", "x"), "fluxcd.controlplane.io/reconcile", "disabled")]
fn switches_that_are_annotations_are_declared_too(#[case] object: Value, #[case] key: &str, #[case] value: &str) {
    let on = annotated(annotated(object, key, Some(value)), HELD, Some(&old_mark()));
    let mut owned = serde_json::Map::new();
    owned.insert(format!("f:{key}"), json!({}));
    let managed = |fields: Value| json!([{"manager": "kustomize-controller", "operation": "Apply", "fieldsV1": {"f:metadata": {"f:annotations": fields}}}]);
    let declared = with(on.clone(), &[("/metadata/managedFields", managed(Value::Object(owned)))]);
    let judged = level().update(FLUX, &on, &declared);
    let then = stored(&judged, &declared);
    assert_eq!((annotation(&then, HELD), annotation(&then, key)), (None, Some(value)));
    let other = with(on.clone(), &[("/metadata/managedFields", managed(json!({"f:other": {}})))]);
    assert_silent(&level().update(FLUX, &on, &other));
}

#[test]
fn an_object_that_is_not_suspended_carries_no_mark() {
    let marked = annotated(own(), HELD, Some(&forged()));
    for by in [FLUX, PERSON, COMPANION] {
        let judged = level().update(by, &own(), &marked);
        assert_eq!(stored(&judged, &marked), own());
        assert_eq!(warnings(&judged), [STRIPPED]);
        // One that is there already goes silently, and is not carried into a suspension.
        let judged = level().update(by, &marked, &marked);
        assert_eq!(stored(&judged, &marked), own());
        assert_eq!(warnings(&judged), [] as [&str; 0]);
        let judged = level().update(by, &marked, &suspended(marked.clone()));
        assert_eq!(stored(&judged, &suspended(marked.clone())), suspended(own()), "{by:?}");
        assert_eq!(warnings(&judged), [STRIPPED]);
    }
}

#[test]
fn a_copy_from_a_backup_is_without_effect() {
    for by in [FLUX, PERSON] {
        let judged = level().create(by, &held(own()));
        assert_eq!(stored(&judged, &held(own())), suspended(own()));
        assert_eq!(warnings(&judged), [STRIPPED]);
        let judged = level().create(by, &annotated(own(), HELD, Some(&old_mark())));
        assert_eq!(stored(&judged, &own()), own());
        assert_eq!(warnings(&judged), [STRIPPED]);
    }
}

#[test]
fn a_mark_goes_with_the_switch() {
    // An applier's, with everything settled and reached; and a person's.
    for by in [FLUX, PERSON, COMPANION] {
        for new in [own(), annotated(own(), HELD, Some(&old_mark()))] {
            let judged = level().update(by, &held(own()), &new);
            assert_eq!(stored(&judged, &new), own(), "{by:?}");
            assert_eq!(judged.verdict.warnings, [] as [&str; 0]);
            assert_eq!(judged.leases, [] as [&str; 0]);
        }
    }
}

#[test]
fn a_persons_refused_resume_changes_no_mark() {
    let judged = unlevel().update(PERSON, &held(own()), &own());
    assert!(refusal(&judged).starts_with("premature unsuspend: "));
    assert!(judged.verdict.mutation.is_empty());
}
