//! The pictures of the documentation are what is drawn today.

use crate::support::{drawing, incident};
use sluicegate_offline::draw::{Styling, TreeOptions, mermaid, svg, tree};
use std::path::Path;

/// Compares a file with what it should hold; writes it where `SLUICEGATE_DRAW` is set (`make pictures`).
fn is_current(path: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    if std::env::var_os("SLUICEGATE_DRAW").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == text, "{path} is not what is drawn today: make pictures");
}

#[test]
fn the_picture_of_the_incident() {
    is_current("docs/images/graph.svg", &svg(&drawing(&incident()), Styling::Inside));
}

/// What stands between two marks of the page.
#[test]
fn the_examples_of_the_page() {
    let path = "docs/graph.md";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    let page = std::fs::read_to_string(file).unwrap();
    let drawing = drawing(&incident());
    let mut wanted = page;
    for (mark, language, text) in
        [("tree", "text", tree(&drawing, &TreeOptions::default())), ("mermaid", "mermaid", mermaid(&drawing))]
    {
        let (begin, end) = (format!("<!-- {mark}: begin -->\n"), format!("<!-- {mark}: end -->"));
        let (before, rest) = wanted.split_once(&begin).unwrap();
        let (_, after) = rest.split_once(&end).unwrap();
        wanted = format!("{before}{begin}```{language}\n{text}```\n{end}{after}");
    }
    is_current(path, &wanted);
}
