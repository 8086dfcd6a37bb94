//! Which objects a patch is about.

use crate::manifest::Target;
use regex_lite::Regex;
use serde_json::Value;

/// Whether a target fits an object, as kustomize selects (5.8): every part that is given must fit.
#[must_use]
pub fn fits(target: &Target, object: &Value) -> bool {
    let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let (group, version) = text("/apiVersion").split_once('/').unwrap_or(("", text("/apiVersion")));
    let whole = |pattern: &Option<String>, text: &str| {
        pattern.as_deref().filter(|pattern| !pattern.is_empty()).is_none_or(|pattern| is_whole(pattern, text))
    };
    let labels = |path: &str, selector: &Option<String>| {
        let of = |key: &str| object.pointer(path).and_then(|all| all.get(key)).and_then(Value::as_str);
        selector.as_deref().is_none_or(|selector| selects(selector, of))
    };
    whole(&target.group, group)
        && whole(&target.version, version)
        && whole(&target.kind, text("/kind"))
        && whole(&target.name, text("/metadata/name"))
        && whole(&target.namespace, text("/metadata/namespace"))
        && labels("/metadata/labels", &target.label_selector)
        && labels("/metadata/annotations", &target.annotation_selector)
}

/// A pattern that cannot be read fits what it spells.
fn is_whole(pattern: &str, text: &str) -> bool {
    if pattern == text {
        return true;
    }
    if pattern.len() > 256 {
        return false;
    }
    Regex::new(&format!("^(?:{pattern})$")).is_ok_and(|regex| regex.is_match(text))
}

/// Whether a label selector selects, as apimachinery has it: `a=b`, `a==b`, `a!=b`, `a in (b, c)`, `a notin (b)`, `a`, `!a`.
fn selects<'v>(selector: &str, of: impl Fn(&str) -> Option<&'v str>) -> bool {
    requirements(selector).into_iter().filter(|part| !part.is_empty()).all(|part| {
        let listed = |word: &str| {
            let (key, list) = part.split_once(word)?;
            let list = list.trim().strip_prefix('(')?.strip_suffix(')')?;
            Some((key.trim(), list.split(',').map(str::trim).collect::<Vec<_>>()))
        };
        if let Some((key, list)) = listed(" notin ") {
            return of(key).is_none_or(|value| !list.contains(&value));
        }
        if let Some((key, list)) = listed(" in ") {
            return of(key).is_some_and(|value| list.contains(&value));
        }
        if let Some((key, value)) = part.split_once("!=") {
            return of(key.trim()) != Some(value.trim());
        }
        if let Some((key, value)) = part.split_once('=') {
            return of(key.trim()) == Some(value.trim_start_matches('=').trim());
        }
        match part.strip_prefix('!') {
            Some(key) => of(key.trim()).is_none(),
            None => of(part).is_some(),
        }
    })
}

/// Splits at commas that stand outside of parentheses.
fn requirements(selector: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    let parts = selector.split(move |letter: char| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    });
    parts.map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case("a=1", true)]
    #[case("a==1", true)]
    #[case("a=2", false)]
    #[case("a!=2,b", true)]
    #[case("!b", false)]
    #[case("c", false)]
    #[case("a in (1, 2)", true)]
    #[case("a notin (1,2)", false)]
    #[case("c notin (true), a=1", true)]
    #[case("", true)]
    fn selectors(#[case] selector: &str, #[case] expected: bool) {
        let of = |key: &str| match key {
            "a" => Some("1"),
            "b" => Some(""),
            _ => None,
        };
        assert_eq!(selects(selector, of), expected);
    }

    #[rstest]
    #[case(json!({"kind": "Kustomization"}), true)]
    #[case(json!({"kind": "Kustomization", "name": "app"}), false)]
    #[case(json!({"name": "app.*"}), true)]
    #[case(json!({"group": "kustomize.toolkit.fluxcd.io", "version": "v1", "namespace": "s"}), true)]
    #[case(json!({"group": "kustomize.config.k8s.io"}), false)]
    #[case(json!({"name": "("}), false)]
    #[case(json!({"labelSelector": "x=y"}), true)]
    #[case(json!({"annotationSelector": "x=y"}), false)]
    #[case(json!({}), true)]
    fn targets(#[case] target: Value, #[case] expected: bool) {
        let object = json!({"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
            "metadata": {"name": "apps", "namespace": "s", "labels": {"x": "y"}}});
        assert_eq!(fits(&serde_json::from_value(target).unwrap(), &object), expected);
    }
}
