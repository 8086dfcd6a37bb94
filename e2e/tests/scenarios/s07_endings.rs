//! Every way a mark ends, and every way that it does not come to be.

use anyhow::Result;
use chrono::{TimeDelta, Utc};
use serde_json::{Value, json};
use sluicegate_e2e::cluster::Cluster;
use sluicegate_e2e::companion::{Companion, MARK, held, mark, renew};
use sluicegate_e2e::gate::{Gate, Setting};
use sluicegate_e2e::interferer::Interferer;
use sluicegate_e2e::kind::{self, Object};
use sluicegate_e2e::manifest;

use crate::child::Child;

fn suspended(object: &Value) -> bool {
    object.pointer("/spec/suspend") == Some(&json!(true))
}

/// A child that is held, as git resumed it over a source that is not settled.
async fn held_child(cluster: &Cluster) -> Result<Child<'_>> {
    let child = Child::new(cluster, kind::KUSTOMIZATION).await?;
    child.source_settled(false).await?;
    child.git_says(&child.manifest).await?;
    assert!(held(&child.stored().await?));
    Ok(child)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_07_git_declares_suspend_on_a_held_object() -> Result<()> {
    let cluster = Cluster::start("scenario_07_git_suspends").await?;
    let _companion = Companion::start(&cluster).await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let child = held_child(&cluster).await?;

    child.stage.applier.forget_warnings();
    child.git_says(&child.manifest.clone().suspended()).await?;
    let stored = child.stored().await?;
    assert!(suspended(&stored) && mark(&stored).is_none(), "{stored}");
    let warnings = child.stage.applier.warnings();
    let ended = "Kustomization/apps/child is no longer held: its applier now declares it suspended";
    assert!(warnings.iter().any(|warning| warning == ended), "{warnings:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_07_a_person_on_a_held_object() -> Result<()> {
    let cluster = Cluster::start("scenario_07_person").await?;
    let companion = Companion::start(&cluster).await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let child = held_child(&cluster).await?;
    let stored = child.stored().await?;

    // `flux suspend`: a warning, nothing else.
    let flux = cluster.person().managed_by("flux");
    let answer = flux.patch(&child.object, json!({"spec": {"suspend": true}})).await?;
    let next = "Kustomization/apps/child is held and will be resumed; to keep it suspended remove sluicegate.dev/held";
    assert_eq!(answer.warnings, [next]);
    let after = answer.admitted()?;
    assert_eq!((mark(&after), suspended(&after)), (mark(&stored), true));

    // A mark that is changed is restored.
    let answer = flux.annotate(&child.object, MARK, Some("mine")).await?;
    assert_eq!(
        answer.warnings.first().map(String::as_str),
        Some("the mark sluicegate.dev/held on Kustomization/apps/child was restored: only the gate changes marks")
    );
    assert_eq!(mark(&answer.admitted()?), mark(&stored));

    // `release: never`: not even the companion resumes it.
    flux.annotate(&child.object, "sluicegate.dev/release", Some("never")).await?.admitted()?;
    child.source_settled(true).await?;
    let refused = companion.judge(&child.object).await;
    assert!(refused.is_err_and(|error| error.to_string().contains("Vetoed")), "the companion must obey the veto");
    flux.annotate(&child.object, "sluicegate.dev/release", None).await?.admitted()?;

    // Taken off, the mark is gone, and the object stays suspended: git, which does not name the switch, has no say.
    let after = flux.annotate(&child.object, MARK, None).await?.admitted()?;
    assert!(suspended(&after) && mark(&after).is_none());
    child.stage.again(&cluster).await?;
    let after = child.stored().await?;
    assert!(suspended(&after) && mark(&after).is_none(), "{after}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_07_release_never_holds_what_is_settled() -> Result<()> {
    let cluster = Cluster::start("scenario_07_never").await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let child = Child::new(&cluster, kind::KUSTOMIZATION).await?;
    let never = child.manifest.clone().annotated("sluicegate.dev/release", "never");
    child.git_says(&never.clone().suspended()).await?;
    child.stage.applier.forget_warnings();
    // No companion lives, and all is settled: held all the same.
    child.git_says(&never).await?;
    assert!(held(&child.stored().await?));
    let warnings = child.stage.applier.warnings();
    assert!(warnings.iter().any(|warning| warning.contains("sluicegate.dev/release says never")), "{warnings:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_07_a_copy_brings_no_mark() -> Result<()> {
    let cluster = Cluster::start("scenario_07_copy").await?;
    let _companion = Companion::start(&cluster).await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let child = held_child(&cluster).await?;
    let stolen = mark(&child.stored().await?).unwrap_or_default().to_owned();

    let copy = manifest::kustomization("apps", "copy", "source").annotated(MARK, &stolen);
    for manifest in [copy.clone().suspended(), copy] {
        let answer = cluster.person().dry_run().create(&manifest).await?;
        let expected =
            "the mark sluicegate.dev/held on Kustomization/apps/copy was taken off: only the gate makes marks";
        assert!(answer.warnings.iter().any(|warning| warning == expected), "{:?}", answer.warnings);
        assert_eq!(mark(&answer.admitted()?), None);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_07_another_webhook_clears_suspend_after_ours() -> Result<()> {
    let cluster = Cluster::start("scenario_07_interferer").await?;
    let _companion = Companion::start(&cluster).await?;
    let child = Child::new(&cluster, kind::KUSTOMIZATION).await?;
    child.source_settled(false).await?;
    let _hold = Gate::open(&cluster, Setting::hold()).await?;
    let _refuse = Gate::open(&cluster, Setting::refuse()).await?;
    let _interferer = Interferer::start(&cluster).await?;

    child.stage.applier.forget_warnings();
    child.git_says(&child.manifest).await?;
    assert!(!suspended(&child.stored().await?), "the other webhook has the last word");
    // The validating half sees the final object, and says what has happened.
    let warnings = child.stage.applier.warnings();
    let said = "Kustomization/apps/child is not held: this policy only refuses";
    assert!(warnings.iter().any(|warning| warning == said), "{warnings:?}");
    // An object that is not suspended carries no mark: the next request takes it off.
    child.stage.again(&cluster).await?;
    let stored = child.stored().await?;
    assert!(!suspended(&stored) && mark(&stored).is_none(), "{stored}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_07_no_hold_without_a_living_companion() -> Result<()> {
    let cluster = Cluster::start("scenario_07_no_companion").await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let child = Child::new(&cluster, kind::KUSTOMIZATION).await?;
    child.source_settled(false).await?;
    let lease = kind::LEASE.at("sluicegate-system", "sluicegate");
    let companion = cluster.actor("sluicegate");

    let cases = ["there is no companion", "Lease has run out", "Lease cannot be read"];
    for (case, expected) in cases.iter().enumerate() {
        child.git_says(&child.manifest.clone().suspended()).await?;
        match case {
            0 => {}
            1 => renew(companion, Utc::now() - TimeDelta::minutes(5)).await?,
            _ => {
                renew(companion, Utc::now()).await?;
                forbid_leases(&cluster).await?;
            }
        }
        child.stage.applier.forget_warnings();
        child.git_says(&child.manifest).await?;
        let stored = child.stored().await?;
        assert!(!suspended(&stored) && mark(&stored).is_none(), "{expected}: {stored}");
        let warnings = child.stage.applier.warnings();
        assert!(
            warnings.iter().any(|warning| warning.contains("is not held") && warning.contains(expected)),
            "{expected}: {warnings:?}"
        );
    }
    cluster.stored(&lease).await?;
    Ok(())
}

/// Takes the right to read Leases from the policy's reader.
async fn forbid_leases(cluster: &Cluster) -> Result<()> {
    let role: Object = kind::CLUSTER_ROLE.at("", "sluicegate-policy");
    cluster
        .admin()
        .update(&role, |mut role| {
            if let Some(rules) = role.0.pointer_mut("/rules").and_then(Value::as_array_mut) {
                rules.retain(|rule| rule.pointer("/resources/0") != Some(&json!("leases")));
            }
            role
        })
        .await?
        .admitted()?;
    let reader = cluster.actor("policy-server");
    let lease = kind::LEASE.at("sluicegate-system", "sluicegate");
    sluicegate_e2e::wait::until("the reader may not read Leases", async || {
        let answer = reader.ask(http::Method::GET, &lease.path(), "application/json", None, "").await?;
        Ok(if answer.code == 403 { Ok(()) } else { Err(answer.code.to_string()) })
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_07_suspend_owned_by_flux_or_kubectl() -> Result<()> {
    let cluster = Cluster::start("scenario_07_owners").await?;
    let _companion = Companion::start(&cluster).await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let child = Child::new(&cluster, kind::KUSTOMIZATION).await?;
    child.git_says(&child.manifest).await?;
    assert!(!suspended(&child.stored().await?));
    child.source_settled(false).await?;

    // By `flux suspend`: git does not name the switch, and leaves it alone.
    let suspend = json!({"spec": {"suspend": true}});
    cluster.person().managed_by("flux").patch(&child.object, suspend.clone()).await?.admitted()?;
    child.stage.again(&cluster).await?;
    let stored = child.stored().await?;
    assert!(suspended(&stored) && mark(&stored).is_none(), "{stored}");
    child.source_settled(true).await?;
    let resume = json!({"spec": {"suspend": null}});
    cluster.person().managed_by("flux").patch(&child.object, resume).await?.admitted()?;
    child.source_settled(false).await?;

    // By kubectl: kustomize-controller takes the field over, and drops it: held.
    cluster.person().managed_by("kubectl-patch").patch(&child.object, suspend).await?.admitted()?;
    child.stage.again(&cluster).await?;
    assert!(held(&child.stored().await?), "{}", child.stored().await?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_07_a_ci_job_and_flux_diff() -> Result<()> {
    let cluster = Cluster::start("scenario_07_ci").await?;
    let _companion = Companion::start(&cluster).await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let child = Child::new(&cluster, kind::KUSTOMIZATION).await?;
    child.source_settled(false).await?;
    let before = child.stored().await?;

    let patch = r#"{"spec":{"suspend":false}}"#;
    let said = cluster
        .actor("ci")
        .kubectl(&["patch", "kustomization", "child", "-n", "apps", "--type=merge", "-p", patch])
        .await?;
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("premature unsuspend: Kustomization/apps/child waits for"), "{}", said.stderr);
    assert_eq!(child.stored().await?, before);

    // `flux diff` is a dry-run under kustomize-controller's field manager: it shows what git would do.
    let diff = cluster.person().managed_by("kustomize-controller").dry_run();
    let answer = diff.apply(&child.manifest).await?;
    assert!(answer.warnings.iter().any(|warning| warning.starts_with("held: ")), "{:?}", answer.warnings);
    assert!(held(&answer.admitted()?));
    assert_eq!(child.stored().await?, before);
    Ok(())
}
