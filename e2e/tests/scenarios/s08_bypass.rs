//! The bypass, and what a tenant's dry-run may learn.

use anyhow::Result;
use serde_json::json;
use sluicegate_e2e::answer::Answer;
use sluicegate_e2e::cluster::Cluster;
use sluicegate_e2e::companion::{Companion, mark};
use sluicegate_e2e::gate::{Gate, Setting};
use sluicegate_e2e::kind::{self, Object};
use sluicegate_e2e::manifest::{self, Manifest};
use sluicegate_e2e::rights;
use sluicegate_e2e::wait::until;

const BYPASS: &str = "sluicegate.dev/bypass";

fn plain(name: &str) -> Manifest {
    manifest::kustomization("apps", name, "repo")
}

fn app() -> Object {
    kind::kustomization("apps", "app")
}

async fn resume(cluster: &Cluster, reason: Option<&str>) -> Result<Answer> {
    let patch = match reason {
        Some(reason) => json!({"metadata": {"annotations": {BYPASS: reason}}, "spec": {"suspend": null}}),
        None => json!({"spec": {"suspend": null}}),
    };
    cluster.person().patch(&app(), patch).await
}

/// Gives the person the verb, and waits until the API server knows.
async fn grant(cluster: &Cluster) -> Result<()> {
    for manifest in rights::bypass() {
        cluster.admin().apply(&manifest).await?.admitted()?;
    }
    let question = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"group": "sluicegate.dev", "resource": "gates", "verb": "bypass", "namespace": "apps"}}
    });
    until("the person has the verb bypass", async || {
        let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        let answer = cluster.person().ask(http::Method::POST, path, "application/json", Some(&question), "").await?;
        let answer = answer.admitted()?;
        Ok(if answer.pointer("/status/allowed") == Some(&json!(true)) { Ok(()) } else { Err(answer.to_string()) })
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_08_a_person_bypasses_with_the_verb_and_not_without() -> Result<()> {
    let cluster = Cluster::start("scenario_08_bypass").await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    cluster.person().apply(&plain("app").suspended()).await?.admitted()?;

    let text = resume(&cluster, Some("incident 4711")).await?.refused()?;
    let first = "premature unsuspend: Kustomization/apps/app waits for GitRepository/apps/repo: does not exist";
    assert_eq!(text.lines().next(), Some(first));
    let right = "the bypass was not granted: alice@example.com needs the verb bypass on gates in group sluicegate.dev in namespace apps";
    assert_eq!(text.lines().last(), Some(right));

    grant(&cluster).await?;
    // An annotation that was there before is not asked for anew: it does not count.
    cluster.person().annotate(&app(), BYPASS, Some("incident 4711")).await?.admitted()?;
    let text = resume(&cluster, None).await?.refused()?;
    assert_eq!(text.lines().next(), Some(first));
    let text = resume(&cluster, Some("incident 4711")).await?.refused()?;
    assert_eq!(text.lines().next(), Some(first), "unchanged, it counts all the same");

    let answer = resume(&cluster, Some("incident 4712")).await?;
    assert_eq!(answer.warnings, [format!("bypassed: {first}")]);
    answer.admitted()?;
    assert_eq!(cluster.stored(&app()).await?.pointer("/spec/suspend"), None);

    // A loop, too.
    cluster.person().apply(&plain("other").depends_on(&["app"])).await?.admitted()?;
    let closing = plain("app").depends_on(&["other"]);
    cluster.person().apply(&closing).await?.refused()?;
    let answer = cluster.person().apply(&closing.annotated(BYPASS, "incident 4713")).await?;
    assert_eq!(answer.warnings, ["bypassed: dependency cycle: Kustomization/apps/app needs itself"]);
    answer.admitted()?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_08_git_cannot_bypass_though_its_applier_may_do_everything() -> Result<()> {
    let cluster = Cluster::start("scenario_08_applier").await?;
    let _companion = Companion::start(&cluster).await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let applier = cluster.actor("kustomize-controller");
    applier.apply(&plain("app").suspended()).await?.admitted()?;
    let answer = applier.apply(&plain("app").annotated(BYPASS, "from git")).await?;
    assert_eq!(answer.warnings, ["held: GitRepository/apps/repo: does not exist"]);
    let stored = answer.admitted()?;
    assert!(mark(&stored).is_some() && stored.pointer("/spec/suspend") == Some(&json!(true)), "{stored}");

    applier.apply(&plain("other").depends_on(&["self"])).await?.admitted()?;
    let closing = plain("self").depends_on(&["other"]).annotated(BYPASS, "from git");
    let text = applier.apply(&closing).await?.refused()?;
    assert!(text.starts_with("dependency cycle: Kustomization/apps/self needs itself\n"), "{text}");
    assert!(!text.contains("bypass"), "{text}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_08_a_tenants_dry_run_learns_no_name_of_others() -> Result<()> {
    let cluster = Cluster::start("scenario_08_tenant").await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    // The way back to the tenant's object leads through two objects that are nobody's business.
    let infra = |name: &str, needs: &[&str]| manifest::kustomization("infra", name, "vault-repo").depends_on(needs);
    cluster.person().apply(&infra("front", &["payroll-db"])).await?.admitted()?;
    cluster.person().apply(&infra("payroll-db", &["tenant/own"]).suspended()).await?.admitted()?;
    let tenant = cluster.actor("tenant").dry_run();
    let own = manifest::kustomization("tenant", "own", "repo").depends_on(&["infra/front"]);

    let text = tenant.apply(&own).await?.refused()?;
    let told = "\
dependency cycle: Kustomization/tenant/own needs itself
  Kustomization/tenant/own
    needs Kustomization/infra/front           (spec.dependsOn[0], added by this change)
    needs an object in another namespace
    which leads to Kustomization/tenant/own";
    assert_eq!(text, told);
    // The person may read them all, and is told.
    let text = cluster.person().dry_run().apply(&own).await?.refused()?;
    assert!(text.contains("Kustomization/infra/payroll-db"), "{text}");

    // A resume that waits for something foreign: of what it named itself the tenant learns that it is not settled.
    cluster
        .person()
        .patch(&kind::kustomization("infra", "payroll-db"), json!({"spec": {"dependsOn": null}}))
        .await?
        .admitted()?;
    cluster.person().apply(&own.clone().suspended()).await?.admitted()?;
    let text =
        tenant.patch(&kind::kustomization("tenant", "own"), json!({"spec": {"suspend": null}})).await?.refused()?;
    for foreign in ["payroll-db", "vault-repo"] {
        assert!(!text.contains(foreign), "{text}");
    }
    Ok(())
}
