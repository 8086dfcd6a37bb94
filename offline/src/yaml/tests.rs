use super::{documents, to_value};
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

fn read(text: &str) -> (Vec<Value>, Vec<String>) {
    let (found, broken) = documents(text);
    let broken = broken.into_iter().map(|broken| format!("{}: {}", broken.line, broken.why)).collect();
    (found.iter().map(to_value).collect(), broken)
}

#[rstest]
#[case("a: 1\nb: [x, 'y', \"z\\n\"]\n", json!({"a": 1, "b": ["x", "y", "z\n"]}))]
#[case("a: yes\nb: 'yes'\nc: !!str yes\n", json!({"a": true, "b": "yes", "c": "yes"}))]
#[case("base: &b {x: 1, y: 2}\nown:\n  <<: *b\n  y: 3\n", json!({"base": {"x": 1, "y": 2}, "own": {"x": 1, "y": 3}}))]
#[case("own:\n  y: 3\n  <<: [{x: 1}, {x: 2, z: 4}]\n", json!({"own": {"x": 1, "y": 3, "z": 4}}))]
#[case("a: |\n  one\n  two\n", json!({"a": "one\ntwo\n"}))]
#[case("\u{feff}a: 1\r\nb: 2\r\n", json!({"a": 1, "b": 2}))]
#[case("{\"a\": {\"b\": [1.5, null]}}", json!({"a": {"b": [1.5, null]}}))]
#[case("1: x\ntrue: y\n", json!({"1": "x", "true": "y"}))]
fn one_document(#[case] text: &str, #[case] expected: Value) {
    assert_eq!(read(text), (vec![expected], vec![]));
}

#[test]
fn documents_follow_each_other_and_empty_ones_do_not_count() {
    let text = "---\na: 1\n---\n# nothing\n---\nb: 2\n...\n---\n~\n";
    assert_eq!(read(text), (vec![json!({"a": 1}), json!({"b": 2})], vec![]));
    assert_eq!(read(""), (vec![], vec![]));
}

#[test]
fn what_follows_a_broken_document_is_read() {
    let (found, broken) = read("a: 1\n---\nb: [1,\n---\nc: 3\n");
    assert_eq!(found, [json!({"a": 1}), json!({"c": 3})]);
    insta::assert_snapshot!(broken.join("\n"), @"3: this is no YAML: unclosed bracket '['");
}

#[test]
fn a_key_that_is_given_twice_is_told_of_and_the_last_one_counts() {
    let (found, broken) = read("a: 1\nb: 2\na: 3\n");
    assert_eq!(found, [json!({"b": 2, "a": 3})]);
    assert_eq!(broken, ["3: key a is given twice"]);
    let many: String = (0..100).map(|n| format!("k{n}: {n}\n")).collect();
    assert_eq!(read(&format!("{many}k50: x\n")).1, ["101: key k50 is given twice"]);
}

#[test]
fn lines_are_those_of_the_text() {
    let (found, _) = documents("a: 1\nb:\n  - x\n  - y: 2\n");
    let list = found[0].get("b").unwrap();
    assert_eq!(list.items().iter().map(|item| item.line).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(found[0].entry("b").unwrap().line, 2);
}

#[test]
fn aliases_that_explode_are_refused() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..10 {
        let before = format!("*a{}, ", n - 1).repeat(10);
        text += &format!("a{n}: &a{n} [{}]\n", before.trim_end_matches(", "));
    }
    let (found, broken) = read(&text);
    assert!(found.is_empty());
    assert_eq!(broken, ["5: aliases that expand to more than 100000 values are not followed"]);
}

#[rstest]
#[case("[".repeat(50_000))]
#[case("- ".repeat(50_000))]
#[case("{a: ".repeat(50_000))]
#[case("&a [*a]".to_owned())]
#[case("? [x]\n: y".to_owned())]
#[case("a: *nowhere".to_owned())]
#[case("{{- if .Values.x }}\na: {{ .Values.y }}\n{{- end }}\n".to_owned())]
#[case("\u{0}\u{1}binary\u{7f}".to_owned())]
#[case("a: \"\\ud800\"".to_owned())]
fn hostile_texts_are_told_of_with_their_line(#[case] text: String) {
    let (_, broken) = documents(&text);
    assert!(!broken.is_empty(), "{text:.60}");
    assert!(broken.iter().all(|broken| broken.line >= 1 && broken.why.len() < 200), "{broken:?}");
}

proptest! {
    #[test]
    fn nothing_panics(text in "[-a-c:{}\\[\\],&*!|>'\"#%? \n\t<]{0,80}") {
        let (found, _) = documents(&text);
        for node in &found {
            let _ = to_value(node);
        }
    }

    #[test]
    fn json_is_read_as_json(number in any::<i64>(), text in "\\PC{0,20}", flag in any::<bool>()) {
        let value = json!({"n": number, "t": text, "b": flag, "l": [text, null, number]});
        prop_assert_eq!(read(&value.to_string()), (vec![value], vec![]));
    }
}
