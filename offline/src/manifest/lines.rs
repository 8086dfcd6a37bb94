//! Where the fields of an object stand.

use crate::yaml::Node;

/// The fields of `spec` that a finding may point at.
const SPEC: [&str; 12] = [
    "chart",
    "chartRef",
    "dependsOn",
    "healthChecks",
    "include",
    "path",
    "sourceRef",
    "sources",
    "suspend",
    "variants",
    "wait",
    "waitStrategy",
];

/// Lines, by the path of the field.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    start: u32,
    fields: Vec<(Box<str>, u32)>,
}

impl Lines {
    /// The lines of an object's fields.
    #[must_use]
    pub fn of(object: &Node<'_>) -> Self {
        let mut fields = Vec::new();
        let mut add = |path: String, line: u32| fields.push((path.into_boxed_str(), line));
        for entry in object.get("metadata").map(Node::entries).unwrap_or_default() {
            add(format!("metadata.{}", entry.key), entry.line);
        }
        for entry in object.get("spec").map(Node::entries).unwrap_or_default() {
            if !SPEC.contains(&&*entry.key) {
                continue;
            }
            let path = format!("spec.{}", entry.key);
            for (index, item) in entry.value.items().iter().enumerate() {
                add(format!("{path}[{index}]"), item.line);
            }
            for part in entry.value.get("spec").map(Node::entries).unwrap_or_default() {
                add(format!("{path}.spec.{}", part.key), part.line);
            }
            add(path, entry.line);
        }
        let start = object.entries().first().map_or(object.line, |entry| entry.line);
        Self { start, fields }
    }

    /// The line of a field, or of what it stands in; at last that of the object.
    #[must_use]
    pub fn line(&self, field: &str) -> u32 {
        let mut path = field;
        loop {
            if let Some((_, line)) = self.fields.iter().find(|(known, _)| &**known == path) {
                return *line;
            }
            match path.rfind(['.', '[']) {
                Some(at) => path = path.get(..at).unwrap_or_default(),
                None => return self.start,
            }
        }
    }
}
