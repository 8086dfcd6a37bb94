//! Expressions without an answer.

use super::{Failure, Variables, ask, ask_fields, dep, this};
use crate::expression::{Expression, Scope, check, evaluate};
use rstest::rstest;
use serde_json::{Value, json};

fn invalid(words: &str) -> Result<bool, Failure> {
    Err(Failure::Invalid(words.to_owned()))
}

fn evaluation(words: &str) -> Result<bool, Failure> {
    Err(Failure::Evaluation(words.to_owned()))
}

#[test]
fn the_longest_text_is_1024_bytes() {
    let of = |bytes: usize| format!("true{}", " ".repeat(bytes - 4));
    assert_eq!(ask(&of(1024)), Ok(true));
    assert_eq!(ask(&of(1025)), Err(Failure::TooLong { bytes: 1025 }));
    // Bytes, not characters.
    assert_eq!(ask(&format!("'{}' == ''", "ä".repeat(600))), Err(Failure::TooLong { bytes: 1208 }));
}

#[rstest]
#[case::lists(32, true)]
#[case::lists(33, false)]
fn nesting_ends_at_32(#[case] levels: usize, #[case] allowed: bool) {
    let text = format!("{}1{} == []", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(ask(&text) != Err(Failure::TooDeep), allowed);
}

#[rstest]
#[case::nothing("", "1:1: Syntax error: mismatched input '<EOF>' expecting expression")]
#[case::unfinished("dep.status.", "1:12: expected identifier after '.'")]
#[case::reserved("dep.status.n == 1 ? as : 2", "1:21: reserved identifier: as")]
#[case::escaped("dep.a.`b-c` == 1", "1:7: unsupported syntax: '`'")]
#[case::second_line("true &&\n  ) ", "2:3: unexpected token")]
#[case::no_name("dep.status.l.all(1, true)", "1:18: argument must be a simple name")]
#[case::no_name_of_ours("dep.?a.optMap(1, 2).hasValue()", "optMap() variable name must be a simple identifier")]
fn does_not_parse(#[case] text: &str, #[case] words: &str) {
    assert_eq!(ask(text), invalid(words));
    assert_eq!(ask_fields(text), invalid(words));
    assert_eq!(check(text, Variables::Fields), Err(Failure::Invalid(words.to_owned())));
}

/// Flux compiles over `self` and `dep`, so that an undeclared name counts even where it is not reached.
#[rstest]
#[case::variable("foo == 1", "undeclared reference to 'foo'")]
#[case::not_reached("true || foo", "undeclared reference to 'foo'")]
#[case::function("now() > 1", "undeclared reference to 'now'")]
#[case::member("dep.status.l.foo()", "undeclared reference to 'foo'")]
#[case::in_namespace("sets.union([1], [2]) == []", "undeclared reference to 'sets.union'")]
#[case::macro_without_enough("dep.status.l.all(x)", "undeclared reference to 'x'")]
#[case::out_of_scope("[1].all(x, x > 0) && x > 0", "undeclared reference to 'x'")]
#[case::field_without_dep("status.ready == true", "undeclared reference to 'status'")]
fn undeclared(#[case] text: &str, #[case] words: &str) {
    assert_eq!(ask(text), invalid(words));
    assert_eq!(check(text, Variables::SelfAndDep), Err(Failure::Invalid(words.to_owned())));
    assert_eq!(check(text, Variables::Fields), Ok(()));
}

#[rstest]
#[case("1", "int")]
#[case("'true'", "string")]
#[case("dep", "map")]
#[case("[true]", "list")]
#[case("null", "null")]
#[case("dep.metadata.name.size()", "int")]
#[case("type(dep)", "type")]
#[case("dep.status.?ready", "optional")]
#[case("timestamp(dep.status.t)", "timestamp")]
// Flux cannot know that these are booleans.
#[case("dep.status.ready", "dyn")]
#[case("dep.status['ready']", "dyn")]
#[case("dep.status.?ready.orValue(false)", "dyn")]
#[case("dep.status.?ready.value()", "dyn")]
#[case("dep.status.n == 1 ? dep.status.ready : true", "dyn")]
#[case("dyn(true)", "dyn")]
fn is_not_boolean(#[case] text: &str, #[case] kind: &'static str) {
    assert_eq!(ask(text), Err(Failure::NotBoolean { kind }));
}

#[rstest]
#[case("status.s", "string")]
#[case("status.n", "int")]
#[case("status.?ready", "optional")]
#[case("status.?n.orValue(2)", "int")]
fn is_not_boolean_once_evaluated(#[case] text: &str, #[case] kind: &'static str) {
    assert_eq!(ask_fields(text), Err(Failure::NotBoolean { kind }));
    assert_eq!(check(text, Variables::Fields), Ok(()));
}

#[rstest]
#[case("dep.status.nope == 1", "no such key: nope")]
#[case("has(dep.nope.x)", "no such key: nope")]
#[case("dep.status.conditions.all(c, c.observedGeneration == 2)", "no such key: observedGeneration")]
#[case("dep.status.l[5] == 1", "index out of bounds")]
#[case("dep.status.l['a'] == 1", "no such overload: _[_](list, string)")]
#[case("dep.status.s.x == 'x'", "no such overload: _._(string, string)")]
#[case("dep.status.n / 0 == 1", "division by zero")]
#[case("dep.status.n % 0 == 1", "modulus by zero")]
#[case("dep.status.max + 1 == 0", "integer overflow")]
#[case("dep.status.n + 1u == 2u", "no such overload")]
#[case("dep.status.n && true", "no such overload: _&&_(int, bool)")]
#[case("dep.status.s.all(x, true)", "no such overload: string instead of iterable")]
#[case("timestamp(dep.status.s) == timestamp(0)", "function failed: timestamp")]
#[case("dep.status.s.matches('[')", "function failed: matches")]
#[case("dep.status.?x.value() == 1", "function failed: value")]
fn fails(#[case] text: &str, #[case] words: &str) {
    assert_eq!(ask(text), evaluation(words));
}

#[test]
fn a_field_that_is_no_variable_fails() {
    assert_eq!(ask_fields("nope == 1"), evaluation("undeclared reference: nope"));
    assert_eq!(ask_fields("dep.status.ready"), evaluation("undeclared reference: dep"));
}

/// Nothing of an object gets into a failure but the keys that were looked for, and of those not too much.
#[test]
fn failures_are_short_and_do_not_show_values() {
    let secret = "hunter2".repeat(1000);
    let dep = json!({"a": secret, "l": [secret], "m": {"k": secret}});
    let this = Value::Null;
    let scope = Scope::SelfAndDep { this: &this, dep: &dep };
    for text in
        ["dep.a + 1 == 2", "dep.a < 1", "dep.l[dep.m] == 1", "dep.m < dep.l", "duration(dep.a) == duration('1s')"]
    {
        let Err(Failure::Evaluation(words)) = evaluate(text, scope) else { panic!("{text} has an answer") };
        assert!(!words.contains("hunter2"), "{words}");
    }
    let Err(Failure::Evaluation(words)) = evaluate("dep.m[dep.a] == 1", scope) else { panic!("an answer") };
    assert_eq!(words.chars().count(), "no such key: ".len() + 65);
    let Err(Failure::Invalid(words)) = evaluate(&"x".repeat(1000), scope) else { panic!("valid") };
    assert_eq!(words.chars().count(), 201);
}

#[test]
fn an_object_may_nest_128_levels_where_it_is_looked_at() {
    let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let ask =
        |levels: usize, text: &str| evaluate(text, Scope::Fields(&json!({"deep": nested(levels), "other": true})));
    assert_eq!(ask(120, "deep.size() == 1"), Ok(true));
    assert_eq!(ask(200, "deep.size() == 1"), Err(Failure::TooDeep));
    assert_eq!(ask(200, "other"), Ok(true));
}

#[test]
fn the_scope_has_to_have_the_variables() {
    let expression = Expression::parse("status.ready", Variables::Fields).unwrap();
    assert_eq!(expression.variables(), Variables::Fields);
    assert_eq!(expression.evaluate(Scope::Fields(&dep())), Ok(true));
    let wrong = expression.evaluate(Scope::SelfAndDep { this: &this(), dep: &dep() });
    assert_eq!(wrong, evaluation("undeclared reference: status"));
}
