//! Text and numbers as SVG has them.

use std::fmt;

/// Text for content and attributes alike. What XML does not allow, and `clean` lets through, is replaced.
pub(super) fn escaped(text: &str) -> impl fmt::Display + '_ {
    Escaped(text)
}

struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\u{fffe}' | '\u{ffff}' => f.write_str("\u{fffd}")?,
                c if c.is_control() => f.write_str("\u{fffd}")?,
                c => write!(f, "{c}")?,
            }
        }
        Ok(())
    }
}

/// A length with at most one decimal: more would differ where nobody sees it.
pub(super) fn number(value: f64) -> String {
    let tenths = (value * 10.0).round() as i64;
    match tenths % 10 {
        0 => (tenths / 10).to_string(),
        tenth => format!("{}{}.{}", if tenths < 0 { "-" } else { "" }, (tenths / 10).abs(), tenth.abs()),
    }
}
