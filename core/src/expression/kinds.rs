//! What Flux's type checker would say, as far as it can be said without a type checker: undeclared names, and a
//! result that is no boolean.

use super::{Failure, functions};
use cel::IdedExpr;
use cel::common::ast::{CallExpr, EntryExpr, Expr, LiteralValue, operators};

/// What is known of a type before evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It depends on the objects; that is a type of its own to the type checker.
    Dyn,
    /// An optional of such a value.
    OptionalDyn,
    /// This type, by its CEL name.
    Sure(&'static str),
    /// Not worked out here.
    Unknown,
}

const BOOL: Kind = Kind::Sure("bool");

/// Names of types, which are values too.
const TYPES: [&str; 12] =
    ["bool", "bytes", "double", "dyn", "int", "list", "map", "null_type", "optional_type", "string", "type", "uint"];

/// Checks an expression over `self` and `dep`.
///
/// # Errors
///
/// [`Failure::Invalid`] for a name that nothing declares, [`Failure::NotBoolean`] for a result that is surely of
/// another type, or whose type only shows in the objects. Flux refuses to compile these too.
pub(super) fn check(tree: &IdedExpr) -> Result<(), Failure> {
    let mut names = Names { variables: vec![("self", Kind::Sure("map")), ("dep", Kind::Sure("map"))] };
    match names.kind(tree)? {
        Kind::Dyn => Err(Failure::NotBoolean { kind: "dyn" }),
        Kind::OptionalDyn => Err(Failure::NotBoolean { kind: "optional" }),
        Kind::Sure(kind) if Kind::Sure(kind) != BOOL => Err(Failure::NotBoolean { kind }),
        Kind::Sure(_) | Kind::Unknown => Ok(()),
    }
}

struct Names<'t> {
    variables: Vec<(&'t str, Kind)>,
}

impl<'t> Names<'t> {
    /// Recurses once a level: the depth of the tree is bounded.
    fn kind(&mut self, expr: &'t IdedExpr) -> Result<Kind, Failure> {
        Ok(match &expr.expr {
            Expr::Unspecified => Kind::Unknown,
            Expr::Literal(literal) => Kind::Sure(literal_kind(literal)),
            Expr::Ident(name) => self.variable(name)?,
            Expr::Select(select) => {
                if is_type_name(expr) {
                    return Ok(Kind::Sure("type"));
                }
                let operand = self.kind(&select.operand)?;
                if select.test { BOOL } else { field(operand, &select.operand) }
            }
            Expr::List(list) => {
                list.elements.iter().try_for_each(|element| self.kind(element).map(drop))?;
                Kind::Sure("list")
            }
            Expr::Map(map) => {
                map.entries.iter().try_for_each(|entry| self.entry(&entry.expr))?;
                Kind::Sure("map")
            }
            Expr::Struct(message) => {
                message.entries.iter().try_for_each(|entry| self.entry(&entry.expr))?;
                Kind::Unknown
            }
            Expr::Call(call) => self.call(call)?,
            Expr::Comprehension(c) => {
                let range = self.kind(&c.iter_range)?;
                let start = self.kind(&c.accu_init)?;
                let outer = self.variables.len();
                self.variables.push((&c.accu_var, start));
                self.variables.push((&c.iter_var, if range == Kind::Dyn { Kind::Dyn } else { Kind::Unknown }));
                self.kind(&c.loop_cond)?;
                self.kind(&c.loop_step)?;
                self.variables.truncate(outer + 1);
                let result = self.kind(&c.result)?;
                self.variables.truncate(outer);
                result
            }
        })
    }

    fn entry(&mut self, entry: &'t EntryExpr) -> Result<(), Failure> {
        match entry {
            EntryExpr::StructField(field) => self.kind(&field.value).map(drop),
            EntryExpr::MapEntry(entry) => {
                self.kind(&entry.key)?;
                self.kind(&entry.value).map(drop)
            }
        }
    }

    fn variable(&self, name: &str) -> Result<Kind, Failure> {
        let name = name.trim_start_matches('.');
        match self.variables.iter().rev().find(|(variable, _)| *variable == name) {
            Some((_, kind)) => Ok(*kind),
            None if TYPES.contains(&name) => Ok(Kind::Sure("type")),
            None => Err(undeclared(name)),
        }
    }

    fn call(&mut self, call: &'t CallExpr) -> Result<Kind, Failure> {
        let name = call.func_name.trim_start_matches('.');
        let namespace = call.target.as_deref().and_then(functions::namespace);
        let target = match (&call.target, namespace) {
            (Some(target), None) => Some(self.kind(target)?),
            _ => None,
        };
        let args: Vec<Kind> = call.args.iter().map(|arg| self.kind(arg)).collect::<Result<_, _>>()?;
        if !functions::is_declared(namespace, target.is_some(), name) {
            return Err(match namespace {
                Some(namespace) => undeclared(&format!("{namespace}.{name}")),
                None => undeclared(name),
            });
        }
        Ok(match (name, target, args.as_slice()) {
            (operators::CONDITIONAL, _, [_, yes, no]) => match (yes, no) {
                (Kind::Dyn, _) | (_, Kind::Dyn) => Kind::Dyn,
                (yes, no) if yes == no => *yes,
                _ => Kind::Unknown,
            },
            (operators::INDEX, _, [operand, _]) => match call.args.first() {
                Some(expr) => field(*operand, expr),
                None => Kind::Unknown,
            },
            (operators::OPT_INDEX | operators::OPT_SELECT, _, [operand, _]) => match call.args.first() {
                Some(expr) if field(*operand, expr) != Kind::Unknown => Kind::OptionalDyn,
                _ => Kind::Unknown,
            },
            ("value", Some(Kind::OptionalDyn), _) | ("orValue", Some(Kind::OptionalDyn), _) | ("dyn", None, _) => {
                Kind::Dyn
            }
            ("first" | "last", Some(Kind::Dyn), _) => Kind::OptionalDyn,
            _ => functions::result(name).map_or(Kind::Unknown, Kind::Sure),
        })
    }
}

/// The type of a field of `operand`: a field of an object is whatever it is.
fn field(operand: Kind, expr: &IdedExpr) -> Kind {
    match operand {
        Kind::Dyn => Kind::Dyn,
        Kind::OptionalDyn => Kind::OptionalDyn,
        // `self` and `dep`; the values of a map in the expression have types of their own.
        Kind::Sure("map") if matches!(expr.expr, Expr::Ident(_)) => Kind::Dyn,
        _ => Kind::Unknown,
    }
}

/// `google.protobuf.Timestamp` and its like.
fn is_type_name(expr: &IdedExpr) -> bool {
    let mut at = expr;
    loop {
        match &at.expr {
            Expr::Select(select) if !select.test => at = &select.operand,
            Expr::Ident(name) => return name.trim_start_matches('.') == "google",
            _ => return false,
        }
    }
}

fn literal_kind(literal: &LiteralValue) -> &'static str {
    match literal {
        LiteralValue::Boolean(_) => "bool",
        LiteralValue::Bytes(_) => "bytes",
        LiteralValue::Double(_) => "double",
        LiteralValue::Int(_) => "int",
        LiteralValue::Null => "null",
        LiteralValue::String(_) => "string",
        LiteralValue::UInt(_) => "uint",
    }
}

fn undeclared(name: &str) -> Failure {
    Failure::invalid(format!("undeclared reference to '{name}'"))
}
