//! Flux's `readyExpr`: a CEL expression that decides whether a dependency is ready.
//!
//! The expression comes from a tenant and the evaluator has no bound of its own, so an expression is evaluated only
//! after it has been shown to be short, shallow and cheap *for these very objects*: see [`Expression::parse`] and
//! [`Expression::evaluate`]. What is not evaluated is reported as a [`Failure`], never taken for ready or not ready.
//!
//! The environment is the one of `fluxcd/pkg` `runtime/cel` (pkg at e2cfd1a2, cel-go v0.26.1): the standard library,
//! optional types, strings, sets and encoders, UTC as the time zone. Flux type-checks where it compiles with
//! variables (Kustomization, HelmRelease): of that only undeclared names and the type of the result are checked here,
//! so what is refused here is refused there too, but not the other way around.
//!
//! Not provided: messages (`google.protobuf.Struct{}`), time zones by name, and of RE2 what `regex-lite` lacks
//! (Unicode classes such as `\pL`, `\Q…\E`; case-insensitive matches fold ASCII only). With these an expression fails.
//!
//! Different: `existsOne` is accepted as `exists_one`; a key of the wrong type in `list[?'key']` gives
//! `optional.none()` instead of an error; `orValue` of what is no optional is an error instead of the value itself;
//! `string` of a double below 1e-4 or from 1e21 on has no exponent.
//!
//! # Stack
//!
//! Parsing, estimating and evaluating the worst expressions that are let through take less than 192 KiB in the
//! compiled policy, which has 512. Unoptimised code takes up to 4 MiB.

mod environment;
mod estimate;
mod failure;
mod functions;
mod kinds;
mod library;
mod object;
mod rewrite;
mod shape;
mod syntax;
mod walk;

#[cfg(test)]
mod tests;

pub use failure::Failure;

use cel::IdedExpr;
use cel::common::types::CelBool;
use cel::common::value::Val;
use serde_json::Value;

/// What the variables of an expression are, at the time it is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variables {
    /// `self` and `dep` (Kustomization, HelmRelease). Flux compiles such an expression.
    SelfAndDep,
    /// The top-level fields of the dependency (ResourceSet). Flux only parses such an expression.
    Fields,
}

/// What the variables of an expression stand for: whole objects, as the API server returns them.
#[derive(Clone, Copy, Debug)]
pub enum Scope<'a> {
    /// `self` and `dep` (Kustomization, HelmRelease).
    SelfAndDep {
        /// The object that has the dependency.
        this: &'a Value,
        /// The object depended on.
        dep: &'a Value,
    },
    /// The top-level fields of this object, the dependency (ResourceSet).
    Fields(&'a Value),
}

impl Scope<'_> {
    /// Which variables this scope provides.
    pub fn variables(&self) -> Variables {
        match self {
            Self::SelfAndDep { .. } => Variables::SelfAndDep,
            Self::Fields(_) => Variables::Fields,
        }
    }
}

/// An expression that is short and shallow enough, and correct as far as that shows without objects.
#[derive(Debug)]
pub struct Expression {
    tree: IdedExpr,
    variables: Variables,
}

impl Expression {
    /// Parses `text`, for the variables of its controller. Nothing is evaluated.
    ///
    /// # Errors
    ///
    /// [`Failure::TooLong`], [`Failure::TooDeep`] and [`Failure::TooCostly`] (macros nested so densely that they do
    /// not even expand within bounds); [`Failure::Invalid`] for what does not parse. With [`Variables::SelfAndDep`]
    /// also names that nothing declares ([`Failure::Invalid`]) and a result that is surely not boolean, or whose type
    /// Flux could not tell (`dep.status.ready` instead of `dep.status.ready == true`): [`Failure::NotBoolean`].
    pub fn parse(text: &str, variables: Variables) -> Result<Self, Failure> {
        let tree = syntax::parse(text)?;
        if variables == Variables::SelfAndDep {
            kinds::check(&tree)?;
        }
        Ok(Self { tree, variables })
    }

    /// Evaluates the expression.
    ///
    /// Only the parts of the objects it looks at are converted, and its cost is estimated from their very sizes: the
    /// size of the rest does not matter.
    ///
    /// # Errors
    ///
    /// [`Failure::TooCostly`], [`Failure::TooDeep`] (the objects), [`Failure::NotBoolean`], [`Failure::Evaluation`]. A scope of other variables than
    /// those it was parsed for is an [`Failure::Evaluation`] of an undeclared name.
    pub fn evaluate(&self, scope: Scope<'_>) -> Result<bool, Failure> {
        self.resolve(scope, |value| match value.downcast_ref::<CelBool>() {
            Some(answer) => Ok(*answer.inner()),
            None => Err(Failure::NotBoolean { kind: failure::kind_name(value.get_type()) }),
        })?
    }

    fn resolve<'a, T>(&self, scope: Scope<'a>, read: impl FnOnce(&(dyn Val + 'a)) -> T) -> Result<T, Failure> {
        let wanted = object::Wanted::of(&self.tree);
        let mut context = environment::context();
        match scope {
            Scope::SelfAndDep { this, dep } => {
                for (name, value) in [("self", this), ("dep", dep)] {
                    if let Some(wanted) = wanted.field(name) {
                        context.add_variable_as_val(name, object::convert(value, wanted)?);
                    }
                }
            }
            Scope::Fields(dep) => {
                for (name, wanted) in wanted.fields() {
                    if let Some(value) = dep.get(name) {
                        context.add_variable_as_val(name, object::convert(value, wanted)?);
                    }
                }
            }
        }
        estimate::allow(&self.tree, scope)?;
        let value = cel::Value::resolve_val(&self.tree, &context).map_err(|error| Failure::of(&error))?;
        Ok(read(value.as_ref()))
    }

    /// The variables this expression was parsed for.
    pub fn variables(&self) -> Variables {
        self.variables
    }
}

/// Checks `text` without objects: what [`Expression::parse`] checks, and that it is not too costly for an ordinary
/// object (lists of 16, strings of 64 bytes).
///
/// # Errors
///
/// As [`Expression::parse`]. An expression that passes can still be [`Failure::TooCostly`] for a large object.
pub fn check(text: &str, variables: Variables) -> Result<(), Failure> {
    let expression = Expression::parse(text, variables)?;
    estimate::allow_ordinary(&expression.tree)
}

/// Parses and evaluates `text`: [`Expression::parse`] and [`Expression::evaluate`] in one.
///
/// # Errors
///
/// Theirs.
pub fn evaluate(text: &str, scope: Scope<'_>) -> Result<bool, Failure> {
    Expression::parse(text, scope.variables())?.evaluate(scope)
}
