//! The hold, row for row, as git resumes what is not settled.

use anyhow::Result;
use serde_json::{Value, json};
use sluicegate_e2e::cluster::Cluster;
use sluicegate_e2e::companion::{Companion, declares_switch, held, mark, owners};
use sluicegate_e2e::gate::{Gate, Setting};
use sluicegate_e2e::kind::{self, Kind};

use crate::child::Child;

/// Three more reconciles change nothing, and cost one dry-run each.
async fn stays_put(child: &Child<'_>, gate: &Gate) -> Result<()> {
    let stored = child.stored().await?;
    for _ in 0..3 {
        let before = (child.dry.count(), child.real.count(), gate.evaluations().await?);
        child.stage.again(child.cluster).await?;
        assert_eq!(child.dry.count() - before.0, 1);
        assert_eq!(child.real.count() - before.1, 0, "a real request: {:?}", child.real.seen());
        let now = child.stored().await?;
        assert_eq!(mark(&now), mark(&stored), "the mark is not the same, byte for byte");
        assert_eq!(now, stored, "a hold is not quiet");
        // The token on the root, and the dry-run of the held child.
        assert_eq!(gate.evaluations().await? - before.2, 2.0, "evaluations for one reconcile");
    }
    Ok(())
}

fn generation(object: &Value) -> Option<i64> {
    object.pointer("/metadata/generation").and_then(Value::as_i64)
}

async fn hold(test: &str, kind: Kind) -> Result<()> {
    let cluster = Cluster::start(test).await?;
    let gate = Gate::open(&cluster, Setting::default()).await?;
    let companion = Companion::start(&cluster).await?;
    let child = Child::new(&cluster, kind).await?;
    child.source_settled(false).await?;

    // Git drops the line.
    let before = child.stored().await?;
    assert_eq!(child.git_says(&child.manifest).await?, (1, 1), "one dry-run and one real request");
    let stored = child.stored().await?;
    assert!(held(&stored), "{stored}");
    assert_eq!(owners(&stored, "f:spec", "f:suspend"), [], "nobody owns the switch");
    assert_eq!(generation(&stored), generation(&before), "the generation moved");
    let user = cluster.actor("kustomize-controller").user();
    let said: Value = serde_json::from_str(mark(&stored).unwrap_or_default())?;
    assert_eq!(said.pointer("/applier"), Some(&json!({"user": user, "manager": "kustomize-controller"})));
    assert_eq!(said.pointer("/cause"), Some(&json!("premature")));
    stays_put(&child, &gate).await?;

    // A person's kubectl touches it; kustomize-controller takes over what kubectl owned, and drops the annotations.
    let at = ["-n", "apps", child.object.kind.plural, "child"];
    let said = cluster.person().kubectl(&[&["annotate"][..], &at, &["note=seen"]].concat()).await?;
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    child.stage.again(&cluster).await?;
    let after = child.stored().await?;
    assert_eq!(mark(&after), mark(&stored), "the mark was not put back");
    assert!(held(&after));
    stays_put(&child, &gate).await?;

    // It is not released before its source is settled, and then by one write.
    let early = companion.release(&child.object).await?.refused()?;
    assert!(early.starts_with("premature unsuspend: "), "{early}");
    child.source_settled(true).await?;
    let released = companion.release(&child.object).await?.admitted()?;
    assert_eq!((released.pointer("/spec/suspend"), mark(&released)), (None, None));
    assert_eq!(generation(&released), generation(&after).map(|before| before + 1));
    child.stage.again(&cluster).await?;
    assert_eq!(generation(&child.stored().await?), generation(&released), "the next apply wrote once more");

    // Git says `suspend: false` in so many words.
    child.git_says(&child.manifest.clone().suspended()).await?;
    child.source_settled(false).await?;
    let spoken = child.manifest.clone().with("/spec/suspend", json!(false));
    assert_eq!(child.git_says(&spoken).await?, (1, 1));
    let stored = child.stored().await?;
    assert!(held(&stored), "{stored}");
    assert!(declares_switch(&stored), "kustomize-controller owns the switch it declares");
    stays_put(&child, &gate).await?;
    child.source_settled(true).await?;
    let released = companion.release(&child.object).await?.admitted()?;
    assert_eq!(released.pointer("/spec/suspend"), Some(&json!(false)), "where an applier owns it, `false` is written");
    child.stage.again(&cluster).await?;
    assert_eq!(generation(&child.stored().await?), generation(&released), "the applier wrote its `false` again");

    // A person suspends by hand while git says false: Flux writes false at once, and is held if that is too early.
    child.source_settled(false).await?;
    cluster.person().patch(&child.object, json!({"spec": {"suspend": true}})).await?.admitted()?;
    child.stage.again(&cluster).await?;
    assert!(held(&child.stored().await?), "the applier's resume was not held");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_05_the_hold_of_a_kustomization() -> Result<()> {
    hold("scenario_05_kustomization", kind::KUSTOMIZATION).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_05_the_hold_of_a_helm_release() -> Result<()> {
    hold("scenario_05_helm_release", kind::HELM_RELEASE).await
}
