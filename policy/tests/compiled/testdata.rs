//! The requests, settings and recorded sessions of `testdata/`, which `kwctl run` takes as they are.

use crate::harness::{Answer, Gate};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate_host::{MemoryCluster, NoCluster, Recorder, Session};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

fn file(path: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "testdata", path].iter().collect()
}

fn text(path: &str) -> String {
    fs::read_to_string(file(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn request(name: &str) -> Value {
    serde_json::from_str::<Value>(&text(&format!("requests/{name}.json"))).unwrap()["request"].take()
}

fn gate(settings: &str) -> Gate {
    Gate::over([]).with(yaml_serde::from_str(&text(&format!("settings/{settings}.yaml"))).unwrap())
}

/// The answer to a request out of a session, all of which must be used up.
fn replay(name: &str, session: &str, settings: &str) -> Answer {
    let session = Arc::new(Session::from_text(&text(&format!("sessions/{session}.yaml"))).unwrap());
    let answer = gate(settings).judge_reading(&request(name), session.clone());
    assert_eq!(session.leftovers(), [], "exchanges that nobody asked for");
    answer
}

const EARLY: &str = "premature unsuspend: HelmRelease/sylva-system/sylva-units waits for \
                     GitRepository/sylva-system/sylva-core: generation 2 not yet observed (1)";

#[rstest]
#[case::cycle(
    "cycle",
    "cycle",
    "before",
    "default",
    "refused: dependency cycle: Kustomization/sylva-system/cluster needs itself"
)]
#[case::cycle_observed(
    "cycle",
    "cycle-observed",
    "before",
    "observe",
    "admitted: would be refused: dependency cycle: Kustomization/sylva-system/cluster needs itself"
)]
#[case::label("label", "label", "before", "default", "admitted")]
#[case::resume("resume", "resume", "upgrading", "default", &format!("refused: {EARLY}"))]
#[case::resume_by_an_applier(
    "resume-applier-dry-run",
    "resume-applier-dry-run",
    "upgrading",
    "default",
    "admitted: held: GitRepository/sylva-system/sylva-core may not have been applied yet"
)]
#[case::resume_once_settled("resume", "resume-settled", "settled", "default", "admitted")]
#[case::wrong_kind_refused(
    "wrong-kind",
    "wrong-kind-refused",
    "before",
    "refuse-dependencies",
    "refused: no Kustomization of the name that Kustomization/sylva-system/monitoring gives in spec.dependsOn[0]; \
     there is HelmRelease/sylva-system/rook-ceph, which spec.dependsOn[0] cannot name"
)]
fn a_recorded_session_gives_the_verdict(
    #[case] name: &str,
    #[case] session: &str,
    #[case] cluster: &str,
    #[case] settings: &str,
    #[case] said: &str,
) {
    let answer = replay(name, session, settings);
    assert_eq!(answer.said(), said);
    assert_eq!(answer.evaluation.response.patch.is_some(), said.starts_with("admitted: held: "));
    // The session is what the policy asks of that cluster today.
    let folder = MemoryCluster::from_folder(file(&format!("clusters/{cluster}"))).unwrap();
    let recorder = Recorder::new(folder);
    let live = gate(settings).judge_reading(&request(name), recorder.clone());
    assert_eq!((live.texts(), live.reads()), (answer.texts(), answer.reads()));
    assert_eq!(recorder.to_text().unwrap(), text(&format!("sessions/{session}.yaml")), "record it again");
}

/// A session cannot be green for the wrong reason: with another one's answers the verdict is another.
#[test]
fn a_session_of_something_else_is_noticed() {
    let session = Session::from_text(&text("sessions/cycle.yaml")).unwrap();
    let answer = gate("default").judge_reading(&request("resume"), session);
    assert!(answer.texts().contains("Replay error: unexpected request"), "{}", answer.texts());
}

#[test]
fn every_settings_file_is_valid() {
    let mut names: Vec<String> = fs::read_dir(file("settings"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["default", "observe", "refuse-dependencies"]);
    for name in names {
        let verdict = gate(&name).host(NoCluster).validate_settings().unwrap();
        assert!(verdict.valid, "{name}: {:?}", verdict.message);
    }
}

/// The file with the defaults spells them all out.
#[test]
fn the_default_settings_are_the_defaults() {
    let settings = gate("default").settings;
    let questions: Value = yaml_serde::from_str(include_str!("../../questions-ui.yml")).unwrap();
    let questions = questions["questions"].as_array().unwrap();
    assert_eq!(questions.len(), settings.as_object().unwrap().len());
    for question in questions {
        let name = question["variable"].as_str().unwrap();
        assert_eq!(settings.get(name), Some(&question["default"]), "{name}");
    }
}

/// Every request can be judged, and none of them by accident: the background audit's aside, all have a user.
#[test]
fn every_request_is_one_of_a_user() {
    for entry in fs::read_dir(file("requests")).unwrap() {
        let path = entry.unwrap().path();
        let review: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(review["kind"], json!("AdmissionReview"), "{}", path.display());
        assert!(review["request"]["userInfo"]["username"].is_string(), "{}", path.display());
        let answer = Gate::over([]).judge(&review["request"]);
        assert!(!answer.texts().contains("is not judged"), "{}: {}", path.display(), answer.texts());
    }
}
