//! Alerts and the dashboard speak of metrics that there are.

use super::{documents, text};
use regex_lite::Regex;
use serde_json::Value;
use sluicegate::metrics::Metrics;
use sluicegate_core::object::{Kind, Reference};
use std::collections::BTreeSet;

fn known() -> BTreeSet<String> {
    // One without a label value yet is not told.
    let metrics = Metrics::new();
    metrics.write("release", "written");
    metrics.read(Kind::Kustomization);
    metrics.watch_error(Kind::Kustomization);
    metrics.gave_up(&Reference::new(Kind::ArtifactGenerator, "apps", "shop"));
    let mut names = BTreeSet::new();
    for line in metrics.text().lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let (name, kind) = line.split_once(' ').unwrap();
        match kind {
            "counter" => names.insert(format!("{name}_total")),
            "histogram" => names.insert(format!("{name}_bucket")),
            _ => names.insert(name.to_owned()),
        };
    }
    names
}

fn named(expression: &str) -> BTreeSet<String> {
    let metric = Regex::new("sluicegate_[a-z_]+").unwrap();
    metric.find_iter(expression).map(|found| found.as_str().to_owned()).collect()
}

#[test]
fn every_alert_is_over_metrics_that_exist_and_has_a_text() {
    let alerts = documents(&text("deploy/chart/sluicegate/files/alerts.yaml")).remove(0);
    let guide = text("docs/deploy.md");
    let known = known();
    for rule in alerts["groups"][0]["rules"].as_array().unwrap() {
        let name = rule["alert"].as_str().unwrap();
        let metrics = named(rule["expr"].as_str().unwrap());
        assert!(!metrics.is_empty() && metrics.is_subset(&known), "{name}: {metrics:?}");
        assert!(!rule["annotations"]["summary"].as_str().unwrap().is_empty(), "{name}");
        assert!(rule["annotations"]["description"].as_str().unwrap().len() > 40, "{name}");
        assert!(guide.contains(&format!("| `{name}` |")), "{name} is not in docs/deploy.md");
    }
}

#[test]
fn the_dashboard_shows_every_metric_and_no_other() {
    let dashboard: Value = serde_json::from_str(&text("deploy/chart/sluicegate/files/dashboard.json")).unwrap();
    let mut shown = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        assert!(!panel["description"].as_str().unwrap().is_empty(), "{}", panel["title"]);
        for target in panel["targets"].as_array().unwrap() {
            shown.append(&mut named(target["expr"].as_str().unwrap()));
        }
    }
    assert_eq!(shown, known());
}
