//! Expressions with an answer.

use super::{ask, ask_fields};
use crate::expression::{Scope, evaluate};
use rstest::rstest;
use serde_json::json;

/// <https://github.com/fluxcd/kustomize-controller>: what people write into `readyExpr`.
#[rstest]
#[case::conditions(
    "dep.status.conditions.filter(e, e.type == 'Ready').all(e, e.status == 'True') && \
     dep.status.observedGeneration == dep.metadata.generation",
    true
)]
#[case::exists("dep.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')", true)]
#[case::guarded("has(dep.status.conditions) && dep.status.conditions.exists(c, c.type == 'Failed')", false)]
#[case::labels("dep.metadata.labels['v'] == self.metadata.labels['v']", true)]
#[case::label_or_value("dep.metadata.?labels['zz'].orValue('') == ''", true)]
#[case::annotation("dep.metadata.?annotations['zz'].orValue('none') == 'none'", true)]
#[case::first("dep.status.conditions.filter(c, c.type == 'Ready')[0].status == 'True'", true)]
#[case::generation("dep.metadata.generation + 1 == dep.status.observedGeneration + self.spec.n", true)]
#[case::version("dep.metadata.labels['v'].matches('^[0-9]+$') && int(dep.metadata.labels['v']) >= 1", true)]
#[case::comparison("dep.status.n >= 1 && dep.status.f < 2.0", true)]
#[case::time("timestamp(dep.status.t) + duration('24h') > timestamp('2024-01-03T00:00:00Z')", true)]
#[case::split("'a/b/c'.split('/')[1] == 'b' && dep.status.ls.join('-') == 'b-a'", true)]
#[case::sets("sets.contains(dep.status.l, [2]) && sets.equivalent(dep.status.l, [2, 1, 1])", true)]
#[case::encoded("string(base64.decode('aGVsbG8=')) == 'hello'", true)]
#[case::several_lines("dep.status.n == 1 && // one\n  dep.status.s == 'x'", true)]
fn answers(#[case] text: &str, #[case] answer: bool) {
    assert_eq!(ask(text), Ok(answer));
}

/// Case 31: the expression decides, whatever the condition says.
#[rstest]
#[case::equal("1.2", true)]
#[case::different("1.3", false)]
fn a_dependency_that_is_not_ready_can_be_met(#[case] version: &str, #[case] met: bool) {
    let this = json!({"metadata": {"labels": {"v": "1.2"}}});
    let dep = json!({
        "metadata": {"labels": {"v": version}},
        "status": {"conditions": [{"type": "Ready", "status": "False"}]}
    });
    let answer =
        evaluate("dep.metadata.labels['v'] == self.metadata.labels['v']", Scope::SelfAndDep { this: &this, dep: &dep });
    assert_eq!(answer, Ok(met));
}

/// A ResourceSet's expressions are about the fields of the dependency, and Flux does not check their types.
#[rstest]
#[case::conditions("status.conditions.exists(e, e.type == 'Ready' && e.status == 'True')", true)]
#[case::untyped("status.ready", true)]
#[case::variable_named_like_a_type("kind == 'Kustomization'", true)]
#[case::mixed_list("status.l + ['a'] == [1, 2, 'a']", true)]
#[case::short_circuit("true || nonsense", true)]
fn fields_are_variables(#[case] text: &str, #[case] answer: bool) {
    assert_eq!(ask_fields(text), Ok(answer));
}

/// One line an expression; the answer is cel-go's.
const AS_IN_FLUX: &[(&str, bool)] = &[
    // Types of JSON numbers.
    ("type(dep.status.n) == int", true),
    ("type(dep.status.f) == double", true),
    ("type(dep.status.max) == int", true),
    ("type(dep.status.big) == double", true),
    ("type(dep.status['null']) == null_type", true),
    ("dep.status.n == 1u && dep.status.n == dyn(1.0)", true),
    ("dep.status.big == 9223372036854775808u", true),
    ("-dep.status.neg == 1", true),
    ("dep.status.n < 1.5 && dep.status.n > 0u", true),
    ("dep.status.n == 'x'", false),
    // Presence.
    ("has(dep.status.e) && !has(dep.status.nope) && has(dep.status.m.b.c)", true),
    ("has(dep.status.?m.a)", true),
    ("dep.status[?'null'].hasValue()", true),
    ("dep.status.?x == optional.none()", true),
    ("dep.status[?'null'].?x == optional.none()", true),
    ("'ready' in dep.status && !('nope' in dep.status)", true),
    // Optionals.
    ("optional.of(true).orValue(1/0 == 0)", true),
    ("optional.none().or(optional.of(1)).value() == 1", true),
    ("optional.of(1).or(optional.of(1/0)).value() == 1", true),
    ("dep.status.?x.optMap(y, y == 1).orValue(true)", true),
    ("dep.status.?n.optMap(y, y == 1).orValue(false)", true),
    ("dep.status.?m.optFlatMap(y, y.?a).orValue(3) == 1", true),
    ("dep.status.?m.optFlatMap(y, y.?zz).orValue(3) == 3", true),
    ("dep.status.?m.optMap(m, dep.status.?n.optMap(n, m.a + n)).value().value() == 2", true),
    ("dep.status.?conditions[?0].?status.orValue('') == 'True'", true),
    ("dep.?status.conditions[0].status.orValue('') == 'True'", true),
    ("dep.status.l[?5] == optional.none() && dep.status.l[?1].value() == 2", true),
    ("dep.status.l.last().value() == 2 && dep.status.l.first().value() == 1", true),
    ("dep.status.e.first() == optional.none()", true),
    ("[optional.of(1), optional.none()].unwrapOpt() == [1]", true),
    ("optional.unwrap([optional.of(1), optional.none()]) == [1]", true),
    ("optional.ofNonZeroValue('') == optional.none()", true),
    ("{?'a': dep.status.?x} == {} && {?'a': dep.status.?n}.a == 1", true),
    // Lists, maps, macros.
    ("dep.status.l[0u] == 1 && dep.status.l[dyn(0.0)] == 1", true),
    ("dep.status.l == [1, 2] && dep.status.l == [1.0, 2.0] && dep.status.l == [1u, 2u]", true),
    ("1 in dep.status.l && dyn(1.0) in dep.status.l && !('1' in dep.status.l)", true),
    ("dep.status.conditions.exists(c, c.observedGeneration == 2)", true),
    ("dep.status.conditions.exists_one(c, c.type == 'Ready')", true),
    ("dep.status.conditions.filter(c, has(c.observedGeneration)).size() == 1", true),
    ("dep.status.conditions.map(c, c.type) == ['Ready', 'Healthy']", true),
    ("dep.status.conditions.map(c, c.status == 'True', c.type) == ['Ready']", true),
    ("dep.status.m.exists(k, k == 'a') && dep.status.m.map(k, k).size() == 2", true),
    ("dep.status.e.all(x, false) && dep.status.em.all(x, false)", true),
    ("dep.status.l.map(dep, dep + 1) == [2, 3]", true),
    ("dep.status.l.all(self, self > 0) && self.spec.n == 1", true),
    ("dep.status.l.all(x, dep.status.l.exists(y, y == x))", true),
    ("dep.status.l + [3] == [1, 2, 3]", true),
    ("dep.metadata == self.metadata", false),
    ("{'a': 1, 'a': 2}.a == 2", true),
    // Errors that do not matter.
    ("dep.status.nope == 1 || true", true),
    ("dep.status.nope == 1 && false", false),
    ("true ? true : dep.nope == 1", true),
    // Strings.
    ("'abc'.charAt(1) == 'b' && 'hello'.indexOf('l') == 2 && 'hello'.lastIndexOf('l') == 3", true),
    ("'hello'.substring(1, 3) == 'el' && 'abc'.reverse() == 'cba' && ' a '.trim() == 'a'", true),
    ("'a-b-c'.split('-', 2) == ['a', 'b-c'] && 'a-b-c'.replace('-', '_', 1) == 'a_b-c'", true),
    ("'abc'.replace('', '_') == '_a_b_c_'", true),
    ("'AbC'.lowerAscii() == 'abc' && 'AbC'.upperAscii() == 'ABC'", true),
    ("strings.quote('a\"b') == '\"a\\\\\"b\"'", true),
    ("'%d %s %f'.format([1, 'a', 1.5]) == '1 a 1.500000'", true),
    ("dep.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$') && matches(dep.metadata.name, '(?i)APP')", true),
    ("dep.metadata.name.matches('')", true),
    ("base64.encode(b'hello') == 'aGVsbG8=' && string(base64.decode('aGVsbG8')) == 'hello'", true),
    ("sets.intersects(dep.status.l, [2, 5]) && !sets.intersects(dep.status.l, [])", true),
    ("sets.contains(dep.status.l, []) && !sets.contains(dep.status.l, [1, 3])", true),
    // Times.
    ("timestamp(dep.status.t).getFullYear() == 2024 && timestamp(dep.status.t).getHours('+01:00') == 4", true),
    ("timestamp(dep.status.t).getHours('UTC') == 3 && timestamp(dep.status.t).getDayOfYear() == 1", true),
    ("string(duration('90s')) == '90s' && duration('1h30m').getMinutes() == 90", true),
    // Names.
    (".dep.status.n == 1", true),
    ("google.protobuf.Timestamp == type(timestamp(dep.status.t))", true),
];

#[test]
fn as_in_flux() {
    let wrong: Vec<_> = AS_IN_FLUX
        .iter()
        .map(|(text, answer)| (text, ask(text), Ok(*answer)))
        .filter(|(_, ours, theirs)| ours != theirs)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
