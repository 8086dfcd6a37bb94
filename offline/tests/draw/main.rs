//! Pictures of needs, in every form.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod docs;
mod forms;
mod properties;
mod support;

#[test]
#[ignore = "writes pictures to look at into the folder PICTURES"]
fn pictures_to_look_at() {
    use sluicegate_offline::draw::{Styling, svg};
    let folder = std::env::var("PICTURES").unwrap();
    for (name, objects) in [
        ("incident", support::incident()),
        ("small", support::small()),
        ("10", support::fleet(10)),
        ("50", support::fleet(50)),
        ("200", support::fleet(200)),
        ("1000", support::fleet(1000)),
    ] {
        let drawing = support::drawing(&objects);
        let start = std::time::Instant::now();
        let text = svg(&drawing, Styling::Inside);
        println!("{name}: {} edges, {:?}, {} bytes", drawing.edges().len(), start.elapsed(), text.len());
        std::fs::write(format!("{folder}/{name}.svg"), text).unwrap();
    }
}
