//! What the API server answered.

use anyhow::{Result, bail};
use serde_json::Value;

/// An answer, whatever it says.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub code: u16,
    /// The object, or a Status.
    pub body: Value,
    /// What the Warning headers say, unquoted, in their order.
    pub warnings: Vec<String>,
    /// What was asked, for texts.
    pub request: String,
}

impl Answer {
    /// The stored object.
    ///
    /// # Errors
    ///
    /// The request was not admitted, or failed.
    pub fn admitted(self) -> Result<Value> {
        if !(200..300).contains(&self.code) {
            bail!("{}: {} {}", self.request, self.code, self.message());
        }
        Ok(self.body)
    }

    /// The text of a refusal, without what the API server puts before it.
    ///
    /// # Errors
    ///
    /// It was admitted, or it failed for another reason than a webhook's refusal.
    pub fn refused(self) -> Result<String> {
        let message = self.message();
        match message.split_once(" denied the request: ") {
            Some((webhook, text)) if webhook.starts_with("admission webhook ") => Ok(text.to_owned()),
            _ => bail!("{}: a refusal was expected, but the answer is {} {message}", self.request, self.code),
        }
    }

    /// The message of a Status, nothing for an object.
    #[must_use]
    pub fn message(&self) -> String {
        self.body.get("message").and_then(Value::as_str).unwrap_or_default().to_owned()
    }
}

/// The text of a Warning header: `299 - "TEXT"`.
pub(crate) fn unquote(header: &str) -> String {
    let Some((_, quoted)) = header.split_once('"') else { return header.to_owned() };
    let quoted = quoted.strip_suffix('"').unwrap_or(quoted);
    let mut text = String::new();
    let mut escaped = false;
    for character in quoted.chars() {
        if character == '\\' && !escaped {
            escaped = true;
        } else {
            escaped = false;
            text.push(character);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::unquote;

    #[test]
    fn a_warning_loses_its_code_and_quotes() {
        assert_eq!(unquote(r#"299 - "held: \"a\" is not ready""#), r#"held: "a" is not ready"#);
        assert_eq!(unquote("plain"), "plain");
    }
}
