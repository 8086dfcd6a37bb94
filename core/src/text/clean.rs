//! Text from objects is hostile until cleaned.

use std::fmt;

/// Shows a piece of an object: control characters and other invisible ones are escaped, and what is longer than
/// `limit` characters is cut with an ellipsis.
///
/// Quotes stay as they are: the texts are plain sentences, not code.
pub fn clean(text: &str, limit: usize) -> impl fmt::Display + '_ {
    Clean { text, limit }
}

struct Clean<'a> {
    text: &'a str,
    limit: usize,
}

/// Bidirectional controls, zero-width and other format characters: they can make a message read as another one.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

impl fmt::Display for Clean<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (shown, c) in self.text.chars().enumerate() {
            if shown >= self.limit {
                return f.write_str("…");
            }
            if c.is_control() || is_invisible(c) {
                write!(f, "{}", c.escape_unicode())?;
            } else {
                write!(f, "{c}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::clean;
    use rstest::rstest;

    #[rstest]
    #[case("plain", 63, "plain")]
    #[case("", 63, "")]
    #[case("two\nlines", 63, "two\\u{a}lines")]
    #[case("abcdef", 3, "abc…")]
    #[case("abc", 3, "abc")]
    #[case("a\u{202e}b", 9, "a\\u{202e}b")]
    #[case("\"quoted\"", 63, "\"quoted\"")]
    fn cleans(#[case] text: &str, #[case] limit: usize, #[case] shown: &str) {
        assert_eq!(clean(text, limit).to_string(), shown);
    }
}
