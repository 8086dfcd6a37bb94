//! What the Pratt parser leaves as written, being given the standard macros only: `optMap`, `optFlatMap`, and the
//! short circuit of `or` and `orValue`, which cel-go builds into its plan.

use super::Failure;
use cel::IdedExpr;
use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, ListExpr, LiteralValue, operators};
use std::mem;

/// The variable that holds the optional; not a name that can be written.
const TARGET: &str = "@target";

/// Expands them everywhere in the tree. Recurses once a level: the caller has bounded the depth.
///
/// # Errors
///
/// [`Failure::Invalid`] if what should be the name of a variable is none.
pub(super) fn expand(expr: &mut IdedExpr) -> Result<(), Failure> {
    match &mut expr.expr {
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => {}
        Expr::Select(select) => expand(&mut select.operand)?,
        Expr::Call(call) => {
            if let Some(target) = &mut call.target {
                expand(target)?;
            }
            call.args.iter_mut().try_for_each(expand)?;
            if let Some(expanded) = expand_call(call)? {
                *expr = expanded;
            }
        }
        Expr::List(list) => list.elements.iter_mut().try_for_each(expand)?,
        Expr::Map(map) => map.entries.iter_mut().try_for_each(|entry| expand_entry(&mut entry.expr))?,
        Expr::Struct(message) => message.entries.iter_mut().try_for_each(|entry| expand_entry(&mut entry.expr))?,
        Expr::Comprehension(c) => {
            [&mut c.iter_range, &mut c.accu_init, &mut c.loop_cond, &mut c.loop_step, &mut c.result]
                .into_iter()
                .try_for_each(expand)?
        }
    }
    Ok(())
}

fn expand_entry(entry: &mut EntryExpr) -> Result<(), Failure> {
    match entry {
        EntryExpr::StructField(field) => expand(&mut field.value),
        EntryExpr::MapEntry(entry) => {
            expand(&mut entry.key)?;
            expand(&mut entry.value)
        }
    }
}

fn expand_call(call: &mut CallExpr) -> Result<Option<IdedExpr>, Failure> {
    if call.target.is_none() {
        return Ok(None);
    }
    let present = match (call.func_name.as_str(), call.args.as_mut_slice()) {
        (name @ ("optMap" | "optFlatMap"), [variable, mapping]) => {
            let Expr::Ident(variable) = &mut variable.expr else {
                return Err(Failure::invalid(format!("{name}() variable name must be a simple identifier")));
            };
            let mapped = bind(mem::take(variable), of_target("value"), mem::take(mapping));
            if name == "optMap" { optional("of", vec![mapped]) } else { mapped }
        }
        // Nothing that could fail: as well evaluated at once.
        ("or" | "orValue", [other]) if matches!(other.expr, Expr::Literal(_)) => return Ok(None),
        ("or", [_]) => ident(TARGET),
        ("orValue", [_]) => of_target("value"),
        _ => return Ok(None),
    };
    let absent = match call.func_name.as_str() {
        "or" | "orValue" => call.args.pop().unwrap_or_default(),
        _ => optional("none", Vec::new()),
    };
    let target = call.target.take().map(|target| *target).unwrap_or_default();
    let chosen = global(operators::CONDITIONAL, vec![of_target("hasValue"), present, absent]);
    Ok(Some(bind(TARGET.to_owned(), target, chosen)))
}

/// `result` with `variable` standing for `value`: a loop over nothing whose accumulator is the variable, as cel-go
/// writes it.
fn bind(variable: String, value: IdedExpr, result: IdedExpr) -> IdedExpr {
    node(Expr::Comprehension(Box::new(ComprehensionExpr {
        iter_range: node(Expr::List(ListExpr::new(Vec::new()))),
        iter_var: "#unused".to_owned(),
        iter_var2: None,
        loop_step: ident(&variable),
        accu_var: variable,
        accu_init: value,
        loop_cond: node(Expr::Literal(LiteralValue::Boolean(false.into()))),
        result,
    })))
}

fn node(expr: Expr) -> IdedExpr {
    IdedExpr { id: 0, expr }
}

fn ident(name: &str) -> IdedExpr {
    node(Expr::Ident(name.to_owned()))
}

fn global(name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    node(Expr::Call(CallExpr { func_name: name.to_owned(), target: None, args }))
}

/// `@target.<name>()`.
fn of_target(name: &str) -> IdedExpr {
    member(ident(TARGET), name, Vec::new())
}

/// `optional.<name>(…)`.
fn optional(name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    member(ident("optional"), name, args)
}

fn member(target: IdedExpr, name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    node(Expr::Call(CallExpr { func_name: name.to_owned(), target: Some(Box::new(target)), args }))
}
