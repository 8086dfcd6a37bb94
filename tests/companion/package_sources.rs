//! The contract of cozystack's operator, kept on the PackageSource of a generator. Numbers as in `recovery`.

use crate::recovery::stalled;
use crate::server::Server;
use crate::{Companion, at, pass, settle};
use rstest::rstest;
use serde_json::{Value, json};
use sluicegate::control::Settings;
use sluicegate_core::object::{Kind, Reference};
use sluicegate_core::recovery::{PackageSources, Signal};
use sluicegate_core::testing::{sample, set, with};

fn cozy(generator: Value, managed: Option<&str>) -> Server {
    let mut source = sample::package_source("g");
    if let Some(manager) = managed {
        let entry = json!({"manager": manager, "operation": "Update", "subresource": "status"});
        set(&mut source, "/metadata/managedFields", json!([entry]));
    }
    let label = [("/metadata/labels/cozystack.io~1packagesource", json!("g"))];
    Server::with([sample::git_repository("cozy-system", "repo"), with(generator, &label), source])
}

fn told(server: &Server) -> (String, String) {
    let json = server.get(&Reference::new(Kind::PackageSource, "", "g"));
    let ready = json["status"]["conditions"][0].clone();
    (ready["status"].as_str().unwrap().to_owned(), ready["reason"].as_str().unwrap().to_owned())
}

/// 35 to 37 and 39: what the PackageSource of a generator says while it is recovered.
#[tokio::test(start_paused = true)]
async fn b35_b37_b39_a_package_source_is_told() {
    let server = cozy(stalled("cozy-system", "g"), None);
    let settings =
        Settings { package_sources: PackageSources::Status, signal: Signal::ReadyCondition, ..Settings::default() };
    let companion = Companion::start(&server, settings).await;
    pass(20).await;
    assert_eq!(told(&server), ("Unknown".to_owned(), "Progressing".to_owned()));
    pass(60).await;
    assert_eq!(told(&server), ("Unknown".to_owned(), "AwaitingSourceWatcherRecovery".to_owned()));
    pass(900).await;
    assert_eq!(told(&server), ("False".to_owned(), "SourceWatcherStalled".to_owned()));
    let own = Reference::new(Kind::ArtifactGenerator, "cozy-system", "g");
    server.change(
        &own,
        &[("/status/conditions/Ready/status", json!("True")), ("/status/conditions/Ready/reason", json!("Succeeded"))],
    );
    settle().await;
    assert_eq!(told(&server), ("True".to_owned(), "Succeeded".to_owned()));
    server.is_fine();
    companion.kill().await;
}

/// 31.
#[tokio::test(start_paused = true)]
async fn b31_a_package_source_that_is_being_deleted_is_left_alone() {
    let server = cozy(
        with(
            stalled("cozy-system", "g"),
            &[("/status/conditions/Stalled", json!({"type": "Stalled", "status": "True"}))],
        ),
        None,
    );
    let source = Reference::new(Kind::PackageSource, "", "g");
    server.change(&source, &[("/metadata/deletionTimestamp", json!(at(0)))]);
    let companion =
        Companion::start(&server, Settings { package_sources: PackageSources::Status, ..Settings::default() }).await;
    pass(600).await;
    assert_eq!(server.writes(), [""; 0]);
    companion.kill().await;
}

#[rstest]
#[case::by_default(PackageSources::Observe, None)]
#[case::off(PackageSources::Off, None)]
#[case::where_the_operator_writes(PackageSources::Status, Some("cozystack-operator"))]
#[tokio::test(start_paused = true)]
async fn a_package_source_is_not_written(#[case] package_sources: PackageSources, #[case] manager: Option<&str>) {
    let server = cozy(stalled("cozy-system", "g"), manager);
    let companion = Companion::start(&server, Settings { package_sources, ..Settings::default() }).await;
    pass(1_000).await;
    assert!(!server.writes().iter().any(|write| write.starts_with("report")), "{:?}", server.writes());
    let owner = server.events().contains(&"RecoveryGaveUp PackageSource/g".to_owned());
    assert_eq!(owner, package_sources != PackageSources::Off, "{:?}", server.events());
    companion.kill().await;
}
