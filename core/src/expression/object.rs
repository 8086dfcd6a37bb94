//! From JSON to CEL values: only the parts an expression looks at, borrowing all strings.

use super::{Failure, walk};
use cel::IdedExpr;
use cel::common::types::{CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString};
use cel::common::value::Val;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// How deep a converted value may nest: cloning, comparing and dropping it recurse. What serde_json reads is never
/// deeper.
pub(super) const MAX_LEVELS: usize = 128;

/// Which parts of a value an expression can reach: all of it, or some fields.
///
/// Every variable is taken for a global one, so that a loop variable named `dep` only makes it want too much.
#[derive(Debug, Default)]
pub(super) struct Wanted<'t> {
    all: bool,
    fields: BTreeMap<&'t str, Wanted<'t>>,
}

impl<'t> Wanted<'t> {
    /// The fields are the variables.
    pub(super) fn of(tree: &'t IdedExpr) -> Self {
        let mut wanted = Self::default();
        let mut open = vec![tree];
        while let Some(expr) = open.pop() {
            match walk::path(expr) {
                Some((variable, fields)) => wanted.add(variable, &fields),
                None => walk::children(expr, |child| open.push(child)),
            }
        }
        wanted
    }

    fn add(&mut self, variable: &'t str, fields: &[&'t str]) {
        let mut at = self.fields.entry(variable).or_default();
        for field in fields {
            at = at.fields.entry(field).or_default();
        }
        at.all = true;
    }

    pub(super) fn field(&self, name: &str) -> Option<&Self> {
        self.fields.get(name)
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = (&'t str, &Self)> {
        self.fields.iter().map(|(name, wanted)| (*name, wanted))
    }
}

/// The wanted parts of `value`.
///
/// # Errors
///
/// [`Failure::TooDeep`] if they nest over 128 levels.
pub(super) fn convert<'v>(value: &'v Value, wanted: &Wanted<'_>) -> Result<Box<dyn Val + 'v>, Failure> {
    part(value, wanted, MAX_LEVELS)
}

fn part<'v>(value: &'v Value, wanted: &Wanted<'_>, levels: usize) -> Result<Box<dyn Val + 'v>, Failure> {
    match value {
        Value::Object(fields) if !wanted.all => {
            let levels = one_less(levels)?;
            let mut map = HashMap::with_capacity(wanted.fields.len());
            for (name, wanted) in &wanted.fields {
                if let Some((name, value)) = fields.get_key_value(*name) {
                    map.insert(key(name), part(value, wanted, levels)?);
                }
            }
            Ok(Box::new(CelMap::from(map)))
        }
        _ => whole(value, levels),
    }
}

fn whole<'v>(value: &'v Value, levels: usize) -> Result<Box<dyn Val + 'v>, Failure> {
    let levels = one_less(levels)?;
    Ok(match value {
        Value::Null => Box::new(CelNull),
        Value::Bool(value) => Box::new(CelBool::from(*value)),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => Box::new(CelInt::from(integer)),
            // As in the controllers: what is no int64 becomes a float64, never an unsigned integer.
            // https://github.com/kubernetes/apimachinery/blob/v0.34.0/pkg/util/json/json.go
            None => Box::new(CelDouble::from(number.as_f64().unwrap_or(f64::NAN))),
        },
        Value::String(text) => Box::new(CelString::from(text.as_str())),
        Value::Array(items) => {
            let items: Result<Vec<_>, Failure> = items.iter().map(|item| whole(item, levels)).collect();
            Box::new(CelList::from(items?))
        }
        Value::Object(fields) => {
            let fields: Result<HashMap<_, _>, Failure> =
                fields.iter().map(|(name, value)| Ok((key(name), whole(value, levels)?))).collect();
            Box::new(CelMap::from(fields?))
        }
    })
}

fn key(name: &str) -> CelMapKey<'_> {
    CelMapKey::from(name)
}

fn one_less(levels: usize) -> Result<usize, Failure> {
    levels.checked_sub(1).ok_or(Failure::TooDeep)
}
