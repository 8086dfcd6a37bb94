use super::*;

const TREE: &str = "\
0|app v0.1.0 (/home/somebody/app)|Apache-2.0|https://example.com/app
1|core v0.1.0 (/home/somebody/app/core)|Apache-2.0|https://example.com/app
2|leaf v1.2.0+x|MIT/Apache-2.0|https://example.com/leaf
1|leaf v1.2.0+x|MIT/Apache-2.0|https://example.com/leaf (*)
1|bare v2.0.0||
";

const LOCK: &str = r#"
version = 4
[[package]]
name = "app"
version = "0.1.0"
[[package]]
name = "core"
version = "0.1.0"
[[package]]
name = "leaf"
version = "1.2.0+x"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "aa"
[[package]]
name = "bare"
version = "2.0.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "bb"
"#;

const TOOLCHAIN: &str = "[toolchain]\nchannel = \"1.95.0\"\n";

fn subject() -> Subject<'static> {
    let artifact = Some(("app.wasm".to_owned(), "sha256:cc".to_owned()));
    Subject { package: "app", target: "wasm32-wasip1", artifact, created: 86_400 }
}

#[test]
fn the_whole_document() {
    let document = Document::new(&subject(), TREE, LOCK, TOOLCHAIN).unwrap();
    let text = serde_json::to_string_pretty(&document).unwrap();
    insta::assert_snapshot!("document", text);
    assert!(!text.contains("somebody"), "folders of the machine have no place in it");
}

#[test]
fn each_mistake_is_named() {
    let new = |tree: &str, lock: &str, toolchain: &str| {
        Document::new(&subject(), tree, lock, toolchain).unwrap_err().to_string()
    };
    assert_eq!(new("1|x", LOCK, TOOLCHAIN), "cannot read this line of cargo tree: \"1|x\"");
    assert_eq!(new("", LOCK, TOOLCHAIN), "cargo tree does not begin with app");
    assert_eq!(new("0|other v1.0.0|MIT|", LOCK, TOOLCHAIN), "cargo tree does not begin with app");
    assert_eq!(
        new(TREE, &LOCK.replace("checksum = \"bb\"", ""), TOOLCHAIN),
        "Cargo.lock has no checksum for bare 2.0.0"
    );
    assert!(new(TREE, "package = 1", TOOLCHAIN).starts_with("cannot read Cargo.lock: "));
    assert!(new(TREE, LOCK, "").starts_with("cannot read rust-toolchain.toml: "));
}
