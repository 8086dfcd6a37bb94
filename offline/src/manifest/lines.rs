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
    name: u32,
    fields: Vec<Field>,
}

#[derive(Clone, Copy, Debug)]
struct Field {
    /// Which of [`SPEC`].
    key: u8,
    part: Part,
    line: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Whole,
    Item(u32),
    /// `spec.chart.spec.sourceRef`
    ChartSource,
}

impl Lines {
    /// The lines of an object's fields.
    #[must_use]
    pub fn of(object: &Node<'_>) -> Self {
        let mut fields = Vec::new();
        for entry in object.get("spec").map(Node::entries).unwrap_or_default() {
            let Some(key) = SPEC.iter().position(|key| *key == entry.key).and_then(|key| u8::try_from(key).ok()) else {
                continue;
            };
            fields.push(Field { key, part: Part::Whole, line: entry.line });
            for (index, item) in (0..).zip(entry.value.items()) {
                fields.push(Field { key, part: Part::Item(index), line: item.line });
            }
            if let Some(source) = entry.value.get("spec").and_then(|spec| spec.entry("sourceRef")) {
                fields.push(Field { key, part: Part::ChartSource, line: source.line });
            }
        }
        let start = object.entries().first().map_or(object.line, |entry| entry.line);
        let name = object.get("metadata").and_then(|metadata| metadata.entry("name")).map_or(start, |name| name.line);
        Self { start, name, fields }
    }

    /// The line of a field, or of what it stands in; at last that of the object.
    #[must_use]
    pub fn line(&self, field: &str) -> u32 {
        if field.starts_with("metadata.name") {
            return self.name;
        }
        let Some(path) = field.strip_prefix("spec.") else { return self.start };
        let end = path.find(['.', '[']).unwrap_or(path.len());
        let (key, rest) = path.split_at(end);
        let part = match rest.strip_prefix('[').and_then(|rest| rest.split(']').next()?.parse().ok()) {
            Some(index) => Part::Item(index),
            None if rest.starts_with(".spec.sourceRef") => Part::ChartSource,
            None => Part::Whole,
        };
        let find = |part: Part| {
            let is_meant = |field: &&Field| SPEC.get(usize::from(field.key)) == Some(&key) && field.part == part;
            self.fields.iter().find(is_meant).map(|field| field.line)
        };
        find(part).or_else(|| find(Part::Whole)).unwrap_or(self.start)
    }
}
