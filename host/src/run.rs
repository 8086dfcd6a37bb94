//! `run`: one request, one verdict.

use std::{error::Error, fs, io, path::Path, sync::Arc};

use serde_json::Value;
use sluicegate_host::{Evaluation, Host, HostCall, MemoryCluster, NoCluster, Policy, Recorder, Session};

use crate::{cli, output::Results, source};

pub fn run(args: &cli::Run) -> Result<(), Box<dyn Error>> {
    let request: Value =
        serde_json::from_str(&read(&args.request)?).map_err(|error| format!("{}: {error}", args.request.display()))?;
    let settings = match (&args.settings, &args.settings_json) {
        (None, Some(json)) => serde_json::from_str(json).map_err(|error| format!("--settings-json: {error}"))?,
        (path, _) => settings(path.as_deref())?,
    };
    let policy = match source::pulled(&args.policy, &args.access)? {
        Some(module) => Policy::from_bytes(&module)?,
        None => Policy::load(&args.policy)?,
    };
    let mut results = Results::take()?;

    let (trace, verbose) = (args.trace, args.verbose);
    let host = Host::new(&policy, NoCluster)
        .with_settings(settings)?
        .with_timeout((args.timeout > 0).then_some(args.timeout))
        .with_observer(move |call| report(call, trace, verbose));

    let evaluation = match (&args.cluster, &args.session) {
        (Some(folder), _) => {
            let recorder = Recorder::new(MemoryCluster::from_folder(folder)?);
            let evaluation = judge(&host.with_cluster(recorder.clone()), &request)?;
            if let Some(path) = &args.record {
                recorder.write(path)?;
            }
            evaluation
        }
        (None, Some(path)) => {
            let session = Arc::new(Session::load(path)?);
            let evaluation = judge(&host.with_cluster(Arc::clone(&session)), &request)?;
            match session.leftovers().len() {
                0 => {}
                left => eprintln!("warning: {left} recorded exchanges have not been replayed"),
            }
            evaluation
        }
        (None, None) => judge(&host, &request)?,
    };
    if args.trace {
        let (calls, micros) = (evaluation.calls.len(), evaluation.duration.as_micros());
        eprintln!("{calls} host calls, {} of {micros} µs", evaluation.host_time().as_micros());
    }
    results.print(&serde_json::to_string(&evaluation.response)?)
}

fn judge(host: &Host, request: &Value) -> Result<Evaluation, Box<dyn Error>> {
    check_settings(host)?;
    Ok(host.validate(request)?)
}

/// Fails with what the policy says of its settings, if it says that they are not valid.
pub fn check_settings(host: &Host) -> Result<(), Box<dyn Error>> {
    let verdict = host.validate_settings()?;
    if verdict.valid {
        Ok(())
    } else {
        Err(format!("Provided settings are not valid: {}", verdict.message.unwrap_or_default()).into())
    }
}

/// The settings in a file, null without one.
pub fn settings(path: Option<&Path>) -> Result<Value, String> {
    let Some(path) = path else { return Ok(Value::Null) };
    yaml_serde::from_str(&read(path)?).map_err(|error| format!("{}: {error}", path.display()))
}

fn read(path: &Path) -> Result<String, String> {
    let text = if path == Path::new("-") { io::read_to_string(io::stdin().lock()) } else { fs::read_to_string(path) };
    text.map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn report(call: &HostCall, trace: bool, verbose: bool) {
    let log = call.namespace == "tracing";
    if trace {
        eprintln!("{call}");
    }
    if verbose && log {
        eprintln!("log: {}", String::from_utf8_lossy(&call.payload));
    }
}
