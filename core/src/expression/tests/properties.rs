//! Whatever the text and the objects: an answer or a failure, on a small stack, within bounds.

use super::{ROOMY, Variables, on_stack};
use crate::expression::shape::Bounds;
use crate::expression::{Expression, Scope, check, estimate, evaluate};
use cel::common::types::{CelBytes, CelList, CelMap, CelOptional, CelString};
use cel::common::value::Val;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z0-9:TZ.-]{0,24}".prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            btree_map("[a-d]", inner, 0..6).prop_map(|fields| Value::from(Map::from_iter(fields))),
        ]
    })
}

/// Texts that mostly parse.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec![
            "1",
            "0u",
            "-1",
            "1.5",
            "true",
            "''",
            "'a'",
            "b'a'",
            "null",
            "[]",
            "{}",
            "9223372036854775807",
            "-9223372036854775808",
            "18446744073709551615u",
            "1e308",
            "'1h'",
            "'2024-01-01T00:00:00Z'",
            "'%s'",
            "'x*'",
            "optional.none()",
            "self",
            "dep",
            "x",
            "y",
        ])
        .prop_map(str::to_owned),
        "(self|dep|x)(\\.|\\.\\?)[a-d]((\\.|\\.\\?)[a-d])?".prop_map(|path| path),
    ];
    leaf.prop_recursive(5, 48, 3, |inner| {
        let operators = vec!["==", "!=", "<", "<=", ">", ">=", "&&", "||", "+", "-", "*", "/", "%", "in", "== 1 ||"];
        let loops = vec!["all", "exists", "exists_one", "map", "filter", "optMap", "optFlatMap"];
        let members = vec![
            "size",
            "contains",
            "startsWith",
            "matches",
            "charAt",
            "indexOf",
            "lastIndexOf",
            "join",
            "lowerAscii",
            "trim",
            "replace",
            "split",
            "substring",
            "format",
            "reverse",
            "value",
            "hasValue",
            "or",
            "orValue",
            "first",
            "last",
            "unwrapOpt",
            "getHours",
            "getDayOfYear",
            "nonsense",
        ];
        let globals = vec![
            "size",
            "string",
            "int",
            "uint",
            "double",
            "bool",
            "bytes",
            "type",
            "dyn",
            "timestamp",
            "duration",
            "optional.of",
            "optional.ofNonZeroValue",
            "base64.encode",
            "base64.decode",
            "strings.quote",
            "-",
            "!",
            "optional.unwrap",
        ];
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            (two.clone(), prop::sample::select(operators)).prop_map(|((a, b), op)| format!("({a} {op} {b})")),
            (two.clone(), inner.clone()).prop_map(|((a, b), c)| format!("({a} ? {b} : {c})")),
            (two.clone(), prop::sample::select(loops), "[xy]").prop_map(|((a, b), f, v)| format!("{a}.{f}({v}, {b})")),
            (inner.clone(), prop::sample::select(members), vec(inner.clone(), 0..3))
                .prop_map(|(a, f, args)| format!("({a}).{f}({})", args.join(", "))),
            (inner.clone(), prop::sample::select(globals)).prop_map(|(a, f)| format!("{f}({a})")),
            two.clone().prop_map(|(a, b)| format!("sets.contains({a}, {b})")),
            two.clone().prop_map(|(a, b)| format!("({a})[{b}]")),
            two.clone().prop_map(|(a, b)| format!("[{a}, ?{b}]")),
            two.prop_map(|(a, b)| format!("{{{a}: {b}}}")),
            inner.prop_map(|a| format!("has(({a}).a)")),
        ]
    })
}

/// Every way in; what comes out is bounded.
fn survives(text: &str, this: &Value, dep: &Value) -> Result<(), TestCaseError> {
    let (text, this, dep) = (text.to_owned(), this.clone(), dep.clone());
    let shown = on_stack(ROOMY, move || {
        let answers = [
            evaluate(&text, Scope::SelfAndDep { this: &this, dep: &dep }),
            evaluate(&text, Scope::Fields(&dep)),
            check(&text, Variables::SelfAndDep).map(|()| true),
            check(&text, Variables::Fields).map(|()| true),
        ];
        format!("{answers:?}")
    });
    prop_assert!(shown.len() < 8000, "{shown}");
    Ok(())
}

/// The bounds a value really has.
fn measured<'v>(value: &(dyn Val + 'v)) -> Bounds {
    if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        Bounds::text(text.inner().len() as u64)
    } else if let Some(bytes) = value.downcast_ref::<CelBytes<'_>>() {
        Bounds::text(bytes.inner().len() as u64)
    } else if let Some(list) = value.downcast_ref::<CelList<'_>>() {
        Bounds::of_parts(list.inner().len() as u64, list.inner().iter().map(|item| measured(item.as_ref())))
    } else if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
        let parts = map.inner().iter().flat_map(|(key, value)| [measured(key.inner()), measured(value.as_ref())]);
        Bounds::of_parts(map.inner().len() as u64, parts)
    } else if let Some(optional) = value.downcast_ref::<CelOptional<'_>>() {
        optional.option().map_or(Bounds::SCALAR, measured)
    } else {
        Bounds::SCALAR
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text(text in ".{0,200}", dep in json()) {
        survives(&text, &dep, &dep)?;
    }

    #[test]
    fn text_of_the_right_characters(text in "[a-z0-9.?:,'\"()\\[\\]{}!&|=<>+*/% -]{0,400}", dep in json()) {
        survives(&text, &dep, &dep)?;
    }

    #[test]
    fn expressions(text in expression(), this in json(), dep in json()) {
        survives(&text, &this, &dep)?;
    }

    /// The estimate is an upper bound.
    #[test]
    fn results_are_as_small_as_estimated(text in expression(), dep in json()) {
        let Ok(expression) = Expression::parse(&text, Variables::Fields) else { return Ok(()) };
        let fields = json!({"self": &dep, "dep": &dep, "x": &dep});
        let scope = Scope::Fields(&fields);
        let Ok(real) = expression.resolve(scope, measured) else { return Ok(()) };
        let most = estimate::result(&expression.tree, scope);
        prop_assert_eq!(real.or(most), most);
    }

    /// What is not looked at makes no difference.
    #[test]
    fn only_what_is_looked_at_counts(text in expression(), dep in json(), other in json()) {
        let Ok(expression) = Expression::parse(&text, Variables::SelfAndDep) else { return Ok(()) };
        let with = |more: Option<&Value>| {
            let mut dep = dep.clone();
            if let (Value::Object(fields), Some(more)) = (&mut dep, more) {
                fields.insert("unread".to_owned(), more.clone());
            }
            expression.evaluate(Scope::SelfAndDep { this: &Value::Null, dep: &dep })
        };
        // Whoever takes all of `dep` sees the difference; loops over a map have no order.
        let unordered = text.contains("(x, ") || text.contains("(y, ");
        if unordered || text.replace("dep.", "").contains("dep") {
            return Ok(());
        }
        prop_assert_eq!(with(None), with(Some(&other)));
    }
}
