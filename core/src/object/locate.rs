//! Which field an error of `serde_json` is about.
//!
//! The error tells a line and a column. Following the path while decoding (`serde_path_to_error`) would tell it at once,
//! but means a second copy of all decoding code: an eighth of what the compiled policy may weigh.

/// The path of the value that ends or begins at this line and column, as in `spec.dependsOn[1].name`; empty for the
/// whole. Any bytes do: what is no JSON has some path.
#[must_use]
pub fn path_at(json: &[u8], line: usize, column: usize) -> String {
    let start: usize = json.split_inclusive(|byte| *byte == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    // The column counts the bytes up to and including the one that the error is about.
    let end = (start + column).min(json.len());
    let mut scan = Scan { frames: Vec::new(), opened: false, wants_key: false };
    scan.run(json.get(..end).unwrap_or_default());
    // A list or an object that is not wanted is not read: the error stands before it (serde_json 1.0.154).
    let rest = json.get(end..).unwrap_or_default();
    if let Some(b'{' | b'[') = rest.iter().find(|byte| !byte.is_ascii_whitespace()) {
        scan.opened = false;
    }
    scan.path(json)
}

/// A list or an object that the scan is in.
enum Frame {
    List(usize),
    /// With the place of the key of the current field.
    Object(usize, usize),
}

struct Scan {
    frames: Vec<Frame>,
    /// Whether the last thing seen is the beginning of the innermost list or object.
    opened: bool,
    /// Whether the next string is a key.
    wants_key: bool,
}

impl Scan {
    fn run(&mut self, json: &[u8]) {
        let mut at = 0;
        while let Some(byte) = json.get(at) {
            let here = at;
            at += 1;
            match byte {
                b'{' => self.open(Frame::Object(here, here)),
                b'[' => self.open(Frame::List(0)),
                b'}' | b']' => {
                    self.frames.pop();
                    (self.opened, self.wants_key) = (false, false);
                }
                b',' => self.next(),
                b'"' => {
                    at = end_of_string(json, at);
                    if std::mem::take(&mut self.wants_key) {
                        self.key(here + 1, at.saturating_sub(1).max(here + 1));
                    }
                    self.opened = false;
                }
                b' ' | b'\t' | b'\r' | b'\n' | b':' => {}
                _ => self.opened = false,
            }
        }
    }

    fn open(&mut self, frame: Frame) {
        self.wants_key = matches!(frame, Frame::Object(..));
        self.frames.push(frame);
        self.opened = true;
    }

    fn next(&mut self) {
        match self.frames.last_mut() {
            Some(Frame::List(index)) => *index += 1,
            Some(Frame::Object(..)) => self.wants_key = true,
            None => {}
        }
        self.opened = false;
    }

    fn key(&mut self, from: usize, to: usize) {
        if let Some(Frame::Object(start, end)) = self.frames.last_mut() {
            (*start, *end) = (from, to);
        }
    }

    fn path(&self, json: &[u8]) -> String {
        let frames = self.frames.len() - usize::from(self.opened && !self.frames.is_empty());
        let mut path = String::new();
        for frame in self.frames.iter().take(frames) {
            match frame {
                Frame::List(index) => path.push_str(&format!("[{index}]")),
                Frame::Object(from, to) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(&String::from_utf8_lossy(json.get(*from..*to).unwrap_or_default()));
                }
            }
        }
        path
    }
}

/// The index after the closing quote of a string whose first character is at `at`.
fn end_of_string(json: &[u8], mut at: usize) -> usize {
    while let Some(byte) = json.get(at) {
        at += match byte {
            b'"' => return at + 1,
            b'\\' => 2,
            _ => 1,
        };
    }
    json.len()
}

#[cfg(test)]
mod tests {
    use super::path_at;
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::Value;

    /// The path of the first `#` in the text, which stands for the byte that the error is about.
    #[rstest]
    #[case("#", "")]
    #[case(r#"{"a":#}"#, "a")]
    #[case(r#"{"a":{"b":"x#"}}"#, "a.b")]
    #[case(r#"{"a":[{"b":1},{"b":#}]}"#, "a[1].b")]
    #[case(r#"{"a":[[1,2],[3,#]]}"#, "a[1][1]")]
    #[case(r#"{"a\"b":{"c":#}}"#, r#"a\"b.c"#)]
    #[case("{\n \"a\": [\n  #\n ]\n}", "a[0]")]
    #[case(r#"{"x":{"y":[1]},"z":#}"#, "z")]
    fn finds(#[case] text: &str, #[case] path: &str) {
        let at = text.find('#').unwrap();
        let line = text[..at].matches('\n').count() + 1;
        let column = at - text[..at].rfind('\n').map_or(0, |newline| newline + 1) + 1;
        assert_eq!(path_at(text.replace('#', "7").as_bytes(), line, column), path);
    }

    proptest! {
        /// Whatever field of a document has the wrong type, the error of serde_json leads to it.
        #[test]
        fn agrees_with_serde(key in "[a-z]{1,8}", before in "[a-z0-9]{0,9}", wrong in 0_usize..4) {
            #[derive(serde::Deserialize)]
            struct Inner { #[allow(dead_code)] list: Vec<Item> }
            #[derive(serde::Deserialize)]
            struct Item { #[allow(dead_code)] value: bool }
            let wrong = ["3", "\"x\"", "[1]", "{\"y\":2}"][wrong];
            let json = format!(r#"{{"{key}": "{before}", "list": [{{"value": true}}, {{"value": {wrong}}}]}}"#);
            prop_assume!(key != "list");
            let error = serde_json::from_str::<Inner>(&json).err().unwrap();
            prop_assert_eq!(path_at(json.as_bytes(), error.line(), error.column()), "list[1].value");
            let json = format!(r#"{{"list": [ {wrong}]}}"#);
            let found = serde_json::from_str::<Inner>(&json).err().map(|e| path_at(json.as_bytes(), e.line(), e.column()));
            // An object is what an item is, and serde reads a struct from a list as well.
            let at = found.as_deref().unwrap_or_default();
            prop_assert!(wrong.starts_with('{') || at.starts_with("list[0]"), "{at}");
        }

        #[test]
        fn takes_any_bytes(json in proptest::collection::vec(any::<u8>(), 0..60), line in 0_usize..4, column in 0_usize..70) {
            let _ = path_at(&json, line, column);
            let _ = serde_json::from_slice::<Value>(&json);
        }
    }
}
