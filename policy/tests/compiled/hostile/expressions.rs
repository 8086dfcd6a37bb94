//! Expressions that would take the stack, the memory or the time of the guest, by way of an unsuspend.

use super::*;
use sluicegate_core::testing::expression::{longest, loops, nested};

/// The answer to the resume of an object that waits by this expression for one that is large in places.
fn resumed_by(expression: &str) -> crate::harness::Answer {
    let list: Vec<usize> = (0..200).collect();
    let dep =
        with(sample::kustomization("n", "a"), &[("/spec/l", json!(list)), ("/spec/s", json!("x".repeat(10_000)))]);
    let x = having(sample::kustomization("n", "x"), "dependsOn", json!([{"name": "a", "readyExpr": expression}]));
    Gate::over([sample::git_repository("n", "repo"), dep]).resume(PERSON, &x)
}

const START: &str = "refused: premature unsuspend: Kustomization/n/x waits for Kustomization/n/a: cannot be judged by \
                     spec.dependsOn[0].readyExpr: ";

#[rstest]
#[case::sum(longest("1", "+1", "==1"))]
#[case::index(longest("dep.spec.l", "[0]", "==1"))]
#[case::select(longest("dep", ".a", "==1"))]
#[case::optional_select(longest("dep", ".?a", "==dep"))]
#[case::unary(longest("", "!-", "true"))]
#[case::conditional(longest("", "a?b:", "c"))]
#[case::member_calls(longest("dep", ".size()", "==1"))]
#[case::lists(nested(500, "[", "1", "]"))]
#[case::open_lists("[".repeat(1_000))]
#[case::maps(nested(200, "{1:", "1", "}"))]
#[case::negations(nested(300, "!(", "true", ")"))]
#[case::macros(loops("dep.spec.l", "all", 26, "true"))]
#[case::nine_loops(loops("dep.spec.l", "all", 9, "true"))]
#[case::exists(loops("dep.spec.l", "exists", 7, "false"))]
#[case::doubled_text(format!("['x']{} == []", ".map(x,x+x)".repeat(30)))]
#[case::doubled_list(format!("[[1]]{} == []", ".map(x,x+x)".repeat(30)))]
#[case::pairs(format!("[1]{} == []", ".map(x,[x,x])".repeat(25)))]
#[case::replace(format!("dep.spec.s{} == ''", ".replace('','xxxxxxxxxxxx')".repeat(12)))]
#[case::format(format!("['%s%s']{} == []", ".map(x,x.format([x,x]))".repeat(12)))]
#[case::quote(format!("{} == ''", nested(28, "strings.quote(", "dep.spec.s", ")")))]
#[case::matches(loops("dep.spec.s.split('')", "all", 2, "dep.spec.s.matches('(x|xx|xxx|xxxx)*y')"))]
#[case::repeated_pattern("dep.spec.s.matches('((((x{30}){30}){30}){30})')".into())]
#[case::deep_pattern(format!("dep.spec.s.matches('{}')", nested(400, "(", "x", ")")))]
#[case::huge("true || ".repeat(200_000) + "true")]
#[case::nasty(NASTY.repeat(20))]
#[case::hostile_names(longest("dep.", "\u{202e}", "==1"))]
fn a_bomb_has_no_answer_and_says_why(#[case] expression: String) {
    let answer = resumed_by(&expression);
    assert!(answer.said().starts_with(START), "{}", answer.said());
    assert!(answer.texts().len() < 1_000, "{}", answer.texts());
    answer.reads_only(&["GitRepository/n/repo", "Kustomization/n/a"]);
}

/// As deep as is allowed, through everything that recurses: the guest's stack is large enough for it.
#[rstest]
#[case::sum(format!("1{} == 91", "+1".repeat(90)))]
#[case::conjunction(longest("", "dep.spec.l[0]==0&&", "true"))]
#[case::conditional(format!("{}true", "false ? false : ".repeat(60)))]
#[case::lists(format!("{} == {}", nested(31, "[", "1", "]"), nested(31, "[", "1", "]")))]
#[case::parentheses(nested(400, "(", "true", ")"))]
#[case::unary(format!("{}true", "!".repeat(1000)))]
#[case::loops(loops("[1]", "all", 14, "true"))]
fn what_is_allowed_fits_the_stack(#[case] expression: String) {
    resumed_by(&expression).is_silent();
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn any_expression(expression in "[a-z0-9.?:,'\"()\\[\\]{}!&|=<>+*/% -]{0,200}") {
        let said = resumed_by(&expression).said();
        prop_assert!(said == "admitted" || said.starts_with("refused: premature unsuspend: "), "{}", said);
    }

    /// Pieces that fit together more often.
    #[test]
    fn any_pieces(pieces in prop::collection::vec(prop::sample::select(vec![
        "dep", "self", ".spec", ".l", ".s", ".map(x,", ".all(y,", ".filter(z,", "x", "y", "z", "[0]", "+", "==", "&&", "||",
        "!", "(", ")", ")", "'a'", "1", "true", ".size()", ".split('')", ".join()", ".matches('x*')", "?", ":", ".?a",
        ".orValue(1)", "{'a':", "}", "[", "]", ",", ".format([", ".replace('','x')", "timestamp(", "duration('1h')",
    ]), 1..40)) {
        resumed_by(&pieces.concat());
    }
}
