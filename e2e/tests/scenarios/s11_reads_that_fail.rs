//! What the policy cannot read: every verdict comes within the time limit, and says what failed.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use sluicegate_e2e::actor::Actor;
use sluicegate_e2e::answer::Answer;
use sluicegate_e2e::cluster::{Cluster, Wanted};
use sluicegate_e2e::companion::{Companion, mark};
use sluicegate_e2e::gate::{Gate, Setting};
use sluicegate_e2e::kind::{self, CLUSTER_ROLE, OCI_REPOSITORY, Object};
use sluicegate_e2e::manifest::{self, Manifest};
use sluicegate_e2e::proxy::{Pick, Proxy};
use sluicegate_e2e::wait::until;

const A: &str = "/kustomizations/a";
const REPO: &str = "/gitrepositories/repo";

fn app() -> Object {
    kind::kustomization("apps", "app")
}

fn plain(name: &str) -> Manifest {
    manifest::kustomization("apps", name, "repo")
}

/// `a`, and `app`, which is suspended, and was applied by kustomize-controller.
async fn furnish(cluster: &Cluster) -> Result<()> {
    cluster.person().apply(&plain("a")).await?.admitted()?;
    cluster.actor("kustomize-controller").apply(&plain("app").suspended()).await?.admitted().map(|_| ())
}

/// A dry-run of a new need, by a person.
async fn needs_a(actor: &Actor) -> Result<Answer> {
    actor.dry_run().patch(&app(), json!({"spec": {"dependsOn": [{"name": "a"}]}})).await
}

/// A dry-run of a resume, by a person.
async fn resumes(actor: &Actor) -> Result<Answer> {
    actor.dry_run().patch(&app(), json!({"spec": {"suspend": null}})).await
}

/// A dry-run of a resume, by kustomize-controller.
async fn resumed_by_git(cluster: &Cluster) -> Result<(Vec<String>, Value)> {
    let answer = cluster.actor("kustomize-controller").dry_run().apply(&plain("app")).await?;
    Ok((answer.warnings.clone(), answer.admitted()?))
}

/// What design section 5 wants for anything that could not be judged: a new need is admitted with a warning, a resume is
/// refused to a person and held for an applier, and each text says why.
async fn is_not_judged(cluster: &Cluster, need: &str, resume: &str, held: &str) -> Result<()> {
    let answer = needs_a(cluster.person()).await?;
    assert_eq!(answer.warnings, [need]);
    answer.admitted()?;
    let text = resumes(cluster.person()).await?.refused()?;
    assert_eq!(text.lines().next(), Some(resume), "{text}");
    let (warnings, would) = resumed_by_git(cluster).await?;
    assert_eq!(warnings, [held]);
    assert!(mark(&would).is_some() && would.pointer("/spec/suspend") == Some(&json!(true)), "{would}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_11_the_reader_lacks_a_permission() -> Result<()> {
    let cluster = Cluster::start("scenario_11_permission").await?;
    let _companion = Companion::start(&cluster).await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    furnish(&cluster).await?;
    let role = CLUSTER_ROLE.at("", "sluicegate-policy");
    let leases = json!([
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get"]},
        {"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]}
    ]);
    cluster.admin().patch(&role, json!({"rules": leases})).await?.admitted()?;
    let reader = cluster.actor("policy-server");
    until("the reader may not read any more", async || {
        let answer = reader.ask(http::Method::GET, &app().path(), "application/json", None, "").await?;
        Ok(if answer.code == 403 { Ok(()) } else { Err(answer.code.to_string()) })
    })
    .await?;
    is_not_judged(
        &cluster,
        "dependency cycles of Kustomization/apps/app not judged: the policy server may not get kustomizations.kustomize.toolkit…",
        "unsuspend of Kustomization/apps/app not judged: the policy server may not get gitrepositories.source.toolkit.fluxcd.io",
        "held: not judged, the policy server may not get gitrepositories.source.toolkit.fluxcd.io",
    )
    .await?;
    // kubectl shows the warning as it is, with the character that says that there was more.
    let patch = r#"{"spec": {"dependsOn": [{"name": "a"}]}}"#;
    let arguments = ["patch", "kustomization", "app", "-n", "apps", "--type=merge", "--dry-run=server", "-p", patch];
    let said = cluster.person().kubectl(&arguments).await?;
    assert!(said.stderr.contains("may not get kustomizations.kustomize.toolkit…\n"), "{}", said.stderr);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_11_a_kind_is_not_installed() -> Result<()> {
    let wanted = Wanted { without: vec![OCI_REPOSITORY], ..Wanted::default() };
    let cluster = Cluster::start_as("scenario_11_no_kind", wanted).await?;
    let _companion = Companion::start(&cluster).await?;
    let _gate = Gate::open(&cluster, Setting::default()).await?;
    let source = json!({"kind": "OCIRepository", "name": "repo"});
    let of_oci = plain("app").with("/spec/sourceRef", source);
    let answer = cluster.person().apply(&of_oci.clone().suspended()).await?;
    assert_eq!(
        answer.warnings,
        [
            "Kustomization/apps/app names OCIRepository/apps/repo in spec.sourceRef, but the cluster has no OCIRepository"
        ]
    );
    answer.admitted()?;
    let text = resumes(cluster.person()).await?.refused()?;
    let expected = "premature unsuspend: Kustomization/apps/app waits for OCIRepository/apps/repo: does not exist: the cluster has no OCIRepository";
    assert_eq!(text.lines().next(), Some(expected), "{text}");
    Ok(())
}

/// A gate that reads through a proxy.
async fn behind_a_proxy(cluster: &Cluster, setting: Setting) -> Result<(Gate, Proxy)> {
    let proxy = Proxy::start(cluster).await?;
    let reads_from = Some(proxy.actor(cluster, "policy-server")?.kubeconfig().to_owned());
    let gate = Gate::open(cluster, Setting { reads_from, ..setting }).await?;
    Ok((gate, proxy))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_11_the_api_server_answers_500() -> Result<()> {
    let cluster = Cluster::start("scenario_11_500").await?;
    let _companion = Companion::start(&cluster).await?;
    let (_gate, proxy) = behind_a_proxy(&cluster, Setting::default()).await?;
    furnish(&cluster).await?;
    let _broken = [proxy.on(Pick::get(A)).answer(500), proxy.on(Pick::get(REPO)).answer(500)];
    is_not_judged(
        &cluster,
        "dependency cycles of Kustomization/apps/app not judged: Kustomization/apps/a could not be read: an error on the server…",
        "unsuspend of Kustomization/apps/app not judged: GitRepository/apps/repo could not be read: an error on the server, made by a test: InternalError",
        "held: not judged, GitRepository/apps/repo could not be read: an error on the server, made by a test: InternalError",
    )
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_11_the_api_server_is_slow() -> Result<()> {
    let cluster = Cluster::start("scenario_11_slow").await?;
    let _companion = Companion::start(&cluster).await?;
    // Reads for half of what four seconds leave after one: a second and a half.
    let setting = Setting { settings: json!({"evaluationSeconds": 4}), ..Setting::default() };
    let (gate, proxy) = behind_a_proxy(&cluster, setting).await?;
    furnish(&cluster).await?;
    cluster.person().apply(&plain("a").depends_on(&["z"])).await?.admitted()?;
    let _slow = [A, REPO].map(|path| proxy.on(Pick::get(path)).delay(Duration::from_secs(2)));
    // The first read takes all the time there is; the verdict says which one there was no time for.
    let answer = needs_a(cluster.person()).await?;
    let late = "dependency cycles of Kustomization/apps/app not judged: the time for reading was over before GitRepository/apps/repo";
    assert_eq!(answer.warnings, [late]);
    answer.admitted()?;
    assert_eq!(gate.count("sluicegate_host_timeouts_total", "").await?, 0.0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_11_a_read_that_hangs_ends_as_the_webhooks_time_out() -> Result<()> {
    for (failure_policy, test) in [("Fail", "scenario_11_hangs_fail"), ("Ignore", "scenario_11_hangs_ignore")] {
        let cluster = Cluster::start(test).await?;
        let setting = Setting { failure_policy, timeout_seconds: 3, ..Setting::default() };
        let (gate, proxy) = behind_a_proxy(&cluster, setting).await?;
        furnish(&cluster).await?;
        let stuck = proxy.on(Pick::get(A)).hold();
        let answer = needs_a(cluster.person()).await?;
        stuck.came(1).await?;
        // Neither the policy's clock nor policy-server's deadline can end it: the webhook's own limit does.
        if failure_policy == "Fail" {
            assert_eq!(answer.code, 500, "{}", answer.message());
            assert!(answer.message().contains("failed calling webhook"), "{}", answer.message());
        } else {
            assert_eq!(answer.warnings, Vec::<String>::new(), "nobody is told that nobody has looked");
            answer.admitted()?;
        }
        until("the request counts as abandoned", async || {
            let count = gate.count("sluicegate_host_abandoned_total", "").await?;
            Ok(if count > 0.0 { Ok(()) } else { Err(gate.metrics().await?) })
        })
        .await?;
        // Its place is free: there are two, and three more hang before one that does not.
        for _ in 0..3 {
            needs_a(cluster.person()).await?;
        }
        stuck.release();
        let answer = needs_a(cluster.person()).await?;
        assert_eq!(answer.warnings, Vec::<String>::new());
        answer.admitted()?;
    }
    Ok(())
}
