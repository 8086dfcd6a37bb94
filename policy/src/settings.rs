//! Settings as operators write them, and one sentence for each mistake.

mod duration;
mod read;

use read::{Given, Reader};
use sluicegate_core::gate::{Disclose, Role, Settings, Severity};
use sluicegate_core::text::clean;

/// The names of all settings.
pub(crate) const NAMES: [&str; 14] = [
    "additiveReadyExpr",
    "applierUsers",
    "appliers",
    "bypassUsers",
    "companion",
    "companionLease",
    "dependencies",
    "disclose",
    "enforce",
    "evaluationSeconds",
    "heldTooLong",
    "maxReads",
    "role",
    "unheld",
];

const SEVERITIES: [(&str, Severity); 2] = [("warn", Severity::Warn), ("refuse", Severity::Refuse)];

/// Reads settings: a JSON object, in which everything may be left out or null.
///
/// # Errors
/// One sentence for each mistake: unknown names first, then the settings in the order of their names.
pub fn decode(json: &[u8]) -> Result<Settings, Vec<String>> {
    let Ok(given) = serde_json::from_slice::<Given<'_>>(json) else {
        return Err(vec!["the settings must be an object".into()]);
    };
    let mut mistakes: Vec<_> =
        given.0.iter().filter(|(name, _)| !NAMES.contains(&name.as_ref())).map(|(name, _)| unknown(name)).collect();
    let mut read = Reader::new(&given);
    let default = Settings::default();
    let settings = Settings {
        additive_ready_expr: read.flag("additiveReadyExpr", default.additive_ready_expr),
        applier_users: read.list("applierUsers", default.applier_users),
        appliers: read.list("appliers", default.appliers),
        bypass_users: read.list("bypassUsers", default.bypass_users),
        companion: read.name("companion", default.companion),
        companion_lease: read.lease("companionLease", default.companion_lease),
        dependencies: read.choice("dependencies", &SEVERITIES, default.dependencies),
        disclose: read.choice(
            "disclose",
            &[("permitted", Disclose::Permitted), ("everyone", Disclose::Everyone)],
            default.disclose,
        ),
        enforce: read.flag("enforce", default.enforce),
        evaluation: read.seconds("evaluationSeconds", 2..=30, default.evaluation),
        held_too_long: read.duration("heldTooLong", default.held_too_long),
        max_reads: read.number("maxReads", 1..=100_000, default.max_reads),
        role: read.choice(
            "role",
            &[("hold", Role::Hold), ("refuse", Role::Refuse), ("both", Role::Both)],
            default.role,
        ),
        unheld: read.choice("unheld", &SEVERITIES, default.unheld),
    };
    mistakes.append(&mut read.mistakes);
    // Who is the companion is nobody else, so such an entry would silently do nothing.
    for (name, users) in [("applierUsers", &settings.applier_users), ("bypassUsers", &settings.bypass_users)] {
        if users.contains(&settings.companion) {
            mistakes.push(format!("setting {name} must not list the user of the setting companion"));
        }
    }
    if mistakes.is_empty() { Ok(settings) } else { Err(mistakes) }
}

fn unknown(name: &str) -> String {
    let said = clean(name, 63);
    // Two slips of the pen, and capitals at will.
    let meant = NAMES
        .iter()
        .map(|known| (strsim::osa_distance(&known.to_ascii_lowercase(), &name.to_ascii_lowercase()), known))
        .filter(|(distance, _)| *distance <= 2 && name.len() <= 63)
        .min();
    match meant {
        Some((_, known)) => format!("there is no setting {said}; did you mean {known}?"),
        None => format!("there is no setting {said}"),
    }
}

#[cfg(test)]
mod tests;
