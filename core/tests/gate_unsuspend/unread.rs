//! What cannot be judged.

use super::*;

#[derive(Clone, Copy, Debug)]
enum Ill {
    Forbidden,
    OutOfTime,
    OutOfBudget,
    Failed,
    WrongType,
    Garbage,
    OtherObject,
}

fn ill(ill: Ill) -> (World, &'static str) {
    let mut world = World::with([git()]);
    let repo = reference(&git());
    let mut fail = |fetched: Fetched| drop(world.failing.insert(repo.clone(), fetched));
    let said = match ill {
        Ill::Forbidden => {
            world.forbidden.insert(Kind::GitRepository);
            "the policy server may not get gitrepositories.source.toolkit.fluxcd.io"
        }
        Ill::OutOfTime => {
            fail(Fetched::OutOfTime);
            "the time for reading was over before GitRepository/n/repo"
        }
        Ill::OutOfBudget => {
            world.settings.max_reads = 0;
            "the budget of reads (maxReads) was spent before GitRepository/n/repo"
        }
        Ill::Failed => {
            fail(Fetched::Failed("connection\nrefused".into()));
            "GitRepository/n/repo could not be read: connection\\u{a}refused"
        }
        Ill::WrongType => {
            fail(Fetched::Found(
                br#"{"metadata":{"namespace":"n","name":"repo"},"status":{"artifact":"secret"}}"#.to_vec(),
            ));
            "GitRepository/n/repo cannot be read: field status.artifact is not an object"
        }
        Ill::Garbage => {
            fail(Fetched::Found(b"<html>".to_vec()));
            "GitRepository/n/repo cannot be read: it is not valid JSON"
        }
        Ill::OtherObject => {
            fail(Fetched::Found(sample::git_repository("n", "other").to_string().into_bytes()));
            "GitRepository/n/repo cannot be read: field metadata.name is not the name that was asked for"
        }
    };
    (world, said)
}

#[rstest]
#[case(Ill::Forbidden)]
#[case(Ill::OutOfTime)]
#[case(Ill::OutOfBudget)]
#[case(Ill::Failed)]
#[case(Ill::WrongType)]
#[case(Ill::Garbage)]
#[case(Ill::OtherObject)]
fn case_91_what_cannot_be_judged_is_refused_held_and_left_to_the_companion(#[case] what: Ill) {
    let (world, said) = ill(what);
    let object = kustomization("x", &[]);
    let person = resume(&world, PERSON, &object);
    let line = first_line(refusal(&person)).to_owned();
    assert_eq!(line, format!("unsuspend of Kustomization/n/x not judged: {said}"));
    let applier = resume(&world, FLUX, &object);
    assert_eq!(stored(&applier, &object), annotated(suspended(object.clone()), HELD, Some(&flux_mark("premature"))));
    assert!(applier.verdict.warnings[0].starts_with("held: not judged, "), "{:?}", applier.verdict.warnings);
    assert_silent(&resume(&world, COMPANION, &object));
}

#[test]
fn what_is_known_to_be_wrong_comes_before_what_could_not_be_read() {
    let mut world = World::with([unsettled(git())]);
    world.forbidden.insert(Kind::Kustomization);
    let object = kustomization("x", &["a"]);
    let text = refusal(&resume(&world, PERSON, &object)).to_owned();
    assert!(first_line(&text).starts_with("premature unsuspend: "), "{text}");
    assert!(refusal(&resume(&world, COMPANION, &object)).starts_with("premature unsuspend: "));
}

#[test]
fn the_budget_is_spent_on_the_way_and_never_overdrawn() {
    let chain: Vec<Value> =
        (0..50).map(|i| unsettled(kustomization(&format!("k{i:02}"), &[format!("k{:02}", i + 1).as_str()]))).collect();
    let mut world = World::with([git()].into_iter().chain(chain));
    world.settings.max_reads = 20;
    let judged = resume(&world, PERSON, &kustomization("x", &["k00"]));
    assert_eq!(judged.reads.len(), 20);
    let line = first_line(refusal(&judged)).to_owned();
    assert!(line.starts_with("premature unsuspend: "), "what was seen is known to be unsettled: {line}");
}

#[test]
fn a_chain_of_ten_thousand_ends() {
    let names: Vec<String> = (0..10_000).map(|i| format!("k{i}")).collect();
    let objects = names.windows(2).map(|pair| match pair {
        [a, b] => unsettled(kustomization(a, &[b.as_str()])),
        _ => unreachable!(),
    });
    let mut world = World::with(objects.chain([git()]));
    world.settings.max_reads = 20_000;
    let judged = resume(&world, PERSON, &kustomization("x", &["k0"]));
    assert!(first_line(refusal(&judged)).ends_with("waits for Kustomization/n/k9999: does not exist"));
    assert!(refusal(&judged).lines().count() < 50, "the way is cut");
    assert_eq!(judged.reads.len(), 10_001);
}

// Case 67.
#[test]
fn case_67_a_moment_of_unknown_is_refused_and_held() {
    let a = with(kustomization("a", &[]), &[("/status/conditions/Ready/status", "Unknown".into())]);
    let world = World::with([git(), a]);
    let object = kustomization("x", &["a"]);
    assert!(refusal(&resume(&world, PERSON, &object)).contains("waits for Kustomization/n/a: not ready yet"));
    assert!(is_suspended(&stored(&resume(&world, FLUX, &object), &object)));
}

// Roles of the refusal.

#[test]
fn a_person_is_judged_where_refusals_are_made() {
    let mut world = World::with([unsettled(git())]);
    world.settings.role = Role::Hold;
    let judged = resume(&world, PERSON, &kustomization("x", &[]));
    assert_silent(&judged);
    assert_eq!(judged.reads, [] as [&str; 0]);
    world.settings.role = Role::Refuse;
    assert!(resume(&world, PERSON, &kustomization("x", &[])).verdict.refusal.is_some());
}

#[test]
fn an_unjudged_source_blocks_nothing() {
    let object = with(kustomization("x", &[]), &[("/spec/sourceRef", json!({"kind": "Widget", "name": "w"}))]);
    assert_silent(&resume(&World::default(), PERSON, &object));
}

#[test]
fn a_reference_without_a_name_is_a_missing_one() {
    let object = with(kustomization("x", &[]), &[("/spec/dependsOn", json!([{}]))]);
    let judged = resume(&World::with([git()]), PERSON, &object);
    assert!(first_line(refusal(&judged)).ends_with("waits for Kustomization/n/: does not exist"));
    assert_eq!(judged.reads, ["GitRepository/n/repo"]);
}

#[test]
fn what_is_held_is_not_refused_by_other_settings() {
    let mut world = World::with([unsettled(git())]);
    (world.settings.dependencies, world.settings.unheld) = (Severity::Refuse, Severity::Refuse);
    let object = kustomization("x", &[]);
    assert!(is_suspended(&stored(&resume(&world, FLUX, &object), &object)), "a hold is due and a companion alive");
}
