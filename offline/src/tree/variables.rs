//! Variables of `spec.postBuild`: `${x}` as kustomize-controller substitutes it (drone/envsubst, fluxcd/pkg envsubst).

use std::collections::BTreeMap;

/// The variables of a Kustomization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// Those that are known.
    pub known: BTreeMap<String, String>,
    /// Whether there may be others, whose values cannot be had here: from something encrypted, or not in the tree.
    pub others: bool,
}

impl Variables {
    /// The text with variables replaced. One that is not set is empty, as for the controller, unless it may be set by
    /// something that cannot be read: then it stays as it is.
    #[must_use]
    pub fn substitute(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            let (before, from) = rest.split_at(at);
            out.push_str(before);
            if let Some(escaped) = from.strip_prefix("$$") {
                // `$${x}` stands for `${x}`.
                let end = if escaped.starts_with('{') { escaped.find('}').map_or(0, |end| end + 1) } else { 0 };
                let (plain, after) = escaped.split_at(end);
                out.push('$');
                out.push_str(plain);
                rest = after;
                continue;
            }
            let body = from.strip_prefix("${").and_then(|inner| inner.split_once('}'));
            let Some((body, after)) = body else {
                out.push('$');
                rest = from.strip_prefix('$').unwrap_or_default();
                continue;
            };
            match self.value(body) {
                Some(value) => out.push_str(&value),
                None => {
                    out.push_str("${");
                    out.push_str(body);
                    out.push('}');
                }
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }

    /// The value of what stands between the braces; `None` if it cannot be told.
    fn value(&self, body: &str) -> Option<String> {
        let end = body.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).unwrap_or(body.len());
        let (name, operation) = body.split_at(end);
        if name.is_empty() || name.starts_with(|letter: char| letter.is_ascii_digit()) {
            return None;
        }
        let value = self.known.get(name).cloned();
        if value.is_none() && self.others {
            return None;
        }
        let default = [":=", ":-", "=", "-"].iter().find_map(|sign| operation.strip_prefix(sign));
        match (operation, default) {
            ("", _) => Some(value.unwrap_or_default()),
            (_, Some(default)) => Some(value.filter(|value| !value.is_empty()).unwrap_or_else(|| default.to_owned())),
            // Cutting and changing case: nobody names objects with it.
            _ => None,
        }
    }
}

/// Whether a text still holds a variable, so that it is not known what it says.
#[must_use]
pub fn is_open(text: &str) -> bool {
    text.contains("${")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("${a}-x", "one-x", "one-x")]
    #[case("${none}x", "x", "${none}x")]
    #[case("${none:=d}x", "dx", "${none:=d}x")]
    #[case("${none:-d}x", "dx", "${none:-d}x")]
    #[case("${a:=d}", "one", "one")]
    #[case("${empty:=d}", "d", "d")]
    #[case("$${a}", "${a}", "${a}")]
    #[case("$$ $x ${", "$ $x ${", "$ $x ${")]
    #[case("${a/o/u}", "${a/o/u}", "${a/o/u}")]
    #[case("${}${1}${ä}", "${}${1}${ä}", "${}${1}${ä}")]
    #[case("plain", "plain", "plain")]
    #[case("ä${a}ö", "äoneö", "äoneö")]
    fn substitution(#[case] text: &str, #[case] closed: &str, #[case] open: &str) {
        let known = BTreeMap::from([("a".to_owned(), "one".to_owned()), ("empty".to_owned(), String::new())]);
        let mut variables = Variables { known, others: false };
        assert_eq!(variables.substitute(text), closed);
        variables.others = true;
        assert_eq!(variables.substitute(text), open);
    }
}
