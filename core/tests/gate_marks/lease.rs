//! A hold needs a living companion.

use super::*;

fn lease(renewed: Duration, lasts: i64) -> Value {
    let renewed = (now() + renewed).format("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
    json!({"spec": {"renewTime": renewed, "leaseDurationSeconds": lasts, "holderIdentity": "a"}})
}

const HOLD: &str = "held: GitRepository/n/repo: generation 3 not yet observed (2)";
const EARLY: &str =
    "premature unsuspend: Kustomization/n/x waits for GitRepository/n/repo: generation 3 not yet observed (2)";
const STALE: &str = "Kustomization/n/x is not held: the companion's Lease has run out";
const ABSENT: &str = "Kustomization/n/x is not held: there is no companion, or it has no Lease yet";
const NONE: &str = "Kustomization/n/x is not held: the companion's Lease cannot be read";

#[rstest]
#[case::current(Some(lease(Duration::zero(), 15)), None, &[HOLD])]
#[case::within_the_grace(Some(lease(Duration::seconds(-44), 15)), None, &[HOLD])]
#[case::at_its_end(Some(lease(Duration::seconds(-45), 15)), None, &[EARLY, STALE])]
#[case::long_gone(Some(lease(Duration::days(-1), 15)), None, &[EARLY, STALE])]
#[case::of_the_future(Some(lease(Duration::days(1), 15)), None, &[HOLD])]
#[case::absent(None, None, &[EARLY, ABSENT])]
#[case::never_renewed(Some(json!({"spec": {"leaseDurationSeconds": 15}})), None, &[EARLY, NONE])]
#[case::without_duration(Some(json!({"spec": {"renewTime": "2999-01-01T00:00:00Z"}})), None, &[EARLY, NONE])]
#[case::wrong_type(Some(json!({"spec": {"renewTime": 3, "leaseDurationSeconds": 15}})), None, &[EARLY, NONE])]
#[case::forbidden(None, Some(Fetched::Forbidden), &[EARLY, NONE])]
#[case::failed(None, Some(Fetched::Failed("boom".into())), &[EARLY, NONE])]
#[case::too_late(None, Some(Fetched::OutOfTime), &[EARLY, NONE])]
#[case::garbage(None, Some(Fetched::Found(b"<html>".to_vec())), &[EARLY, NONE])]
fn a_hold_needs_a_living_companion(
    #[case] lease: Option<Value>,
    #[case] fails: Option<Fetched>,
    #[case] said: &[&str],
    #[values(Role::Both, Role::Hold)] role: Role,
) {
    let mut world = unlevel();
    (world.lease, world.lease_fails, world.settings.role) = (lease, fails, role);
    let judged = world.update(FLUX, &suspended(own()), &own());
    assert_eq!(
        warnings(&judged),
        said.iter().map(|text| text.chars().take(119).collect::<String>()).collect::<Vec<_>>()
    );
    let alive = said == [HOLD];
    assert_eq!(is_suspended(&stored(&judged, &own())), alive);
    assert_eq!(judged.leases, ["sluicegate-system/sluicegate"]);
    // The mark goes with the switch.
    let judged = world.update(FLUX, &held(own()), &annotated(own(), HELD, Some(&old_mark())));
    let then = stored(&judged, &annotated(own(), HELD, Some(&old_mark())));
    assert_eq!(then, if alive { held(own()) } else { own() });
    // By setting it is refused, but not by the instance that holds.
    world.settings.unheld = Severity::Refuse;
    let judged = world.update(FLUX, &suspended(own()), &own());
    assert_eq!(judged.verdict.refusal.is_some(), !alive && role == Role::Both);
    if let Some(text) = &judged.verdict.refusal {
        assert!(text.starts_with(EARLY), "{text}");
        assert!(judged.verdict.mutation.is_empty());
    }
}

#[test]
fn the_lease_is_read_only_when_a_hold_is_due() {
    let world = level();
    for judged in [
        world.update(FLUX, &suspended(own()), &own()),
        world.update(FLUX, &held(own()), &held(own())),
        world.update(FLUX, &held(own()), &suspended(own())),
        world.update(FLUX, &own(), &suspended(own())),
        world.update(PERSON, &suspended(own()), &own()),
        world.create(FLUX, &held(own())),
        unlevel().update(PERSON, &suspended(own()), &own()),
        unlevel().update(COMPANION, &suspended(own()), &own()),
    ] {
        assert_eq!(judged.leases, [] as [&str; 0]);
    }
}

#[rstest]
#[case(None, "sluicegate-system/sluicegate")]
#[case(Some("a"), "sluicegate-system/sluicegate-a")]
#[case(Some(""), "sluicegate-system/sluicegate")]
fn each_shard_has_its_own_lease(#[case] shard: Option<&str>, #[case] name: &str) {
    let shard = |object: Value| shard.map_or(object.clone(), |key| labelled(object, "sharding.fluxcd.io/key", key));
    let world = unlevel();
    let judged = world.update(FLUX, &shard(suspended(own())), &shard(own()));
    assert_eq!(judged.leases, [name]);
    let wish = shard(when_settled(suspended(own())));
    assert_eq!(world.update(PERSON, &shard(own()), &wish).leases, [name]);
}

#[test]
fn the_lease_is_the_one_of_the_settings() {
    let mut world = unlevel();
    world.settings.companion_lease = ("elsewhere".into(), "other".into());
    assert_eq!(world.update(FLUX, &suspended(own()), &own()).leases, ["elsewhere/other"]);
}

#[test]
fn a_refusal_beats_a_hold() {
    let mut world = unlevel();
    put(&mut world, depending(sample::kustomization("n", "a"), &["x"]));
    let new = depending(own(), &["a"]);
    let judged = world.update(FLUX, &suspended(own()), &new);
    assert!(refusal(&judged).starts_with("dependency cycle: "));
    assert!(judged.verdict.mutation.is_empty());
    assert_eq!(judged.verdict.warnings, [] as [&str; 0]);
    assert_eq!(judged.leases, [] as [&str; 0], "no hold is due");
    // And a wish, and what would be done to a mark.
    let wish = when_settled(suspended(new.clone()));
    let judged = world.update(PERSON, &own(), &wish);
    assert!(refusal(&judged).starts_with("dependency cycle: "));
    assert_eq!((judged.verdict.warnings.len(), judged.leases.len()), (0, 0), "{:?}", judged.verdict.warnings);
    let judged = world.update(PERSON, &suspended(own()), &annotated(new, HELD, Some(&forged())));
    assert!(refusal(&judged).starts_with("dependency cycle: "));
    assert_eq!(judged.verdict.warnings, [] as [&str; 0]);
}
