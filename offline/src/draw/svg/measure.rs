//! How wide a text is, without a font: estimated from its characters, rather too wide than too narrow.

/// The width of a text of that size in a common sans-serif font, in pixels.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(|c| f64::from(hundredths(c))).sum::<f64>() * size / 100.0
}

/// As much of the text as fits, with an ellipsis where it does not.
pub(super) fn fitted(text: &str, size: f64, most: f64) -> String {
    if width(text, size) <= most {
        return text.to_owned();
    }
    let mut sum = width("…", size);
    let fits = |c: &char| {
        sum += f64::from(hundredths(*c)) * size / 100.0;
        sum <= most
    };
    let mut cut: String = text.chars().take_while(fits).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

/// In hundredths of the size; DejaVu Sans, the widest of the usual ones, was measured.
fn hundredths(c: char) -> u32 {
    match c {
        'i' | 'j' | 'l' | '\'' | '|' => 30,
        'I' | '.' | ',' | ':' | ';' | ' ' | '!' | '/' | '-' | '(' | ')' | '[' | ']' | 'f' | 't' | 'r' => 40,
        's' | 'c' | 'z' | 'J' => 56,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 98,
        '…' => 100,
        'a'..='z' | '0'..='9' | '_' => 64,
        'A'..='Z' => 72,
        c if c.is_ascii() => 70,
        c if u32::from(c) < 0x1100 => 75,
        _ => 105,
    }
}
