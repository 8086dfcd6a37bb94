//! Expressions that would take the stack, the memory or the time of the process.

use super::{Failure, ROOMY, SMALL, Variables, on_stack};
use crate::expression::{Scope, check, evaluate};
use crate::testing::expression::{longest, loops, nested};
use rstest::rstest;
use serde_json::{Value, json};

fn small() -> Value {
    json!({"l": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], "s": "x".repeat(100), "m": {"a": 1}})
}

/// Evaluates over `self` and `dep`, both `dep`.
fn ask(text: String, dep: Value) -> Result<bool, Failure> {
    ask_on(ROOMY, text, dep)
}

fn ask_on(stack: usize, text: String, dep: Value) -> Result<bool, Failure> {
    on_stack(stack, move || evaluate(&text, Scope::SelfAndDep { this: &dep, dep: &dep }))
}

/// Neither the parser, nor what walks or drops its tree, may go as deep as these.
#[rstest]
#[case::sum(longest("1", "+1", "==1"))]
#[case::index(longest("dep.l", "[0]", "==1"))]
#[case::select(longest("dep", ".a", "==1"))]
#[case::optional_select(longest("dep", ".?a", "==dep"))]
#[case::unary(longest("", "!-", "true"))]
#[case::conditional(longest("", "a?b:", "c"))]
#[case::conditional_of_conditions(longest("a", "?b:c", ""))]
#[case::member_calls(longest("dep", ".size()", "==1"))]
#[case::macros_in_a_row(longest("dep.l", ".map(x,x)", "==[]"))]
#[case::lists(nested(500, "[", "1", "]"))]
#[case::open_lists(nested(1000, "[", "", ""))]
#[case::parentheses_and_more(nested(250, "(1+", "1", ")"))]
#[case::calls(nested(250, "f(", "1", ")"))]
#[case::maps(nested(200, "{1:", "1", "}"))]
#[case::negations(nested(300, "!(", "true", ")"))]
#[case::macros(loops("dep.l", "all", 26, "true"))]
#[case::optional_maps(nested(60, "dep.?m.optMap(x,", "x", ")"))]
fn is_too_deep(#[case] text: String) {
    assert!(text.len() <= 1024);
    let failure = ask_on(SMALL, text, small()).unwrap_err();
    assert!(matches!(failure, Failure::TooDeep | Failure::TooCostly | Failure::Invalid(_)), "{failure:?}");
}

/// As deep as is allowed, through everything that recurses.
#[rstest]
#[case::sum(format!("1{} == 91", "+1".repeat(90)))]
#[case::logic(format!("{}dep.m.a == 1", "dep.m.a == 1 && ".repeat(60)))]
#[case::alternatives(format!("{}true", "false || ".repeat(110)))]
#[case::conditional(format!("{}true", "false ? false : ".repeat(60)))]
#[case::lists(format!("{} == {}", nested(31, "[", "1", "]"), nested(31, "[", "1", "]")))]
#[case::parentheses(nested(400, "(", "true", ")"))]
#[case::unary(format!("{}true", "!".repeat(1000)))]
#[case::macros(loops("[1]", "all", 14, "true"))]
#[case::optional_alternatives(longest("dep.?a", ".or(dep.?a)", "==dep.?a"))]
#[case::optionals(format!("dep.?z{}.orValue(1) == 1", ".or(dep.?z)".repeat(20)))]
fn is_deep_and_allowed(#[case] text: String) {
    assert!(text.len() <= 1024);
    assert_eq!(ask(text, small()), Ok(true));
}

/// A long flat list of conditions is balanced by the parser: a tree of a few levels.
#[test]
fn a_long_conjunction_is_not_deep() {
    let text = longest("", "dep.m.a==1&&", "true");
    assert_eq!(text.matches("&&").count(), 85);
    assert_eq!(ask(text, small()), Ok(true));
}

#[rstest]
#[case::nested_all(loops("[0,0]", "all", 9, "true"), true)]
#[case::over_the_object(loops("dep.l", "all", 9, "true"), false)]
#[case::exists(loops("dep.l", "exists", 7, "false"), false)]
#[case::filter(loops("dep.l", "filter", 7, "true") + " == []", false)]
#[case::doubled_text(format!("['x']{} == []", ".map(x,x+x)".repeat(30)), false)]
#[case::doubled_list(format!("[[1]]{} == []", ".map(x,x+x)".repeat(30)), false)]
#[case::pairs(format!("[1]{} == []", ".map(x,[x,x])".repeat(25)), false)]
#[case::squared("dep.l.map(a,dep.l).map(a,a.map(b,dep.l)).map(a,a.map(b,b.map(c,dep.l.map(d,dep.l)))) == []".into(), false)]
#[case::replace(format!("dep.s{} == ''", ".replace('','xxxxxxxxxxxx')".repeat(12)), false)]
#[case::join("dep.s.split('').map(x,dep.s).join(dep.s).split('').map(x,dep.s).join(dep.s) == ''".into(), false)]
#[case::format(format!("['%s%s']{} == []", ".map(x,x.format([x,x]))".repeat(12)), false)]
#[case::format_of_objects(format!("'%s'.format([[{}]]) == ''", vec!["dep"; 200].join(",")), true)]
#[case::quote(format!("{} == ''", nested(28, "strings.quote(", "dep.s", ")")), false)]
#[case::encode(format!("{} == ''", nested(15, "base64.encode(bytes(", "dep.s", "))")), true)]
#[case::deep_values(format!("dep.l{} == []", ".map(x,[[[[[[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]]]]]])".repeat(10)), false)]
#[case::optional_pairs(format!("dep.?m{} == dep", ".optMap(x,{'a':x,'b':x})".repeat(7)), true)]
#[case::sets("sets.contains(dep.l.map(x,dep.l),dep.l.map(x,dep.l))".into(), true)]
#[case::sets_of_loops(format!("sets.contains({0}, {0})", loops("dep.l", "map", 4, "dep.l")), false)]
#[case::matches(loops("dep.s.split('')", "all", 2, "dep.s.matches('(x|xx|xxx|xxxx)*y')"), false)]
#[case::errors_in_loops(loops("dep.l", "all", 6, "dep < 1"), false)]
fn is_bounded(#[case] text: String, #[case] allowed: bool) {
    assert!(text.len() <= 1024);
    let answer = ask(text, small());
    assert_eq!(answer != Err(Failure::TooCostly) && answer != Err(Failure::TooDeep), allowed, "{answer:?}");
}

/// Patterns that other engines choke on are refused by their size, or run in linear time.
#[rstest]
#[case::backtracking("(x+x+)+y", Ok(false))]
#[case::repeated("((((x{30}){30}){30}){30})", Err("function failed: matches"))]
#[case::optional_repeated("(x?){500}x{500}", Err("function failed: matches"))]
#[case::counted("x{100}", Ok(true))]
fn patterns_are_bounded(#[case] pattern: &str, #[case] answer: Result<bool, &str>) {
    let expected = answer.map_err(|words| Failure::Evaluation(words.to_owned()));
    assert_eq!(ask(format!("dep.s.matches('{pattern}')"), small()), expected);
}

#[test]
fn groups_of_patterns_do_not_nest_deep() {
    let pattern = nested(300, "(", "x", ")");
    assert_eq!(
        ask(format!("dep.s.matches('{pattern}')"), small()),
        Err(Failure::Evaluation("function failed: matches".to_owned()))
    );
}

/// The same text, by the size of what it looks at.
#[rstest]
#[case::one_loop("dep.l.all(x, x < 1)", 10_000, true)]
#[case::two_loops("dep.l.all(x, dep.l.exists(y, y == x))", 100, true)]
#[case::two_loops("dep.l.all(x, dep.l.exists(y, y == x))", 10_000, false)]
#[case::inventory("dep.o.all(e, e.id.endsWith('_Kustomization') && e.v == 'v1')", 10_000, true)]
#[case::filtered("dep.o.filter(e, e.id.startsWith('ns')).map(e, e.id).size() > 0", 10_000, true)]
#[case::compared("dep.o == dep.o", 10_000, true)]
#[case::text("dep.s.matches('^x+$')", 10_000, true)]
#[case::text_in_loop("dep.l.all(x, dep.s.matches('^x+$'))", 2_000, false)]
#[case::something_else("dep.o.size() > 1 && dep.l[0] == 0", 100_000, true)]
fn real_sizes_count(#[case] text: &str, #[case] size: usize, #[case] allowed: bool) {
    let entry = |i: usize| json!({"id": format!("ns_app-{i}_kustomize.toolkit.fluxcd.io_Kustomization"), "v": "v1"});
    let dep = json!({
        "l": vec![0; size],
        "s": "x".repeat(size),
        "o": (0..size).map(entry).collect::<Vec<_>>(),
    });
    let answer = evaluate(text, Scope::SelfAndDep { this: &Value::Null, dep: &dep });
    assert_eq!(answer != Err(Failure::TooCostly), allowed, "{answer:?}");
}

/// Without objects, ordinary ones are assumed.
#[rstest]
#[case("dep.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')", Ok(()))]
#[case("dep.status.a.all(x, self.status.a.exists(y, y.name == x.name))", Ok(()))]
#[case("['x'].map(x,x+x).map(x,x+x).map(x,x+x) == []", Ok(()))]
fn ordinary_objects_are_assumed(#[case] text: &str, #[case] expected: Result<(), Failure>) {
    assert_eq!(check(text, Variables::SelfAndDep), expected);
}

#[test]
fn bombs_are_found_without_objects() {
    let text = loops("dep.status.conditions", "all", 9, "true");
    assert_eq!(check(&text, Variables::SelfAndDep), Err(Failure::TooCostly));
}
