use super::*;
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Map, Value, json};

/// `kept` and `deep.kept`.
#[derive(Clone, Copy)]
enum Two {
    Top,
    Deep,
}

impl<'a> Place<'a> for Two {
    type Found = [Option<&'a [u8]>; 2];

    fn step(self, key: &[u8]) -> Step<Self> {
        match (self, key) {
            (Self::Top, b"deep") => Step::Into(Self::Deep),
            (Self::Top, b"kept") => Step::Keep(0),
            (Self::Deep, b"kept") => Step::Keep(1),
            _ => Step::Skip,
        }
    }

    fn slot<'s>(self, found: &'s mut Self::Found, index: usize) -> Option<&'s mut Option<&'a [u8]>> {
        found.get_mut(index)
    }
}

fn kept(document: &str) -> Option<[Option<String>; 2]> {
    let mut found = [None; 2];
    keep(document.as_bytes(), Two::Top, &mut found)?;
    Some(found.map(|value| value.map(|value| String::from_utf8(value.to_vec()).unwrap())))
}

#[rstest]
#[case("{}", [None, None])]
#[case(r#"{"kept":1}"#, [Some("1"), None])]
#[case(" { \"kept\" :\t[ 1 , {\"a\":\"]\"} ] ,\n\"deep\" : { } } ", [Some(r#"[ 1 , {"a":"]"} ]"#), None])]
#[case(r#"{"deep":{"kept":"a\"}\\","x":{"kept":2}},"kept":null}"#, [None, Some(r#""a\"}\\""#)])]
#[case(r#"{"other":{"kept":1},"kept":true}"#, [Some("true"), None])]
#[case(r#"{"a":"0123456\\","b":"01234567\"","c":"\\\\","kept":-1.5e3}"#, [Some("-1.5e3"), None])]
fn values_are_kept_as_they_stand(#[case] document: &str, #[case] expected: [Option<&str>; 2]) {
    assert_eq!(kept(document).unwrap(), expected.map(|value| value.map(str::to_owned)));
}

#[rstest]
#[case::nothing("")]
#[case::list("[]")]
#[case::no_object(r#"{"deep":null}"#)]
#[case::twice(r#"{"kept":1,"kept":2}"#)]
#[case::escaped_key(r#"{"k\u0065pt":1}"#)]
#[case::goes_on("{} {}")]
#[case::no_value(r#"{"kept":}"#)]
#[case::no_colon(r#"{"kept" 1}"#)]
#[case::no_comma(r#"{"a":1 "kept":1}"#)]
#[case::one_bracket_too_many(r#"{"a":[]]}"#)]
#[case::only_a_comma(r#"{"a":,}"#)]
#[case::open_string(r#"{"kept":"a}"#)]
#[case::open_escape("{\"kept\":\"a\\")]
fn what_is_no_such_object_is_not_read(#[case] document: &str) {
    assert_eq!(kept(document), None);
}

#[test]
fn depth_costs_no_stack() {
    let deep = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    assert_eq!(kept(&format!(r#"{{"a":{deep},"kept":{deep}}}"#)).unwrap()[0].as_deref(), Some(&*deep));
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[\"\\\\a{}\\[\\],: ]{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 30, 5, |inner| {
        let key = prop_oneof!["kept", "deep", "[a-z]{0,12}", any::<String>()];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..5).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Beside serde_json, on whatever it writes.
    #[test]
    fn what_is_kept_is_what_stands_there(kept_value in value(), deep in value(), other in value(), pretty: bool) {
        let document = json!({"a": other, "kept": kept_value, "deep": {"kept": deep, "z": other}, "zz": other});
        let text = if pretty { serde_json::to_string_pretty(&document) } else { serde_json::to_string(&document) }.unwrap();
        let found = kept(&text).unwrap();
        for (found, expected) in found.iter().zip([&kept_value, &deep]) {
            // Both through serde_json's reader, which rounds some numbers (without its feature float_roundtrip).
            let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            prop_assert_eq!(found.as_deref().map_or(Value::Null, read), read(&expected.to_string()));
        }
    }

    /// No end of a document is taken for the whole of it, and nothing panics.
    #[test]
    fn a_part_of_a_document_is_no_document(document in value(), at in any::<prop::sample::Index>()) {
        let mut whole = Map::new();
        whole.insert("x".into(), document);
        let text = Value::Object(whole).to_string();
        let cut = at.index(text.len());
        prop_assert!(!text.is_char_boundary(cut) || kept(&text[..cut]).is_none());
    }
}
