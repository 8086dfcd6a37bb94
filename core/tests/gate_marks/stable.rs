//! A mark does not change.

use super::*;

/// As cluster.md saw it: the same apply, over and over.
#[rstest]
#[case::line_removed(own())]
#[case::says_false(declaring(with(own(), &[("/spec/suspend", json!(false))])))]
#[case::says_null(with(own(), &[("/spec/suspend", json!(null))]))]
fn case_107_repeating_the_same_apply_converges(#[case] from_git: Value, #[values(FLUX, HELM)] second: By) {
    let mut world = unlevel();
    let first = stored(&world.update(FLUX, &suspended(own()), &from_git), &from_git);
    assert!(is_suspended(&first));
    assert_eq!(annotation(&first, HELD), Some(mark(FLUX.user, FLUX.manager, AT, "premature").as_str()));
    let mut live = first.clone();
    for round in 1..5 {
        world.time = Some(now() + Duration::minutes(round));
        // The cause may change, and the asker: the mark does not.
        let by = if round % 2 == 0 { FLUX } else { second };
        for dry_run in [true, false] {
            let judged = world.update(By { dry_run, ..by }, &live, &from_git);
            let then = stored(&judged, &from_git);
            assert_eq!(then.to_string(), first.to_string(), "round {round}");
            if !dry_run {
                live = then;
            }
        }
        // A switch that nobody owns stays on the live object, and is read as true to true.
        if from_git.pointer("/metadata/managedFields").is_none() {
            let judged = world.update(by, &live, &live);
            assert_eq!(stored(&judged, &live).to_string(), first.to_string());
        }
    }
}

#[test]
fn the_cause_of_a_mark_is_kept_too() {
    let object = resume::owned(own(), sluicegate_core::object::Kind::Kustomization, "n", "root");
    let repo = resume::owned(git(), sluicegate_core::object::Kind::Kustomization, "n", "root");
    let old = mark(FLUX.user, FLUX.manager, "2026-11-30T11:00:00Z", "premature");
    let before = annotated(suspended(object.clone()), HELD, Some(&old));
    let judged = World::with([repo]).update(FLUX, &before, &object);
    assert_eq!(annotation(&stored(&judged, &object), HELD), Some(old.as_str()));
    assert_eq!(warnings(&judged), ["held: GitRepository/n/repo may not have been applied yet"]);
}

#[test]
fn a_forged_change_during_a_hold_is_undone() {
    let new = annotated(own(), HELD, Some(&forged()));
    let judged = unlevel().update(FLUX, &held(own()), &new);
    assert_eq!(stored(&judged, &new), held(own()));
    let judged = unlevel().update(FLUX, &suspended(own()), &new);
    let fresh = mark(FLUX.user, FLUX.manager, AT, "premature");
    assert_eq!(annotation(&stored(&judged, &new), HELD), Some(fresh.as_str()));
}

#[test]
fn after_the_release_the_same_apply_is_an_ordinary_one() {
    // Whether git leaves the line out or says false; whether the source moves on meanwhile.
    for world in [level(), unlevel()] {
        for from_git in [own(), with(own(), &[("/spec/suspend", json!(false))])] {
            let judged = world.update(FLUX, &own(), &from_git);
            assert_silent(&judged);
            assert_eq!(judged.reads, [] as [&str; 0]);
        }
    }
}

#[test]
fn a_suspension_by_hand_that_an_apply_reverts_is_held_like_any_other() {
    // A person suspends with kubectl; kustomize-controller takes the field over and drops it.
    let judged = unlevel().update(FLUX, &declaring(suspended(own())), &own());
    assert!(is_suspended(&stored(&judged, &own())));
}
