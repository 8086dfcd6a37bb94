//! Marks that persons ask for, and those that they only pretend to have.

use anyhow::Result;
use serde_json::{Value, json};
use sluicegate_e2e::cluster::Cluster;
use sluicegate_e2e::companion::{Companion, MARK, held, mark};
use sluicegate_e2e::gate::{Gate, Setting};
use sluicegate_e2e::kind;
use sluicegate_e2e::manifest;

use crate::child::Child;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_07_a_person_suspends_until_settled() -> Result<()> {
    let cluster = Cluster::start("scenario_07_until_settled").await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let child = Child::new(&cluster, kind::KUSTOMIZATION).await?;
    child.git_says(&child.manifest).await?;
    child.source_settled(false).await?;
    let flux = cluster.person().managed_by("flux");
    let until_settled =
        json!({"metadata": {"annotations": {"sluicegate.dev/resume": "when-settled"}}, "spec": {"suspend": true}});

    // Without a companion it is a promise that nobody may keep.
    let answer = flux.dry_run().patch(&child.object, until_settled.clone()).await?;
    let nobody = "no companion is alive to resume Kustomization/apps/child";
    assert!(answer.warnings.iter().any(|warning| warning == nobody), "{:?}", answer.warnings);

    let companion = Companion::start(&cluster).await?;
    let answer = flux.patch(&child.object, until_settled).await?;
    let kept = "Kustomization/apps/child will be resumed once all that it needs is settled";
    assert_eq!(answer.warnings, [kept]);
    let stored = answer.admitted()?;
    assert!(held(&stored), "{stored}");
    let said: Value = serde_json::from_str(mark(&stored).unwrap_or_default())?;
    assert_eq!(said.pointer("/applier"), Some(&json!({"user": "alice@example.com", "manager": "flux"})));
    assert_eq!(said.pointer("/cause"), Some(&json!("premature")));
    assert_eq!(stored.pointer("/metadata/annotations/sluicegate.dev~1resume"), None, "the wish is spent");

    // The parent's applies leave it alone, and the companion releases it once its source is settled.
    child.stage.again(&cluster).await?;
    assert_eq!(mark(&child.stored().await?), mark(&stored));
    assert!(companion.release(&child.object).await?.refused()?.starts_with("premature unsuspend: "));
    child.source_settled(true).await?;
    let released = companion.release_when_due(&child.object).await?;
    assert_eq!((released.pointer("/spec/suspend"), mark(&released)), (None, None));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_07_a_validating_gate_refuses_a_mark_that_names_somebody_else() -> Result<()> {
    let cluster = Cluster::start("scenario_07_forged").await?;
    let _gate = Gate::open(&cluster, Setting::refuse()).await?;
    let applier = cluster.actor("kustomize-controller").user();
    let forged = json!({"applier": {"user": applier, "manager": "kustomize-controller"},
                        "at": "2026-01-01T00:00:00Z", "cause": "premature"});
    let manifest = manifest::kustomization("apps", "forged", "repo").suspended().annotated(MARK, &forged.to_string());
    let text = cluster.person().apply(&manifest).await?.refused()?;
    assert_eq!(text, "the new mark sluicegate.dev/held on Kustomization/apps/forged names somebody else than who asks");
    Ok(())
}
