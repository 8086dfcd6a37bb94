//! `webhook`: the configuration for the API server.

use std::{error::Error, fs};

use sluicegate_host::{
    ModuleInfo,
    webhook::{FailurePolicy, Phase, Webhook},
};

use crate::{cli, output::Results};

pub fn webhook(args: &cli::Webhook) -> Result<(), Box<dyn Error>> {
    let read =
        |path: &std::path::Path| fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()));
    let info = ModuleInfo::parse(&read(&args.policy)?)?;
    let metadata = info.metadata.ok_or("the policy has no metadata")?;
    let webhook = Webhook {
        name: &args.name,
        url: &args.url,
        ca: &read(&args.ca)?,
        phase: if args.mutating { Phase::Mutating } else { Phase::Validating },
        failure_policy: match args.failure_policy {
            cli::FailurePolicy::Ignore => FailurePolicy::Ignore,
            cli::FailurePolicy::Fail => FailurePolicy::Fail,
        },
        timeout_seconds: args.timeout_seconds,
    };
    Results::take()?.print(webhook.manifest(&metadata)?.trim_end())
}
