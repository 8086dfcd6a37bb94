//! Changes to objects: merges and JSON patches.

use super::select::fits;
use crate::manifest::{PatchEntry, Target};
use crate::yaml;
use json_patch::{Patch, patch};
use serde_json::Value;

/// A change, ready to be made.
#[derive(Clone, Debug)]
pub struct Change {
    target: Option<Target>,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    /// A part of an object. Of custom resources, which all judged kinds are, kustomize merges as JSON: lists as a whole.
    Merge(Value),
    Operations(Patch),
}

impl Change {
    /// The changes that a text holds: parts of objects, or a list of operations. None where it is neither: kustomize
    /// itself says what is wrong with it.
    #[must_use]
    pub fn of_text(text: &str, target: Option<&Target>) -> Vec<Self> {
        let (documents, _) = yaml::documents(text);
        documents.iter().filter_map(|document| Self::of_value(yaml::to_value(document), target)).collect()
    }

    /// The change that a document is.
    #[must_use]
    pub fn of_value(value: Value, target: Option<&Target>) -> Option<Self> {
        let what = match value {
            Value::Object(_) => What::Merge(value),
            Value::Array(_) => What::Operations(serde_json::from_value(value).ok()?),
            _ => return None,
        };
        // Operations say nothing of whom they are about.
        (target.is_some() || matches!(what, What::Merge(_))).then(|| Self { target: target.cloned(), what })
    }

    /// The changes of an entry of `patches`; `file` gives the text of a file.
    pub fn of_entry(entry: &PatchEntry, file: impl Fn(&str) -> Vec<Value>) -> Vec<Self> {
        let target = entry.target.as_ref();
        let own = entry.patch.as_deref().map(|text| Self::of_text(text, target)).unwrap_or_default();
        let other = entry.path.as_deref().map(file).unwrap_or_default();
        own.into_iter().chain(other.into_iter().filter_map(|value| Self::of_value(value, target))).collect()
    }

    /// Changes an object if it is meant. Gives `None` if the patch takes it away as a whole (`$patch: delete`), else
    /// whether anything was done.
    pub fn apply(&self, object: &mut Value) -> Option<bool> {
        let is_meant = match (&self.target, &self.what) {
            (Some(target), _) => fits(target, object),
            (None, What::Merge(part)) => is_same(part, object),
            (None, What::Operations(_)) => false,
        };
        if !is_meant {
            return Some(false);
        }
        match &self.what {
            What::Merge(part) => {
                if part.get("$patch").and_then(Value::as_str) == Some("delete") {
                    return None;
                }
                let keys = ["/apiVersion", "/kind", "/metadata/name", "/metadata/namespace"];
                let old: Vec<Option<Value>> = keys.iter().map(|key| object.pointer(key).cloned()).collect();
                json_patch::merge(object, part);
                // With a target the names in the patch are placeholders.
                for (key, old) in keys.iter().zip(old) {
                    if let (Some(old), Some(new)) = (old, object.pointer_mut(key)) {
                        *new = old;
                    }
                }
                Some(true)
            }
            What::Operations(operations) => {
                // One that does not fit changes nothing: kustomize itself refuses it.
                let _ = patch(object, operations);
                Some(true)
            }
        }
    }
}

/// Whether a part names an object: group, kind, name, and the namespace where it says one.
fn is_same(part: &Value, object: &Value) -> bool {
    let text = |value: &Value, path: &str| value.pointer(path).and_then(Value::as_str).map(ToOwned::to_owned);
    let group = |value: &Value| {
        text(value, "/apiVersion").map(|version| version.rsplit_once('/').map(|(group, _)| group.to_owned()))
    };
    let namespace = text(part, "/metadata/namespace");
    group(part) == group(object)
        && text(part, "/kind") == text(object, "/kind")
        && text(part, "/metadata/name") == text(object, "/metadata/name")
        && namespace.is_none_or(|namespace| text(object, "/metadata/namespace").is_none_or(|own| own == namespace))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object() -> Value {
        json!({"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
               "metadata": {"name": "a", "namespace": "s"}, "spec": {"dependsOn": [{"name": "b"}], "wait": true}})
    }

    #[test]
    fn a_merge_finds_its_object_by_name_or_by_target() {
        let text = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: NAME}\nspec: {suspend: true, wait: null, dependsOn: []}\n";
        let mut changed = object();
        let named = Change::of_text(&text.replace("NAME", "a"), None);
        assert_eq!(named[0].apply(&mut changed), Some(true));
        assert_eq!(changed["spec"], json!({"suspend": true, "dependsOn": []}));

        let mut other = object();
        assert_eq!(Change::of_text(&text.replace("NAME", "z"), None)[0].apply(&mut other), Some(false));
        assert_eq!(other, object());

        let target = Target { kind: Some("Kustomization".to_owned()), ..Target::default() };
        let mut meant = object();
        assert_eq!(Change::of_text(&text.replace("NAME", "not-used"), Some(&target))[0].apply(&mut meant), Some(true));
        assert_eq!(meant["metadata"]["name"], "a");
        assert_eq!(meant["spec"]["suspend"], true);
    }

    #[test]
    fn operations_need_a_target() {
        let text = "- {op: add, path: /spec/suspend, value: true}\n- {op: remove, path: /spec/dependsOn/0}\n";
        assert!(Change::of_text(text, None).is_empty());
        let mut changed = object();
        assert_eq!(Change::of_text(text, Some(&Target::default()))[0].apply(&mut changed), Some(true));
        assert_eq!(changed["spec"], json!({"suspend": true, "wait": true, "dependsOn": []}));
    }

    #[test]
    fn an_object_can_be_taken_away() {
        let text =
            "$patch: delete\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\n";
        assert_eq!(Change::of_text(text, None)[0].apply(&mut object()), None);
    }

    #[test]
    fn what_is_no_patch_changes_nothing() {
        for text in ["", "3", "[1, 2]", "a: [", "- {op: fly, path: /}"] {
            assert!(Change::of_text(text, Some(&Target::default())).is_empty(), "{text}");
        }
        let mut same = object();
        let text = "- {op: remove, path: /spec/nothing/here}";
        Change::of_text(text, Some(&Target::default()))[0].apply(&mut same);
        assert_eq!(same, object());
    }
}
