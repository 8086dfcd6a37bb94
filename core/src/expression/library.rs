//! Functions of Flux's environment that cel 0.15.0 lacks, or has only in another extension or with a heavy feature.

use cel::common::types::{CelBool, CelList, CelOptional, CelString, LIST_TYPE, STRING_TYPE};
use cel::common::value::{CowVal, Val};
use cel::{DeclarationError, Env, ExecutionError};
use regex_lite::RegexBuilder;

type Args<'b, 'v> = Vec<CowVal<'b, 'v>>;
type Returned<'b, 'v> = Result<CowVal<'b, 'v>, ExecutionError>;

/// The most that one match may cost: bytes of text times states of the pattern.
pub(super) const MAX_MATCH_STEPS: u64 = 1 << 22;
/// The largest compiled pattern, in bytes.
const MAX_PATTERN_SIZE: usize = 64 << 10;
/// How deep groups may nest in a pattern.
const MAX_PATTERN_NESTING: u32 = 32;

/// `sets.contains`, `sets.equivalent` and `sets.intersects`, as `ext.Sets()` of cel-go.
pub(super) fn sets(env: &mut Env) -> Result<(), DeclarationError> {
    let two = || vec![LIST_TYPE, LIST_TYPE];
    env.add_overload("sets.contains", "list_sets_contains_list", two(), |args| with_lists(&args, contains))?;
    env.add_overload("sets.equivalent", "list_sets_equivalent_list", two(), |args| {
        with_lists(&args, |left, right| contains(left, right) && contains(right, left))
    })?;
    env.add_overload("sets.intersects", "list_sets_intersects_list", two(), |args| {
        with_lists(&args, |left, right| right.iter().any(|item| has(left, item.as_ref())))
    })
}

/// What optional types of version 2 add: `first`, `last`, `unwrapOpt` and `optional.unwrap`.
pub(super) fn optionals(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_member_overload("first", "list_first", LIST_TYPE, vec![], |args| end(&args, <[_]>::first))?;
    env.add_member_overload("last", "list_last", LIST_TYPE, vec![], |args| end(&args, <[_]>::last))?;
    env.add_member_overload("unwrapOpt", "optional_unwrapOpt", LIST_TYPE, vec![], unwrap)?;
    env.add_overload("optional.unwrap", "optional_unwrap", vec![LIST_TYPE], unwrap)
}

/// `matches`, which cel's own feature would do with 0.8 MB of `regex`.
pub(super) fn matches(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_overload("matches", "matches", vec![STRING_TYPE, STRING_TYPE], is_match)?;
    env.add_member_overload("matches", "matches_string", STRING_TYPE, vec![STRING_TYPE], is_match)
}

type Items<'v> = [Box<dyn Val + 'v>];

fn with_lists<'b, 'v>(args: &Args<'b, 'v>, test: fn(&Items<'v>, &Items<'v>) -> bool) -> Returned<'b, 'v> {
    match args.as_slice() {
        [left, right] => Ok(CowVal::owned(CelBool::from(test(items(left)?, items(right)?)))),
        _ => Err(ExecutionError::invalid_argument_count(2, args.len())),
    }
}

fn items<'a, 'v>(list: &'a CowVal<'_, 'v>) -> Result<&'a Items<'v>, ExecutionError> {
    list.downcast_ref::<CelList<'v>>().map(CelList::inner).ok_or_else(|| no_overload("list", list))
}

fn has<'v>(list: &Items<'v>, item: &(dyn Val + 'v)) -> bool {
    list.iter().any(|other| other.equals(item))
}

fn contains<'v>(list: &Items<'v>, sublist: &Items<'v>) -> bool {
    sublist.iter().all(|item| has(list, item.as_ref()))
}

fn end<'b, 'v>(
    args: &Args<'b, 'v>,
    which: for<'a> fn(&'a Items<'v>) -> Option<&'a Box<dyn Val + 'v>>,
) -> Returned<'b, 'v> {
    match args.as_slice() {
        [list] => Ok(CowVal::owned(match which(items(list)?) {
            Some(item) => CelOptional::of(item.clone_as_boxed()),
            None => CelOptional::none(),
        })),
        _ => Err(ExecutionError::invalid_argument_count(1, args.len())),
    }
}

fn unwrap<'b, 'v>(args: Args<'b, 'v>) -> Returned<'b, 'v> {
    let [list] = args.as_slice() else {
        return Err(ExecutionError::invalid_argument_count(1, args.len()));
    };
    let mut present = Vec::new();
    for item in items(list)? {
        let optional = item
            .downcast_ref::<CelOptional<'v>>()
            .ok_or_else(|| ExecutionError::no_such_overload("optional.unwrap", vec!["list".to_owned()]))?;
        present.extend(optional.option().map(|value| value.clone_as_boxed()));
    }
    Ok(CowVal::owned(CelList::from(present)))
}

fn is_match<'b, 'v>(args: Args<'b, 'v>) -> Returned<'b, 'v> {
    let [text, pattern] = args.as_slice() else {
        return Err(ExecutionError::invalid_argument_count(2, args.len()));
    };
    let (text, pattern) = (string(text)?, string(pattern)?);
    if match_steps(text.len() as u64, pattern.len() as u64, pattern.contains('{')) > MAX_MATCH_STEPS {
        return Err(ExecutionError::function_error("matches", "too costly"));
    }
    RegexBuilder::new(pattern)
        .size_limit(MAX_PATTERN_SIZE)
        .nest_limit(MAX_PATTERN_NESTING)
        .build()
        .map(|pattern| CowVal::owned(CelBool::from(pattern.is_match(text))))
        .map_err(|error| ExecutionError::function_error("matches", error))
}

/// The most steps a match takes. A pattern has about a state a byte, unless it repeats by count (`x{500}`): then only
/// its compiled size is bounded.
pub(super) fn match_steps(text: u64, pattern: u64, counts: bool) -> u64 {
    let most = MAX_PATTERN_SIZE as u64 / 16;
    let states = if counts { most } else { pattern.saturating_mul(2).min(most) };
    text.saturating_add(16).saturating_mul(states.saturating_add(4))
}

fn string<'a>(value: &'a CowVal<'_, '_>) -> Result<&'a str, ExecutionError> {
    value.downcast_ref::<CelString<'_>>().map(CelString::inner).ok_or_else(|| no_overload("string", value))
}

fn no_overload(want: &str, got: &CowVal<'_, '_>) -> ExecutionError {
    ExecutionError::UnexpectedType { got: got.get_type().name().to_owned(), want: want.to_owned() }
}
