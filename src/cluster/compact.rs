//! What is kept of a watched object: the judged fields, as JSON, written while the answer of the API server is read.
//!
//! Nothing is built in between, so an object of any size costs what is kept of it. No field is taken for what it should
//! be: core reads the result as it reads any object, and says which field it cannot read.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::Serialize;
use sluicegate_core::object::{Annotations, Labels, Spec, Status};
use sluicegate_core::recovery::{ATTEMPTS_KEY, LAST_AT_KEY, OPERATOR_ATTEMPTS, OPERATOR_LAST_AT};
use std::borrow::Cow;
use std::fmt;

/// What to keep of a value.
pub(super) enum Keep {
    /// All of it.
    All,
    /// A text, cut where it is long.
    Text,
    /// Of an object these fields.
    Fields(&'static [(&'static str, Keep)]),
    /// Of an object these fields so, and all of those that core reads by these lists.
    Known(&'static [(&'static str, Keep)], &'static [&'static [&'static str]]),
    /// Of a list this much of each entry.
    List(&'static Keep),
    /// Of an inventory the entries of kinds that are judged.
    Inventory,
    /// Of the list of an inventory.
    Entries,
}

/// Messages are quoted in far fewer characters, and those that are compared are shorter.
const TEXT: usize = 1_000;

const CONDITION: Keep = Keep::Fields(&[
    ("type", Keep::All),
    ("status", Keep::All),
    ("reason", Keep::Text),
    ("message", Keep::Text),
    ("observedGeneration", Keep::All),
    ("lastTransitionTime", Keep::All),
]);

const ARTIFACT: Keep = Keep::Fields(&[
    ("revision", Keep::All),
    ("digest", Keep::All),
    ("url", Keep::All),
    ("metadata", Keep::Fields(&[("org.opencontainers.image.revision", Keep::All)])),
]);

const RELEASE: Keep = Keep::Fields(&[
    ("version", Keep::All),
    ("status", Keep::All),
    ("chartName", Keep::All),
    ("chartVersion", Keep::All),
    ("ociDigest", Keep::All),
]);

const OUTPUT: Keep = Keep::Fields(&[("name", Keep::All), ("pathPattern", Keep::All)]);
const GENERATED: Keep = Keep::Fields(&[("name", Keep::All), ("namespace", Keep::All), ("digest", Keep::All)]);
const ID: Keep = Keep::Fields(&[("id", Keep::All)]);
const VARIANT: Keep = Keep::Fields(&[("name", Keep::All), ("dependsOn", Keep::All)]);

const ACTION: Keep = Keep::Fields(&[("disableWait", Keep::All)]);

/// The annotations that recovery reads besides.
const RECOVERY: &[&str] = &[ATTEMPTS_KEY, LAST_AT_KEY, OPERATOR_ATTEMPTS, OPERATOR_LAST_AT];

impl Keep {
    /// What to keep of the field of an object, if anything.
    fn field(&self, key: &str) -> Option<&'static Keep> {
        let special =
            |fields: &'static [(&str, Self)]| fields.iter().find(|(name, _)| *name == key).map(|(_, keep)| keep);
        match self {
            Self::Fields(fields) => special(fields),
            Self::Known(fields, keys) => {
                special(fields).or_else(|| keys.iter().any(|keys| keys.contains(&key)).then_some(&Self::All))
            }
            Self::Inventory => (key == "entries").then_some(&Self::Entries),
            // An object where none should be: core says so.
            _ => Some(&Self::All),
        }
    }
}

/// What is kept of an object of any judged kind.
pub(super) const OBJECT: Keep = Keep::Fields(&[
    (
        "metadata",
        Keep::Fields(&[
            ("name", Keep::All),
            ("namespace", Keep::All),
            ("uid", Keep::All),
            ("resourceVersion", Keep::All),
            ("generation", Keep::All),
            ("deletionTimestamp", Keep::All),
            ("labels", Keep::Known(&[], &[Labels::<()>::KEYS])),
            ("annotations", Keep::Known(&[], &[Annotations::<()>::KEYS, RECOVERY])),
        ]),
    ),
    (
        "spec",
        Keep::Known(
            &[
                ("artifacts", Keep::List(&OUTPUT)),
                ("install", ACTION),
                ("upgrade", ACTION),
                ("variants", Keep::List(&VARIANT)),
            ],
            &[Spec::KEYS],
        ),
    ),
    (
        "status",
        Keep::Known(
            &[
                ("conditions", Keep::List(&CONDITION)),
                ("artifact", ARTIFACT),
                ("includedArtifacts", Keep::List(&ARTIFACT)),
                ("history", Keep::List(&RELEASE)),
                ("inventory", Keep::Inventory),
                ("plan", Keep::Fields(&[("pending", Keep::All)])),
            ],
            &[Status::KEYS],
        ),
    ),
]);

/// Writes what is to be kept of a value as JSON.
pub(super) struct Compact<'o> {
    pub(super) keep: &'static Keep,
    pub(super) out: &'o mut Vec<u8>,
}

impl Compact<'_> {
    fn write<T: Serialize + ?Sized, E: Error>(self, value: &T) -> Result<(), E> {
        serde_json::to_writer(self.out, value).map_err(E::custom)
    }
}

impl<'de> DeserializeSeed<'de> for Compact<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Compact<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.write(&value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.write(&value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.write(&value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.write(&value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        let cut = if matches!(self.keep, Keep::Text) { value.floor_char_boundary(TEXT) } else { value.len() };
        self.write(value.get(..cut).unwrap_or(value))
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let keep = match self.keep {
            Keep::List(entry) => entry,
            Keep::Inventory => &GENERATED,
            Keep::Entries => &ID,
            // A list where none should be: core says so.
            _ => &Keep::All,
        };
        self.out.push(b'[');
        let start = self.out.len();
        loop {
            let before = self.out.len();
            if before > start {
                self.out.push(b',');
            }
            let entry = self.out.len();
            if seq.next_element_seed(Compact { keep, out: self.out })?.is_none() {
                self.out.truncate(before);
                break;
            }
            if matches!(self.keep, Keep::Entries) && !self.out.get(entry..).is_some_and(is_judged) {
                self.out.truncate(before);
            }
        }
        self.out.push(b']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.out.push(b'{');
        let mut first = true;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            let Some(keep) = self.keep.field(&key) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if !std::mem::take(&mut first) {
                self.out.push(b',');
            }
            serde_json::to_writer(&mut *self.out, &key).map_err(A::Error::custom)?;
            self.out.push(b':');
            map.next_value_seed(Compact { keep, out: self.out })?;
        }
        self.out.push(b'}');
        Ok(())
    }
}

/// Whether an inventory entry is of a kind that is judged. One that cannot be read is left for core to complain of.
fn is_judged(entry: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Entry<'a> {
        #[serde(borrow)]
        id: Option<Cow<'a, str>>,
    }
    match serde_json::from_slice::<Entry<'_>>(entry) {
        Ok(entry) => entry.id.is_none_or(|id| sluicegate_core::object::parse_id(&id).is_some()),
        Err(_) => true,
    }
}

/// What is kept of an object.
///
/// # Errors
/// Where it is no JSON object, or nested deeper than a reader goes.
pub(super) fn compact<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<[u8]>, D::Error> {
    let mut out = Vec::with_capacity(1_024);
    deserializer.deserialize_map(Compact { keep: &OBJECT, out: &mut out })?;
    Ok(out.into_boxed_slice())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::{Value, json};
    use sluicegate_core::object::{KINDS, Object};
    use sluicegate_core::settled::blockers;
    use sluicegate_core::testing::{object, sample, snapshot};

    fn kept(json: &str) -> String {
        let bytes = compact(&mut serde_json::Deserializer::from_str(json)).unwrap();
        String::from_utf8(bytes.into()).unwrap()
    }

    #[rstest]
    #[case(r#"{"kind":"x","spec":{"values":{"a":[1]},"wait":true,"path":"./"}}"#, r#"{"spec":{"wait":true}}"#)]
    #[case(
        r#"{"metadata":{"managedFields":[{}],"name":"n","labels":{"a":"b"}}}"#,
        r#"{"metadata":{"name":"n","labels":{}}}"#
    )]
    #[case(
        r#"{"status":{"conditions":[{"type":"Ready","x":1},{"type":"B"}]}}"#,
        r#"{"status":{"conditions":[{"type":"Ready"},{"type":"B"}]}}"#
    )]
    #[case(
        r#"{"status":{"inventory":{"entries":[{"id":"a_b__ConfigMap","v":"v1"},
            {"id":"a_b_helm.toolkit.fluxcd.io_HelmRelease","v":"v2"},{"id":"a_c__Secret"}]}}}"#,
        r#"{"status":{"inventory":{"entries":[{"id":"a_b_helm.toolkit.fluxcd.io_HelmRelease"}]}}}"#
    )]
    #[case(
        r#"{"status":{"inventory":[{"name":"e","digest":"d","filename":"f"}]}}"#,
        r#"{"status":{"inventory":[{"name":"e","digest":"d"}]}}"#
    )]
    #[case(
        r#"{"spec":null,"status":{"conditions":null,"history":7,"artifact":[1,{"revision":2}]}}"#,
        r#"{"spec":null,"status":{"conditions":null,"history":7,"artifact":[1,{"revision":2}]}}"#
    )]
    #[case(
        r#"{"spec":{"suspend":"yes","dependsOn":{"a":1.5}}}"#,
        r#"{"spec":{"suspend":"yes","dependsOn":{"a":1.5}}}"#
    )]
    fn keeps_what_is_judged(#[case] json: &str, #[case] expected: &str) {
        assert_eq!(kept(json), expected);
    }

    #[test]
    fn a_long_message_is_cut_and_a_revision_is_not() {
        let long = "é".repeat(2_000);
        let json = json!({"status": {"conditions": [{"message": long}], "lastAppliedRevision": long}});
        let kept: Value = serde_json::from_str(&kept(&json.to_string())).unwrap();
        assert_eq!(kept["status"]["conditions"][0]["message"].as_str().unwrap().len(), TEXT);
        assert_eq!(kept["status"]["lastAppliedRevision"], long);
    }

    #[test]
    fn depth_where_nothing_is_kept_does_no_harm() {
        let deep = format!(r#"{{"spec":{{"values":{}{},"wait":true}}}}"#, "[".repeat(9_000), "]".repeat(9_000));
        assert_eq!(kept(&deep), r#"{"spec":{"wait":true}}"#);
    }

    /// Nothing that a decision reads gets lost: each kind is judged from what is kept as from the whole.
    #[test]
    fn every_kind_is_judged_the_same() {
        let samples = [
            sample::artifact_generator("ns", "a"),
            sample::bucket("ns", "a"),
            sample::external_artifact("ns", "a"),
            sample::git_repository("ns", "repo"),
            sample::helm_chart("ns", "ns-a"),
            sample::helm_release("ns", "a"),
            sample::helm_repository("ns", "a"),
            sample::kustomization("ns", "a"),
            sample::oci_repository("ns", "a"),
            sample::package("a"),
            sample::package_source("a"),
            sample::resource_set("ns", "a"),
            sample::terraform("ns", "a"),
        ];
        assert_eq!(samples.len(), KINDS.len());
        let whole = snapshot(&samples);
        for json in &samples {
            let before = object(json);
            let after = Object::decode(before.reference.clone(), kept(&json.to_string()).as_bytes()).unwrap();
            assert_eq!(before.needs(), after.needs());
            assert_eq!(blockers(&before, &whole), blockers(&after, &whole));
            assert_eq!(format!("{:?}", before.metadata), format!("{:?}", after.metadata));
            assert_eq!(before.spec, after.spec);
        }
    }

    /// Each field of the masks that the gate reads with is among those that are kept.
    #[test]
    fn every_masked_field_is_kept() {
        for row in &KINDS {
            for mask in row.field_mask.iter().filter(|mask| **mask != "spec") {
                let mut keep = &OBJECT;
                for part in mask.split('.') {
                    keep = match keep {
                        Keep::Fields(fields) => {
                            &fields.iter().find(|(name, _)| *name == part).unwrap_or_else(|| panic!("{mask}")).1
                        }
                        _ => keep,
                    };
                }
            }
        }
    }
}
