//! The compiled policy, found or built once.

use sluicegate_host::Policy;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

/// Names a policy that is there already.
const GIVEN: &str = "SLUICEGATE_POLICY_WASM";
const TARGET: &str = "wasm32-wasip1";

/// The policy, compiled once for all tests: for Wasm by cargo, for this machine by wasmtime.
///
/// # Panics
/// With what is missing, if it cannot be built.
pub fn policy() -> &'static Policy {
    static POLICY: OnceLock<Policy> = OnceLock::new();
    POLICY.get_or_init(|| Policy::from_bytes(module()).unwrap_or_else(|error| panic!("{error}")))
}

/// The bytes of the module.
///
/// # Panics
/// As [`policy`].
pub fn module() -> &'static [u8] {
    static MODULE: OnceLock<Vec<u8>> = OnceLock::new();
    MODULE.get_or_init(|| {
        let path = env::var_os(GIVEN).map_or_else(build, PathBuf::from);
        fs::read(&path).unwrap_or_else(|error| panic!("cannot read the policy {}: {error}", path.display()))
    })
}

/// Builds the policy as `make policy.wasm` does, next to the tests, so that one is the other's cache.
fn build() -> PathBuf {
    // target/debug/deps/compiled-0123456789abcdef
    let test = env::current_exe().unwrap();
    let target = test.ancestors().nth(3).expect("a test stands in target/PROFILE/deps");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["rustc", "--locked", "--profile", "guest", "--target", TARGET, "-p", "sluicegate-policy"]);
    cargo.args(["--crate-type", "cdylib"]);
    // The settings in .cargo of the workspace are found from there.
    cargo.arg("--target-dir").arg(target).current_dir(workspace);
    let output = cargo.output().unwrap_or_else(|error| panic!("cannot run {cargo:?}: {error}"));
    assert!(
        output.status.success(),
        "the policy does not build for {TARGET} (is the target there? `rustup target add {TARGET}`; or name a policy \
         that is built with {GIVEN}):\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    target.join(TARGET).join("guest").join("sluicegate_policy.wasm")
}
