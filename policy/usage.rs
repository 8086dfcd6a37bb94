/// The part of the README that is about the policy: without what stands between `<!-- demo: begin …` or
/// `<!-- binary: begin …` and the end mark of the same name. The module has a megabyte, and the demo and the companion
/// are of no use to whoever inspects it.
fn usage(readme: &str) -> String {
    let mut skipped: Option<&str> = None;
    let mut text = String::new();
    for line in readme.lines() {
        let mark = line.strip_prefix("<!-- ").and_then(|rest| rest.split_once(": "));
        match (mark, skipped) {
            (Some((name @ ("demo" | "binary"), rest)), None) if rest.starts_with("begin") => skipped = Some(name),
            (Some((name, rest)), Some(open)) if name == open && rest.starts_with("end") => skipped = None,
            (_, None) => {
                text.push_str(line);
                text.push('\n');
            }
            _ => {}
        }
    }
    text
}
