//! What evaluating an expression costs at most, in time and memory.
//!
//! One walk over the tree. Every node gets an upper bound of the value it yields ([`Bounds`]) and of the steps it
//! takes; a loop multiplies by the longest its range can be. Parts of the objects are looked up, so that their real
//! sizes count. All arithmetic saturates.

use super::functions::{self, Cost};
use super::shape::{Bounds, Shape, Sizes};
use super::{Failure, Scope, walk};
use cel::IdedExpr;
use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, operators};
use serde_json::Value;

/// The most steps an expression may take. A step is 20 to 100 ns in the compiled policy.
const MAX_STEPS: u64 = 1_000_000;
/// The most memory its values may take, in bytes.
const MAX_MEMORY: u64 = 24 << 20;
/// How deep the values it builds may nest: they are cloned, compared and dropped by recursion.
const MAX_DEPTH: u64 = 192;

/// Lets an expression pass that is cheap enough for these objects.
///
/// # Errors
///
/// [`Failure::TooCostly`].
pub(super) fn allow(tree: &IdedExpr, scope: Scope<'_>) -> Result<(), Failure> {
    Estimate::new(Some(scope)).verdict(tree)
}

/// Lets an expression pass that is cheap enough for an ordinary object.
///
/// # Errors
///
/// [`Failure::TooCostly`].
pub(super) fn allow_ordinary(tree: &IdedExpr) -> Result<(), Failure> {
    Estimate::new(None).verdict(tree)
}

/// What the result can be at most.
#[cfg(test)]
pub(super) fn result(tree: &IdedExpr, scope: Scope<'_>) -> Bounds {
    let mut estimate = Estimate::new(Some(scope));
    let (shape, _) = estimate.visit(tree);
    estimate.bounds(shape)
}

/// What a variable is taken for without objects: nothing in it is longer than this.
fn ordinary() -> Bounds {
    let item = Bounds::list(16, Bounds::text(64));
    Bounds { count: 16, size: 8 << 10, depth: 8, ..Bounds::list(16, item) }
}

struct Estimate<'t, 'v> {
    scope: Option<Scope<'v>>,
    /// Loop variables, innermost last.
    variables: Vec<(&'t str, Shape<'v>)>,
    sizes: Sizes,
    memory: u64,
    depth: u64,
}

/// A node's value and the steps to get it.
type Found<'v> = (Shape<'v>, u64);

impl<'t, 'v> Estimate<'t, 'v> {
    fn new(scope: Option<Scope<'v>>) -> Self {
        Self { scope, variables: Vec::new(), sizes: Sizes::default(), memory: 0, depth: 0 }
    }

    fn verdict(mut self, tree: &'t IdedExpr) -> Result<(), Failure> {
        let (_, steps) = self.visit(tree);
        if steps > MAX_STEPS || self.memory > MAX_MEMORY || self.depth > MAX_DEPTH {
            return Err(Failure::TooCostly);
        }
        Ok(())
    }

    fn bounds(&mut self, shape: Shape<'v>) -> Bounds {
        self.sizes.of(shape)
    }

    /// A value that did not exist before.
    fn made(&mut self, bounds: Bounds) -> Shape<'v> {
        self.memory = self.memory.saturating_add(bounds.size);
        self.depth = self.depth.max(bounds.depth);
        Shape::Bounded(bounds)
    }

    /// Recurses once a level: the depth of the tree is bounded.
    fn visit(&mut self, expr: &'t IdedExpr) -> Found<'v> {
        match &expr.expr {
            Expr::Unspecified => (Shape::Bounded(Bounds::SCALAR), 1),
            Expr::Literal(literal) => (Shape::Bounded(literal_bounds(literal)), 1),
            Expr::Ident(name) => (self.variable(name), self.lookup(1)),
            Expr::Select(select) => {
                let (operand, steps) = self.visit(&select.operand);
                let found = self.field(operand, Some(&select.field));
                // A name is looked up scope by scope, prefix by prefix.
                let lookup = self.lookup(2);
                let found = if select.test { Shape::Bounded(Bounds::SCALAR) } else { found };
                (found, steps.saturating_add(lookup))
            }
            Expr::List(list) => {
                let (parts, steps) = self.all(list.elements.iter());
                let bounds = Bounds::of_parts(parts.len() as u64, parts);
                (self.made(bounds), steps.saturating_add(bounds.steps()))
            }
            Expr::Map(map) => {
                let (parts, steps) = self.all(map.entries.iter().flat_map(|entry| {
                    match &entry.expr {
                        EntryExpr::MapEntry(entry) => [Some(&entry.key), Some(&entry.value)],
                        EntryExpr::StructField(field) => [Some(&field.value), None],
                    }
                    .into_iter()
                    .flatten()
                }));
                let bounds = Bounds::of_parts(map.entries.len() as u64, parts);
                (self.made(bounds), steps.saturating_add(bounds.steps().saturating_mul(2)))
            }
            // There are no messages: it fails once its fields are evaluated.
            Expr::Struct(_) => {
                let mut fields = Vec::new();
                walk::children(expr, |child| fields.push(child));
                let (_, steps) = self.all(fields.into_iter());
                (Shape::Bounded(Bounds::SCALAR), steps.saturating_add(1))
            }
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
        }
    }

    fn all(&mut self, exprs: impl Iterator<Item = &'t IdedExpr>) -> (Vec<Bounds>, u64) {
        let mut steps = 1_u64;
        let bounds = exprs
            .map(|expr| {
                let (shape, more) = self.visit(expr);
                steps = steps.saturating_add(more);
                self.bounds(shape)
            })
            .collect();
        (bounds, steps)
    }

    /// Steps to look up a name of `segments` parts through the open scopes.
    fn lookup(&self, segments: u64) -> u64 {
        segments.saturating_add(self.variables.len() as u64 / 4)
    }

    fn variable(&self, name: &str) -> Shape<'v> {
        let absolute = name.starts_with('.');
        let name = name.trim_start_matches('.');
        let local = self.variables.iter().rev().find(|(variable, _)| !absolute && *variable == name);
        if let Some((_, shape)) = local {
            return *shape;
        }
        let global = match self.scope {
            None => return Shape::Bounded(ordinary()),
            Some(Scope::SelfAndDep { this, .. }) if name == "self" => Some(this),
            Some(Scope::SelfAndDep { dep, .. }) if name == "dep" => Some(dep),
            Some(Scope::SelfAndDep { .. }) => None,
            Some(Scope::Fields(dep)) => dep.get(name),
        };
        known(global)
    }

    /// What is found under a key: under this one, or under any.
    fn field(&mut self, operand: Shape<'v>, name: Option<&str>) -> Shape<'v> {
        match (operand, name) {
            (Shape::Known(Value::Object(fields)), Some(name)) => known(fields.get(name)),
            (operand, _) => Shape::Bounded(self.bounds(operand).item()),
        }
    }

    fn call(&mut self, call: &'t CallExpr) -> Found<'v> {
        match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::CONDITIONAL, [condition, yes, no]) => {
                let (_, steps) = self.visit(condition);
                let (yes, more) = self.visit(yes);
                let (no, most) = self.visit(no);
                let either = self.bounds(yes).or(self.bounds(no));
                (Shape::Bounded(either), steps.saturating_add(more.max(most)).saturating_add(1))
            }
            (name @ (operators::INDEX | operators::OPT_INDEX | operators::OPT_SELECT), [operand, key]) => {
                let (operand, steps) = self.visit(operand);
                let (key_shape, more) = self.visit(key);
                let found = match &key.expr {
                    Expr::Literal(LiteralValue::String(key)) => self.field(operand, Some(key.inner())),
                    _ => self.field(operand, None),
                };
                // An optional holds a copy; a key of the wrong type is copied into the error.
                let copied = if name == operators::INDEX { 0 } else { self.bounds(found).steps() };
                let steps = steps.saturating_add(more).saturating_add(copied).saturating_add(1);
                (found, steps.saturating_add(self.bounds(key_shape).steps()))
            }
            (name, args) => {
                let target = call.target.as_deref().filter(|target| functions::namespace(target).is_none());
                let (bounds, steps) = self.all(target.into_iter().chain(args));
                let Cost { result, steps: own, scratch } = functions::cost(name, &bounds, literal_text(args.last()));
                self.memory = self.memory.saturating_add(scratch);
                (self.made(result), steps.saturating_add(own))
            }
        }
    }

    fn comprehension(&mut self, c: &'t ComprehensionExpr) -> Found<'v> {
        let (range, range_steps) = self.visit(&c.iter_range);
        let (start, start_steps) = self.visit(&c.accu_init);
        let range = self.bounds(range);
        let item = range.item();
        let start_bounds = self.bounds(start);

        let outer = self.variables.len();
        self.variables.push((&c.accu_var, start));
        self.variables.push((&c.iter_var, Shape::Bounded(item)));
        let (_, condition) = self.visit(&c.loop_cond);
        let (grown, step) = match Append::of(c) {
            // `map`, `filter`: each item is made, put into a list of its own, and copied to the end of the result.
            Some(append) => {
                let guard = append.guard.map_or(0, |guard| self.visit(guard).1);
                let (items, steps) = self.all(append.items.iter());
                let one = items.iter().fold(Bounds::default(), |one, item| one.or(*item));
                let count = range.count.saturating_mul(items.len() as u64);
                let copies = one.steps().saturating_mul(2 * items.len() as u64);
                let grown = self.made(start_bounds.then(Bounds::list(count, one)));
                (grown, guard.saturating_add(steps).saturating_add(copies))
            }
            // `exists`, `all`, `exists_one`, and a name given to a value: the accumulator keeps its size.
            None => {
                let (_, step) = self.visit(&c.loop_step);
                self.made(start_bounds);
                (start, step)
            }
        };
        self.variables.truncate(outer);
        self.variables.push((&c.accu_var, grown));
        let (result, result_steps) = self.visit(&c.result);
        self.variables.truncate(outer);

        let each = condition.saturating_add(step).saturating_add(item.steps()).saturating_add(3);
        let copied = self.bounds(result).steps().saturating_add(start_bounds.steps());
        let steps = [start_steps, range.count.saturating_mul(each), result_steps, copied]
            .into_iter()
            .fold(range_steps.saturating_add(4), u64::saturating_add);
        (result, steps)
    }
}

fn known(value: Option<&Value>) -> Shape<'_> {
    value.map_or(Shape::Bounded(Bounds::SCALAR), Shape::Known)
}

fn literal_bounds(literal: &LiteralValue) -> Bounds {
    match literal {
        LiteralValue::String(text) => Bounds::text(text.inner().len() as u64),
        LiteralValue::Bytes(bytes) => Bounds::text(bytes.inner().len() as u64),
        _ => Bounds::SCALAR,
    }
}

fn literal_text(expr: Option<&IdedExpr>) -> Option<&str> {
    match expr.map(|expr| &expr.expr) {
        Some(Expr::Literal(LiteralValue::String(text))) => Some(text.inner()),
        _ => None,
    }
}

/// A step that only adds to the accumulator: `@result + [items]`, behind a condition or not.
struct Append<'t> {
    guard: Option<&'t IdedExpr>,
    items: &'t [IdedExpr],
}

impl<'t> Append<'t> {
    fn of(c: &'t ComprehensionExpr) -> Option<Self> {
        let (guard, step) = match &c.loop_step.expr {
            Expr::Call(call) if call.func_name == operators::CONDITIONAL => match call.args.as_slice() {
                [guard, step, _] => (Some(guard), step),
                _ => return None,
            },
            _ => (None, &c.loop_step),
        };
        let Expr::Call(call) = &step.expr else {
            return None;
        };
        match call.args.as_slice() {
            [accumulator, items] if call.func_name == operators::ADD => match (&accumulator.expr, &items.expr) {
                (Expr::Ident(name), Expr::List(list)) if *name == c.accu_var => {
                    Some(Self { guard, items: &list.elements })
                }
                _ => None,
            },
            _ => None,
        }
    }
}
