//! Dry-runs leave nothing behind; what is being deleted, finalizers and status are never in the way.

use anyhow::Result;
use serde_json::{Value, json};
use sluicegate_e2e::answer::Answer;
use sluicegate_e2e::cluster::{Cluster, text};
use sluicegate_e2e::companion::{Companion, mark};
use sluicegate_e2e::gate::{Gate, Setting};
use sluicegate_e2e::kind::{self, EVENT, NAMESPACE};
use sluicegate_e2e::manifest::{self, Manifest};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_09_dry_runs_leave_nothing_behind() -> Result<()> {
    let cluster = Cluster::start("scenario_09_dry_runs").await?;
    let _companion = Companion::start(&cluster).await?;
    let gate = Gate::open(&cluster, Setting::default()).await?;
    let (person, applier) = (cluster.person(), cluster.actor("kustomize-controller"));
    let (a, b) = (kind::kustomization("apps", "a"), kind::kustomization("apps", "b"));
    let plain = |name: &str| manifest::kustomization("apps", name, "repo");
    person.apply(&plain("a").depends_on(&["b"])).await?.admitted()?;
    applier.apply(&plain("b").suspended()).await?.admitted()?;
    let before = [cluster.stored(&a).await?, cluster.stored(&b).await?];
    let asked = gate.evaluations().await?;

    // Refused, to a person.
    let text = person.dry_run().apply(&plain("b").depends_on(&["a"])).await?.refused()?;
    assert!(text.starts_with("dependency cycle: Kustomization/apps/b needs itself\n"), "{text}");
    // Held, for an applier: the answer shows what would be stored.
    let answer = applier.dry_run().apply(&plain("b")).await?;
    assert_eq!(answer.warnings, ["held: GitRepository/apps/repo: does not exist"]);
    let would = answer.admitted()?;
    assert!(mark(&would).is_some() && would.pointer("/spec/suspend") == Some(&json!(true)), "{would}");
    // Admitted, with a warning.
    let answer = person.dry_run().apply(&plain("a").depends_on(&["b", "nobody"])).await?;
    assert_eq!(
        answer.warnings,
        ["Kustomization/apps/a names Kustomization/apps/nobody in spec.dependsOn[1], which does not exist"]
    );
    answer.admitted()?;

    assert_eq!(gate.evaluations().await?, asked + 3.0);
    assert_eq!([cluster.stored(&a).await?, cluster.stored(&b).await?], before);
    assert_eq!(cluster.admin().list_all(EVENT).await?, Vec::<Value>::new());
    // The gate has read, and has asked nothing else of anybody.
    let calls = gate.count("sluicegate_host_host_calls_total", "").await?;
    assert_eq!(gate.count("sluicegate_host_host_calls_total", "kubernetes/get_resource").await?, calls);
    Ok(())
}

/// An answer of the API server when the gate is asked and is not there.
fn asked(answer: &Answer) -> bool {
    answer.code == 500 && answer.message().contains("failed calling webhook")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_09_deletions_finalizers_and_status_do_not_even_ask_the_gate() -> Result<()> {
    let cluster = Cluster::start("scenario_09_not_asked").await?;
    let gate = Gate::open(&cluster, Setting::default()).await?;
    let person = cluster.person();
    let (a, b) = (kind::kustomization("apps", "a"), kind::kustomization("apps", "b"));
    let finalizer = json!(["finalizers.fluxcd.io"]);
    for name in ["a", "b"] {
        let manifest = manifest::kustomization("apps", name, "repo");
        person.apply(&manifest.with("/metadata/finalizers", finalizer.clone())).await?.admitted()?;
    }
    // With the gate gone and `Fail`, whatever asks it fails.
    drop(gate);
    let need = json!({"spec": {"dependsOn": [{"name": "b"}]}});
    assert!(asked(&person.patch(&a, need.clone()).await?), "a new need did not ask the gate");
    assert!(asked(&person.annotate(&a, "team", Some("x")).await?), "an annotation did not ask the gate");
    assert!(asked(&person.create(&manifest::kustomization("apps", "c", "repo")).await?), "a creation did not ask");

    let status = json!({"observedGeneration": 1, "conditions": [], "lastAppliedRevision": "main@sha1:aaaa"});
    person.status(&a, status).await?.admitted()?;
    person
        .patch(&a, json!({"metadata": {"finalizers": ["finalizers.fluxcd.io", "example.com/x"]}}))
        .await?
        .admitted()?;
    person.patch(&a, json!({})).await?.admitted()?;
    person.delete(&a).await?.admitted()?;
    let leaving = cluster.stored(&a).await?;
    assert_ne!(text(&leaving, "/metadata/deletionTimestamp"), "", "{leaving}");
    person.patch(&a, need).await?.admitted()?;
    person.patch(&a, json!({"metadata": {"finalizers": null}})).await?.admitted()?;
    assert_eq!(cluster.admin().get(&a).await?, None);

    // `--cascade=orphan` sets a finalizer of its own.
    let said =
        person.kubectl(&["delete", "kustomization", "b", "-n", "apps", "--cascade=orphan", "--wait=false"]).await?;
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    person.patch(&b, json!({"metadata": {"finalizers": null}})).await?.admitted()?;
    assert_eq!(cluster.admin().get(&b).await?, None);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_09_a_namespace_that_is_being_deleted_empties() -> Result<()> {
    let cluster = Cluster::start("scenario_09_namespace").await?;
    let gate = Gate::open(&cluster, Setting::default()).await?;
    let doomed = NAMESPACE.at("", "doomed");
    cluster.admin().apply(&Manifest::new(&doomed)).await?.admitted()?;
    let object = kind::kustomization("doomed", "a");
    // A loop that was there before: suspended, and its other half does not exist any more.
    let manifest = manifest::kustomization("doomed", "a", "repo").depends_on(&["b"]).suspended();
    let manifest = manifest.with("/metadata/finalizers", json!(["finalizers.fluxcd.io"]));
    cluster.person().apply(&manifest).await?.admitted()?;
    let before = gate.evaluations().await?;

    // There is no namespace controller here: the test does its work.
    cluster.admin().delete(&doomed).await?.admitted()?;
    cluster.until(&doomed, "it is terminating", |namespace| text(namespace, "/status/phase") == "Terminating").await?;
    cluster.admin().delete(&object).await?.admitted()?;
    // As kustomize-controller does with a suspended object: it resumes nothing, and lets go.
    let controller = cluster.actor("kustomize-controller");
    controller.patch(&object, json!({"metadata": {"finalizers": null}})).await?.admitted()?;
    assert_eq!(cluster.admin().get(&object).await?, None);
    assert_eq!(gate.evaluations().await?, before, "the gate was asked");
    Ok(())
}
