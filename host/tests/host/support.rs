//! Guests of a few lines, written for the tests.

use std::{fmt::Write, time::Duration};

use serde_json::{Value, json};
use sluicegate_host::{LoadOptions, Policy};

/// What may be read by the guests with [`METADATA`].
pub const METADATA: &str = r#"{"protocolVersion":"v1","rules":[],"mutating":true,"contextAwareResources":[
    {"apiVersion":"kustomize.toolkit.fluxcd.io/v1","kind":"Kustomization"},
    {"apiVersion":"helm.toolkit.fluxcd.io/v2","kind":"HelmRelease"},
    {"apiVersion":"cozystack.io/v1alpha1","kind":"Package"}]}"#;

/// A guest, to be compiled.
pub struct Guest {
    sections: Vec<String>,
    data: String,
    used: usize,
    validate: String,
    settings: String,
    start: String,
}

impl Default for Guest {
    /// Annotated, its settings always valid, answers to `validate` with nothing at all.
    fn default() -> Self {
        let mut guest = Self {
            sections: vec![METADATA.to_owned()],
            data: String::new(),
            used: 1024,
            validate: "(i32.const 1)".to_owned(),
            settings: String::new(),
            start: String::new(),
        };
        guest.settings = guest.respond(r#"{"valid":true,"message":null}"#);
        guest
    }
}

impl Guest {
    /// Answers `validate` with a text.
    pub fn answering(text: &str) -> Self {
        let mut guest = Self::default();
        guest.validate = guest.respond(text);
        guest
    }

    /// Fails `validate` with a text.
    pub fn failing(text: &str) -> Self {
        let mut guest = Self::default();
        let (at, len) = guest.text(text);
        guest.validate = format!("(call $guest_error (i32.const {at}) (i32.const {len})) (i32.const 0)");
        guest
    }

    /// Answers `validate` with what it was given.
    pub fn echoing() -> Self {
        Self::running(
            "(call $guest_request (i32.const 0) (i32.const 65536))
             (call $guest_response (i32.const 65536) (local.get $len)) (i32.const 1)",
        )
    }

    /// Makes host calls, one after the other: answers with the last answer, fails with the first error.
    pub fn calling(calls: &[(&str, &str, &str, &str)]) -> Self {
        let mut guest = Self::default();
        let mut body = String::new();
        for (binding, namespace, operation, payload) in calls {
            let arguments = [binding, namespace, operation, payload].map(|part| guest.text(part));
            let mut flat = String::new();
            for (at, len) in arguments {
                write!(flat, "(i32.const {at}) (i32.const {len})").unwrap();
            }
            write!(
                body,
                "(if (i32.eqz (call $host_call {flat})) (then
                    (call $host_error (i32.const 65536))
                    (call $guest_error (i32.const 65536) (call $host_error_len))
                    (return (i32.const 0))))"
            )
            .unwrap();
        }
        body += "(call $host_response (i32.const 65536))
                 (call $guest_response (i32.const 65536) (call $host_response_len)) (i32.const 1)";
        guest.validate = body;
        guest
    }

    /// Makes a host call, and fails with what came of it, be it an answer or an error.
    #[cfg(feature = "serve")]
    pub fn calling_and_failing(call: (&str, &str, &str, &str)) -> Self {
        let mut guest = Self::calling(&[call]);
        guest.validate = guest.validate.replace(
            "(call $guest_response (i32.const 65536) (call $host_response_len)) (i32.const 1)",
            "(call $guest_error (i32.const 65536) (call $host_response_len)) (i32.const 0)",
        );
        guest
    }

    /// Breaks off in the second call of an instance.
    #[cfg(feature = "serve")]
    pub fn refuse_second_call(&mut self) {
        let body = &self.validate;
        self.validate =
            format!("(if (global.get $called) (then unreachable)) (global.set $called (i32.const 1)) {body}");
    }

    /// Makes host calls, whatever comes of them, then answers with a text.
    pub fn calling_then(calls: &[(&str, &str, &str, &str)], text: &str) -> Self {
        let mut guest = Self::default();
        let end = guest.respond(text);
        guest.validate = guest.calls(calls) + &end;
        guest
    }

    /// Makes host calls, whatever comes of them, then runs a body.
    pub fn calling_then_running(calls: &[(&str, &str, &str, &str)], body: &str) -> Self {
        let mut guest = Self::default();
        guest.validate = guest.calls(calls) + body;
        guest
    }

    fn calls(&mut self, calls: &[(&str, &str, &str, &str)]) -> String {
        let mut body = String::new();
        for (binding, namespace, operation, payload) in calls {
            let mut flat = String::new();
            for (at, len) in [binding, namespace, operation, payload].map(|part| self.text(part)) {
                write!(flat, "(i32.const {at}) (i32.const {len})").unwrap();
            }
            write!(body, "(drop (call $host_call {flat}))").unwrap();
        }
        body
    }

    /// Writes a text to standard output, then answers `validate` with another.
    pub fn printing(printed: &str, answer: &str) -> Self {
        let mut guest = Self::default();
        let (at, len) = guest.text(printed);
        guest.validate = format!(
            "(i32.store (i32.const 0) (i32.const {at})) (i32.store (i32.const 4) (i32.const {len}))
             (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))"
        ) + &guest.respond(answer);
        guest
    }

    /// Runs a body of WebAssembly text for `validate`: parameters `$op` and `$len`, result 1 or 0.
    pub fn running(body: &str) -> Self {
        Self { validate: body.to_owned(), ..Self::default() }
    }

    /// Answers `validate` with "first" in its first call, with "again" in others.
    pub fn remembering() -> Self {
        let mut guest = Self::default();
        let (first, again) = (guest.respond("first"), guest.respond("again"));
        guest.validate = format!(
            "(if (result i32) (global.get $called) (then {again}) (else (global.set $called (i32.const 1)) {first}))"
        );
        guest
    }

    /// Loops forever in its second call of `validate`.
    pub fn looping_then_remembering() -> Self {
        let mut guest = Self::default();
        let (first, again) = (guest.respond("first"), guest.respond("again"));
        guest.validate = format!(
            "(if (i32.eq (local.get $len) (i32.const 4)) (then (loop $l (br $l))))
             (if (result i32) (global.get $called) (then {again}) (else (global.set $called (i32.const 1)) {first}))"
        );
        guest
    }

    /// Counts to `turns`, then answers `validate` with a text.
    pub fn answering_after(text: &str, turns: u32) -> Self {
        let mut guest = Self::answering(text);
        guest.prepend_count(turns);
        guest
    }

    fn prepend_count(&mut self, turns: u32) {
        self.validate = format!(
            "(local $i i32) (loop $l (local.set $i (i32.add (local.get $i) (i32.const 1)))
               (br_if $l (i32.lt_u (local.get $i) (i32.const {turns})))) {}",
            self.validate
        );
    }

    /// Answers `validate_settings` with a text.
    pub fn with_settings_answer(mut self, text: &str) -> Self {
        self.settings = self.respond(text);
        self
    }

    /// Runs a body for `validate_settings`.
    pub fn with_settings_body(mut self, body: &str) -> Self {
        self.settings = body.to_owned();
        self
    }

    /// Runs a body in `wapc_init`.
    pub fn with_init(mut self, body: &str) -> Self {
        self.start = body.to_owned();
        self
    }

    /// Puts these metadata sections in, instead of [`METADATA`].
    pub fn with_sections(mut self, sections: &[&str]) -> Self {
        self.sections = sections.iter().map(|&section| section.to_owned()).collect();
        self
    }

    /// The module.
    pub fn bytes(&self) -> Vec<u8> {
        let sections: String = self
            .sections
            .iter()
            .map(|section| format!("(@custom \"io.kubewarden.metadata\" \"{}\")", escape(section)))
            .collect();
        let (data, validate, settings, start) = (&self.data, &self.validate, &self.settings, &self.start);
        let text = format!(
            r#"(module
              (import "wapc" "__guest_request" (func $guest_request (param i32 i32)))
              (import "wapc" "__guest_response" (func $guest_response (param i32 i32)))
              (import "wapc" "__guest_error" (func $guest_error (param i32 i32)))
              (import "wapc" "__host_call" (func $host_call (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
              (import "wapc" "__host_response" (func $host_response (param i32)))
              (import "wapc" "__host_response_len" (func $host_response_len (result i32)))
              (import "wapc" "__host_error" (func $host_error (param i32)))
              (import "wapc" "__host_error_len" (func $host_error_len (result i32)))
              (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
              (memory (export "memory") 16)
              (global $called (mut i32) (i32.const 0))
              (data (i32.const 64) "\"v1\"")
              {data}
              (func $turn (local $i i32)
                (loop $l (local.set $i (i32.add (local.get $i) (i32.const 1)))
                  (br_if $l (i32.lt_u (local.get $i) (i32.const 10)))))
              (func (export "wapc_init") {start})
              (func $validate (param $op i32) (param $len i32) (result i32) {validate})
              (func $settings (param $op i32) (param $len i32) (result i32) {settings})
              (func (export "__guest_call") (param $op i32) (param $len i32) (result i32)
                (if (i32.eq (local.get $op) (i32.const {validate_len}))
                  (then (return (call $validate (local.get $op) (local.get $len)))))
                (if (i32.eq (local.get $op) (i32.const {settings_len}))
                  (then (return (call $settings (local.get $op) (local.get $len)))))
                (call $guest_response (i32.const 64) (i32.const 4)) (i32.const 1))
              {sections})"#,
            validate_len = "validate".len(),
            settings_len = "validate_settings".len(),
        );
        wat::parse_str(&text).unwrap()
    }

    /// Compiled.
    pub fn policy(&self) -> Policy {
        Policy::from_bytes(&self.bytes()).unwrap()
    }

    /// Compiled, with little memory: 8 MiB.
    pub fn policy_with_little_memory(&self) -> Policy {
        let options = LoadOptions { memory_bytes: Some(8 * 1024 * 1024), ..LoadOptions::default() };
        Policy::with_options(&self.bytes(), &options).unwrap()
    }

    /// Compiled, with ticks so short that only a guest that never ends is sure to meet its deadline, and none is sure to
    /// keep it.
    pub fn policy_with_short_ticks(&self) -> Policy {
        let options = LoadOptions { tick: Duration::from_millis(5), ..LoadOptions::default() };
        Policy::with_options(&self.bytes(), &options).unwrap()
    }

    fn respond(&mut self, text: &str) -> String {
        let (at, len) = self.text(text);
        format!("(call $guest_response (i32.const {at}) (i32.const {len})) (i32.const 1)")
    }

    fn text(&mut self, text: &str) -> (usize, usize) {
        let at = self.used;
        write!(self.data, "(data (i32.const {at}) \"{}\")", escape(text)).unwrap();
        self.used += text.len();
        assert!(self.used < 65536, "too much text for a test guest");
        (at, text.len())
    }
}

fn escape(text: &str) -> String {
    text.bytes().map(|byte| format!("\\{byte:02x}")).collect()
}

/// A request with what is mandatory, and an object.
pub fn request() -> Value {
    json!({
        "uid": "uid-1",
        "kind": {"group": "g", "version": "v1", "kind": "K"},
        "resource": {"group": "g", "version": "v1", "resource": "ks"},
        "operation": "UPDATE",
        "userInfo": {"username": "alice"},
        "object": {"spec": {"suspend": false}}
    })
}

/// Payload of a read.
pub fn get(kind: &str, namespace: &str, name: &str) -> String {
    let api_version = match kind {
        "Kustomization" => "kustomize.toolkit.fluxcd.io/v1",
        "HelmRelease" => "helm.toolkit.fluxcd.io/v2",
        _ => "cozystack.io/v1alpha1",
    };
    json!({"api_version": api_version, "kind": kind, "name": name, "namespace": namespace, "disable_cache": true})
        .to_string()
}

/// A Kustomization.
pub fn kustomization(name: &str) -> Value {
    json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
        "metadata": {"name": name, "namespace": "apps"},
        "spec": {"suspend": true, "path": "./x"}, "status": {"observedGeneration": 3}
    })
}
