//! `serve`: the policy as a webhook.

use std::{error::Error, fs, io, path::Path, sync::Arc};

use sluicegate_host::{
    AdmissionRequest, AdmissionResponse, Host, LiveCluster, NoCluster, Policy,
    serve::{self, Options, Server},
};
use tokio::runtime;

use crate::{cli, output::Results, run};

pub fn serve(args: &cli::Serve) -> Result<(), Box<dyn Error>> {
    let settings = run::settings(args.settings.as_deref())?;
    let options = Options {
        name: args.name.clone(),
        listen: args.listen,
        certificates: read(&args.tls_cert)?,
        key: read(&args.tls_key)?,
        instances: args.instances.map_or_else(serve::default_instances, usize::from),
        observer: args.trace.then(|| Arc::new(report) as serve::Observer),
    };
    let policy = Policy::load(&args.policy)?;
    if let Some(refusal) = policy.info().server_refusal() {
        return Err(refusal.into());
    }
    let mut results = Results::take()?;

    let mut host = Host::new(&policy, NoCluster)
        .with_settings(settings)?
        .with_timeout((args.evaluation_seconds > 0).then_some(args.evaluation_seconds));
    run::check_settings(&host)?;
    if args.trace {
        host = host.with_observer(|call| eprintln!("{call}"));
    }

    let runtime = runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(async {
        let end = end_signal()?;
        let cluster = LiveCluster::from_kubeconfig(&args.kubeconfig).await?;
        let server = Server::start(host.with_cluster(cluster), options).await?;
        results.print(&format!("listening on {}", server.url()))?;
        server.run_until(end).await?;
        Ok(())
    });
    // Reads that hang are not waited for.
    runtime.shutdown_background();
    done
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn report(request: &AdmissionRequest, response: &AdmissionResponse) {
    let verdict = match (response.allowed, &response.patch) {
        (false, _) => "denied",
        (true, Some(_)) => "admitted, mutated",
        (true, None) => "admitted",
    };
    let dry = if request.is_dry_run() { " (dry run)" } else { "" };
    eprintln!("{}{dry} {} by {}: {verdict}", request.operation(), request.target(), request.user());
    let told = response.status.iter().filter_map(|status| status.message.as_deref());
    for text in told.chain(response.warnings().iter().map(String::as_str)) {
        for line in text.lines() {
            eprintln!("  {}", line.escape_debug());
        }
    }
}

/// What tells the process to end, listened to from now on.
#[cfg(unix)]
fn end_signal() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn end_signal() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
