//! Walking a parsed expression.

use cel::IdedExpr;
use cel::common::ast::{EntryExpr, Expr, LiteralValue, operators};

/// Calls `see` with every direct child of `expr`.
pub(super) fn children<'t>(expr: &'t IdedExpr, mut see: impl FnMut(&'t IdedExpr)) {
    match &expr.expr {
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => {}
        Expr::Select(select) => see(&select.operand),
        Expr::Call(call) => {
            call.target.iter().for_each(|target| see(target));
            call.args.iter().for_each(see);
        }
        Expr::List(list) => list.elements.iter().for_each(see),
        Expr::Map(map) => map.entries.iter().for_each(|entry| entry_children(&entry.expr, &mut see)),
        Expr::Struct(message) => message.entries.iter().for_each(|entry| entry_children(&entry.expr, &mut see)),
        Expr::Comprehension(c) => {
            [&c.iter_range, &c.accu_init, &c.loop_cond, &c.loop_step, &c.result].into_iter().for_each(see);
        }
    }
}

fn entry_children<'t>(entry: &'t EntryExpr, see: &mut impl FnMut(&'t IdedExpr)) {
    match entry {
        EntryExpr::StructField(field) => see(&field.value),
        EntryExpr::MapEntry(entry) => {
            see(&entry.key);
            see(&entry.value);
        }
    }
}

/// How deep the tree is, selections (`a.b.c`) included.
///
/// Iterative: it decides whether anything else may recurse.
pub(super) fn depth(root: &IdedExpr) -> usize {
    let mut deepest = 0;
    let mut open = vec![(root, 1)];
    while let Some((expr, level)) = open.pop() {
        deepest = deepest.max(level);
        children(expr, |child| open.push((child, level + 1)));
    }
    deepest
}

/// A variable and the fields selected on it by constant names, if `expr` is nothing else: `dep.status`,
/// `dep.metadata.labels['v']`, `dep.?spec.?path`, `has(dep.spec)`. The name comes
/// without its leading dot, the fields outermost first.
pub(super) fn path(expr: &IdedExpr) -> Option<(&str, Vec<&str>)> {
    let mut names = Vec::new();
    let mut at = expr;
    loop {
        match &at.expr {
            Expr::Ident(name) => {
                names.reverse();
                return Some((name.trim_start_matches('.'), names));
            }
            Expr::Select(select) => {
                names.push(&select.field);
                at = &select.operand;
            }
            Expr::Call(call) if call.target.is_none() && is_lookup(&call.func_name) => match call.args.as_slice() {
                [operand, key] => {
                    let Expr::Literal(LiteralValue::String(key)) = &key.expr else {
                        return None;
                    };
                    names.push(key.inner());
                    at = operand;
                }
                _ => return None,
            },
            _ => return None,
        }
    }
}

fn is_lookup(function: &str) -> bool {
    matches!(function, operators::INDEX | operators::OPT_INDEX | operators::OPT_SELECT)
}
