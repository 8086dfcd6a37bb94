//! Findings of the check, in every form.

use super::Painter;
use serde_json::{Value, json};
use sluicegate_core::object::Reference;
use sluicegate_offline::check::{Finding, RULES, SCHEMA_VERSION, Severity, Spot, headline, json as as_json, paragraph};
use std::collections::BTreeMap;
use std::fmt::Write;

/// All that a check found.
#[derive(Debug, Default)]
pub struct Report {
    /// Each finding once, with the clusters it is about.
    pub findings: Vec<(Finding, Vec<String>)>,
    /// The names of all clusters.
    pub clusters: Vec<String>,
    /// How many objects were judged.
    pub objects: usize,
    /// How many files were read.
    pub files: usize,
    /// Where findings of a place are, while they are added.
    places: BTreeMap<Place, Vec<usize>>,
}

type Place = (Severity, Option<Reference>, Option<Spot>);

impl Report {
    /// A report on so many files.
    #[must_use]
    pub fn of(files: usize) -> Self {
        Self { files, ..Self::default() }
    }

    /// Adds findings about a cluster, or about files of none.
    pub fn add(&mut self, cluster: Option<&str>, findings: Vec<Finding>) {
        for finding in findings {
            let key = (finding.severity, finding.object.clone(), finding.spot.clone());
            let same = self.places.entry(key).or_default();
            let is_known = |at: &&usize| self.findings.get(**at).is_some_and(|(known, _)| *known == finding);
            let at = match same.iter().find(is_known) {
                Some(at) => *at,
                None => {
                    same.push(self.findings.len());
                    self.findings.push((finding, Vec::new()));
                    self.findings.len() - 1
                }
            };
            if let (Some(cluster), Some((_, clusters))) = (cluster, self.findings.get_mut(at)) {
                clusters.push(cluster.to_owned());
            }
        }
    }

    /// How many findings there are of a weight.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|(finding, _)| finding.severity == severity).count()
    }

    /// What was done and found, in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let counted = |count: usize, one: &str| match count {
            1 => format!("1 {one}"),
            count => format!("{count} {one}s"),
        };
        let mut text = format!("checked {} in {}", counted(self.objects, "object"), counted(self.files, "file"));
        if self.clusters.len() > 1 {
            let _ = write!(text, ", {}", counted(self.clusters.len(), "cluster"));
        }
        let found: Vec<String> = [Severity::Error, Severity::Warning, Severity::Note]
            .into_iter()
            .filter_map(|severity| Some((severity, self.count(severity))).filter(|(_, count)| *count > 0))
            .map(|(severity, count)| counted(count, severity.name()))
            .collect();
        let found = if found.is_empty() { "nothing found".to_owned() } else { found.join(", ") };
        format!("{text}: {found}")
    }

    /// The findings for a person; notes only where they are asked for.
    #[must_use]
    pub fn text(&self, notes: bool, painter: Painter) -> String {
        let mut out = String::new();
        for (finding, clusters) in
            self.findings.iter().filter(|(finding, _)| notes || finding.severity < Severity::Note)
        {
            let place = finding.spot.as_ref().map(|spot| format!("{spot}: ")).unwrap_or_default();
            let severity = match finding.severity {
                Severity::Error => painter.red("error"),
                Severity::Warning => painter.yellow("warning"),
                Severity::Note => painter.blue("note"),
            };
            let paragraph = paragraph(finding);
            let (first, rest) = paragraph.split_once('\n').unwrap_or((&paragraph, ""));
            let _ = writeln!(out, "{place}{severity}: {} [{}]", painter.bold(first), finding.rule());
            if !rest.is_empty() {
                let _ = writeln!(out, "{rest}");
            }
            if !clusters.is_empty() && clusters.len() < self.clusters.len() {
                let _ = writeln!(out, "  in {}", clusters.join(", "));
            }
        }
        out
    }

    /// The findings for machines.
    #[must_use]
    pub fn json(&self) -> String {
        let findings: Vec<Value> = self.findings.iter().map(|(finding, clusters)| as_json(finding, clusters)).collect();
        let summary = json!({
            "objects": self.objects,
            "files": self.files,
            "errors": self.count(Severity::Error),
            "warnings": self.count(Severity::Warning),
            "notes": self.count(Severity::Note),
        });
        let all = json!({"schemaVersion": SCHEMA_VERSION, "clusters": self.clusters, "findings": findings, "summary": summary});
        format!("{all:#}\n")
    }

    /// Annotations of a GitHub workflow (<https://docs.github.com/actions/reference/workflow-commands-for-github-actions>).
    #[must_use]
    pub fn github(&self) -> String {
        let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
        let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
        let mut out = String::new();
        for (finding, _) in &self.findings {
            let command = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => continue,
            };
            let mut place = String::new();
            if let Some(spot) = &finding.spot {
                let path = sluicegate_core::text::clean(&spot.path, 400).to_string();
                let _ = write!(place, "file={},", property(&path));
                let _ = write!(place, "line={},", spot.line.max(1));
            }
            let _ = writeln!(out, "::{command} {place}title={}::{}", finding.rule(), data(&paragraph(finding)));
        }
        out
    }

    /// SARIF 2.1.0 (<https://docs.oasis-open.org/sarif/sarif/v2.1.0/>), as code scanning takes it.
    #[must_use]
    pub fn sarif(&self) -> String {
        let mut rules: Vec<&str> = self.findings.iter().map(|(finding, _)| finding.rule()).collect();
        rules.sort_unstable();
        rules.dedup();
        let results: Vec<Value> = self
            .findings
            .iter()
            .map(|(finding, _)| {
                let locations: Vec<Value> = finding
                    .spot
                    .iter()
                    .map(|spot| {
                        json!({"physicalLocation": {"artifactLocation": {"uri": uri(&spot.path)}, "region": {"startLine": spot.line.max(1)}}})
                    })
                    .collect();
                let key = format!("{}/{}", finding.rule(), finding.object.as_ref().map(ToString::to_string).unwrap_or_default());
                json!({
                    "ruleId": finding.rule(),
                    "ruleIndex": rules.iter().position(|rule| *rule == finding.rule()),
                    "level": finding.severity.name(),
                    "message": {"text": paragraph(finding)},
                    "locations": locations,
                    "partialFingerprints": {"object": key, "message": headline(finding)},
                })
            })
            .collect();
        let rules: Vec<Value> = RULES
            .iter()
            .filter(|rule| rules.contains(&rule.name))
            .map(|rule| json!({"id": rule.name, "shortDescription": {"text": rule.about}}))
            .collect();
        let driver = json!({
            "name": "sluicegate",
            "version": env!("CARGO_PKG_VERSION"),
            "informationUri": env!("CARGO_PKG_REPOSITORY"),
            "rules": rules,
        });
        let all = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
        });
        format!("{all:#}\n")
    }
}

/// A path as a relative URI.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// The forms of the output of the check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum CheckOutput {
    /// For people.
    #[default]
    Text,
    /// For machines, with a schema version.
    Json,
    /// For code scanning.
    Sarif,
    /// Annotations of a GitHub workflow.
    Github,
}
