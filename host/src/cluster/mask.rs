//! Field masks: which parts of an object a guest wants.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Masks as a tree. A node without children keeps all that is below it, so a longer path under a shorter one narrows it.
#[derive(Default)]
pub(super) struct Mask {
    children: BTreeMap<String, Mask>,
}

impl Mask {
    pub(super) fn new<'a>(paths: impl IntoIterator<Item = &'a String>) -> Self {
        let mut root = Self::default();
        for path in paths {
            let mut node = &mut root;
            for part in path.split('.') {
                node = node.children.entry(part.to_owned()).or_default();
            }
        }
        root
    }

    /// Drops what is not wanted. The caller keeps `apiVersion`, `kind` and `metadata` away: no mask ever touches them.
    pub(super) fn prune(&self, object: &mut Map<String, Value>) {
        if self.children.is_empty() {
            return;
        }
        object.retain(|key, value| match self.children.get(key) {
            Some(child) => {
                child.prune_value(value);
                true
            }
            None => false,
        });
    }

    fn prune_value(&self, value: &mut Value) {
        match value {
            Value::Object(object) => self.prune(object),
            // Arrays are transparent.
            Value::Array(items) => items.iter_mut().for_each(|item| self.prune_value(item)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::nothing_means_everything(&[], json!({"spec": {"a": 1, "b": 2}, "status": 3}))]
    #[case::empty_path_prunes_all(&[""], json!({}))]
    #[case::terminal_keeps_its_subtree(&["spec"], json!({"spec": {"a": 1, "b": 2}}))]
    #[case::longer_narrows_shorter(&["spec", "spec.a"], json!({"spec": {"a": 1}}))]
    #[case::primitive_is_kept_whole(&["status.x"], json!({"status": 3}))]
    #[case::unknown(&["other"], json!({}))]
    fn masks(#[case] paths: &[&str], #[case] expected: Value) {
        let paths: Vec<String> = paths.iter().map(|&path| path.to_owned()).collect();
        let mut value = json!({"spec": {"a": 1, "b": 2}, "status": 3});
        Mask::new(&paths).prune(value.as_object_mut().unwrap());
        assert_eq!(value, expected);
    }

    #[test]
    fn arrays_are_transparent() {
        let paths = ["spec.items.name".to_owned()];
        let mut value = json!({"spec": {"items": [{"name": "a", "x": 1}, [{"name": "b", "x": 2}], "text"]}});
        Mask::new(&paths).prune(value.as_object_mut().unwrap());
        assert_eq!(value, json!({"spec": {"items": [{"name": "a"}, [{"name": "b"}], "text"]}}));
    }
}
