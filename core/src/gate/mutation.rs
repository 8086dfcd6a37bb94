//! Changing an object without understanding the rest of it.

use crate::object::Switch;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The annotation that a hold leaves.
pub const HELD: &str = "sluicegate.dev/held";
/// The annotation with which a person asks for a mark while suspending.
pub const RESUME: &str = "sluicegate.dev/resume";

/// What to change in the object under review.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mutation {
    /// Put the suspend switch on: the value for the annotation of kinds that use one, ignored for others.
    pub suspend: Option<(Switch, Box<str>)>,
    /// Annotations to set (`Some`) or remove (`None`), by key.
    pub annotations: BTreeMap<&'static str, Option<Box<str>>>,
}

impl Mutation {
    /// Whether nothing is to be changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.suspend.is_none() && self.annotations.is_empty()
    }

    /// Applies the change to an object given as JSON.
    ///
    /// Only the objects on the way to a changed field are taken apart; everything else is copied byte for byte, so
    /// neither deep nesting nor odd numbers elsewhere can be hurt. Keys on the way come out sorted.
    ///
    /// # Errors
    /// Where the object is no JSON object, or `metadata`, `metadata.annotations` or `spec` is neither absent, null nor
    /// an object.
    pub fn apply(&self, object: &[u8]) -> Result<Box<RawValue>, serde_json::Error> {
        let mut top: Fields = serde_json::from_slice(object)?;
        let mut annotations = self.annotations.clone();
        match &self.suspend {
            Some((Switch::Spec, _)) => {
                let mut spec = fields(&top, "spec")?;
                spec.insert("suspend".into(), RawValue::from_string("true".into())?);
                top.insert("spec".into(), serde_json::value::to_raw_value(&spec)?);
            }
            Some((Switch::Annotation(key), value)) => {
                annotations.insert(key, Some(value.clone()));
            }
            Some((Switch::None, _)) | None => {}
        }
        if !annotations.is_empty() {
            let mut metadata = fields(&top, "metadata")?;
            let mut held = fields(&metadata, "annotations")?;
            for (key, value) in &annotations {
                match value {
                    Some(value) => held.insert((*key).into(), serde_json::value::to_raw_value(value)?),
                    None => held.remove(*key),
                };
            }
            if held.is_empty() {
                metadata.remove("annotations");
            } else {
                metadata.insert("annotations".into(), serde_json::value::to_raw_value(&held)?);
            }
            top.insert("metadata".into(), serde_json::value::to_raw_value(&metadata)?);
        }
        serde_json::value::to_raw_value(&top)
    }
}

type Fields = BTreeMap<String, Box<RawValue>>;

fn fields(parent: &Fields, key: &str) -> Result<Fields, serde_json::Error> {
    match parent.get(key) {
        Some(raw) if raw.get() != "null" => serde_json::from_str(raw.get()),
        _ => Ok(Fields::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn mark(value: Option<&str>) -> BTreeMap<&'static str, Option<Box<str>>> {
        BTreeMap::from([(HELD, value.map(Into::into))])
    }

    #[rstest]
    #[case(r#"{"spec":{"a":1.0}}"#, Some((Switch::Spec, "")), None, r#"{"spec":{"a":1.0,"suspend":true}}"#)]
    #[case(r#"{"spec":null}"#, Some((Switch::Spec, "")), None, r#"{"spec":{"suspend":true}}"#)]
    #[case(r#"{"spec":{"suspend":false}}"#, Some((Switch::Spec, "")), None, r#"{"spec":{"suspend":true}}"#)]
    #[case(r#"{}"#, Some((Switch::Annotation("k"), "disabled")), None,
        r#"{"metadata":{"annotations":{"k":"disabled"}}}"#)]
    #[case(
        r#"{"metadata":{"annotations":null,"name":"n"}}"#,
        None,
        Some(Some("m")),
        r#"{"metadata":{"annotations":{"sluicegate.dev/held":"m"},"name":"n"}}"#
    )]
    #[case(r#"{"metadata":{"annotations":{"sluicegate.dev/held":"m"}}}"#, None, Some(None), r#"{"metadata":{}}"#)]
    #[case(
        r#"{"metadata":{"annotations":{"a":"b","sluicegate.dev/held":"m"}}}"#,
        None,
        Some(None),
        r#"{"metadata":{"annotations":{"a":"b"}}}"#
    )]
    fn changes_what_it_should(
        #[case] before: &str,
        #[case] suspend: Option<(Switch, &str)>,
        #[case] held: Option<Option<&str>>,
        #[case] after: &str,
    ) {
        let mutation = Mutation {
            suspend: suspend.map(|(switch, value)| (switch, value.into())),
            annotations: held.map(mark).unwrap_or_default(),
        };
        assert_eq!(mutation.apply(before.as_bytes()).unwrap().get(), after);
    }

    #[test]
    fn deep_and_odd_values_survive() {
        let deep = format!("{}1e999{}", "[".repeat(5_000), "]".repeat(5_000));
        let before = format!(r#"{{"spec":{{"values":{deep}}}}}"#);
        let mutation = Mutation { suspend: Some((Switch::Spec, "".into())), annotations: BTreeMap::new() };
        let after = mutation.apply(before.as_bytes()).unwrap();
        assert_eq!(after.get(), format!(r#"{{"spec":{{"suspend":true,"values":{deep}}}}}"#));
    }

    #[test]
    fn a_spec_that_is_no_object_is_an_error() {
        let mutation = Mutation { suspend: Some((Switch::Spec, "".into())), annotations: BTreeMap::new() };
        assert!(mutation.apply(br#"{"spec":3}"#).is_err());
    }
}
