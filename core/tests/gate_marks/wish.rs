//! `sluicegate.dev/resume: when-settled` and `sluicegate.dev/release: never`.

use super::*;

const MADE: &str = "Kustomization/n/x will be resumed once all that it needs is settled";

#[test]
fn a_person_who_suspends_may_ask_for_a_mark() {
    let new = when_settled(suspended(own()));
    let marked = annotated(suspended(own()), HELD, Some(&mark(PERSON.user, PERSON.manager, AT, "premature")));
    for role in [Role::Both, Role::Hold] {
        let mut world = unlevel();
        world.settings.role = role;
        for judged in [world.update(PERSON, &own(), &new), world.create(PERSON, &new)] {
            assert_eq!(stored(&judged, &new), marked);
            assert_eq!(warnings(&judged), [MADE]);
            assert_eq!(judged.leases.len(), 1);
        }
        // Whatever mark it brings along.
        let copied = annotated(new.clone(), HELD, Some(&forged()));
        assert_eq!(stored(&world.update(PERSON, &own(), &copied), &copied), marked);
        // The annotation may have been there before.
        assert_eq!(stored(&world.update(PERSON, &when_settled(own()), &new), &new), marked);
    }
}

#[test]
fn a_person_who_asks_for_a_mark_is_told_that_no_companion_is_alive() {
    let mut world = level();
    world.lease = None;
    let new = when_settled(suspended(own()));
    let judged = world.update(PERSON, &own(), &new);
    assert!(annotation(&stored(&judged, &new), HELD).is_some());
    assert_eq!(warnings(&judged), [MADE, "no companion is alive to resume Kustomization/n/x"]);
    assert_eq!(judged.verdict.refusal, None);
}

#[test]
fn the_wish_does_nothing_otherwise() {
    let world = level();
    let wish = |object| when_settled(suspended(object));
    // Of an applier it would contradict git.
    assert_silent(&world.update(FLUX, &own(), &wish(own())));
    assert_silent(&world.create(FLUX, &wish(own())));
    // Suspended already.
    assert_silent(&world.update(PERSON, &suspended(own()), &wish(own())));
    // Not suspended.
    assert_silent(&world.update(PERSON, &own(), &when_settled(own())));
    // Another word.
    let other = annotated(suspended(own()), RESUME, Some("When-Settled"));
    assert_silent(&world.update(PERSON, &own(), &other));
    // Held already: it stays held by who held it.
    let judged = world.update(PERSON, &held(own()), &when_settled(held(own())));
    assert_eq!(warnings(&judged), [LEFT]);
    assert!(judged.verdict.mutation.is_empty());
    // In the background audit.
    assert_silent(&world.create(AUDIT, &wish(own())));
    // Where marks are not made.
    let mut world = level();
    world.settings.role = Role::Refuse;
    let judged = world.update(PERSON, &own(), &wish(own()));
    assert_silent(&judged);
    assert_eq!(judged.leases, [] as [&str; 0]);
}

#[test]
fn a_refused_request_makes_no_mark() {
    let new = when_settled(suspended(depending(own(), &["x"])));
    let judged = level().update(PERSON, &own(), &new);
    assert!(refusal(&judged).starts_with("self-dependency"));
    assert!(judged.verdict.mutation.is_empty());
    assert_eq!(judged.leases, [] as [&str; 0]);
}

// Vetoed.

fn never(object: Value) -> Value {
    annotated(object, RELEASE, Some("never"))
}

#[test]
fn what_is_not_to_be_released_is_held_however_settled_companion_or_not() {
    for role in [Role::Both, Role::Hold] {
        let mut world = level();
        world.settings.role = role;
        world.lease = None;
        let fresh = mark(FLUX.user, FLUX.manager, AT, "premature");
        // The old object's annotation counts: the request cannot take it off.
        for new in [never(own()), own()] {
            let judged = world.update(FLUX, &never(suspended(own())), &new);
            assert_eq!(stored(&judged, &new), annotated(suspended(new.clone()), HELD, Some(&fresh)));
            assert_eq!(warnings(&judged), ["held: sluicegate.dev/release says never"]);
            assert_eq!((judged.reads.len(), judged.leases.len()), (0, 0));
        }
        // A mark that is there is kept.
        let judged = world.update(FLUX, &never(held(own())), &never(own()));
        assert_eq!(stored(&judged, &never(own())), never(held(own())));
    }
}

#[test]
fn the_veto_counts_where_it_was_and_says_never() {
    assert_silent(&level().update(FLUX, &suspended(own()), &never(own())));
    for other in ["Never", "always", ""] {
        let old = annotated(suspended(own()), RELEASE, Some(other));
        assert_silent(&level().update(FLUX, &old, &annotated(own(), RELEASE, Some(other))));
    }
}

#[test]
fn the_companion_is_refused_and_a_person_is_not() {
    for role in [Role::Both, Role::Hold, Role::Refuse] {
        let mut world = level();
        world.settings.role = role;
        let judged = world.update(COMPANION, &never(held(own())), &never(own()));
        assert_eq!(
            refusal(&judged),
            "Kustomization/n/x is not to be resumed: the annotation sluicegate.dev/release says never"
        );
        assert!(judged.verdict.mutation.is_empty());
        assert_eq!(world.update(PERSON, &never(suspended(own())), &never(own())).verdict.refusal, None);
    }
}
