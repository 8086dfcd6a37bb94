//! How an evaluation can end.

use rstest::rstest;
use serde_json::json;
use sluicegate_host::{AdmissionResponse, EvaluationError, Host, NoCluster, Policy, TIMEOUT_MESSAGE};

use crate::support::{Guest, request};

const LOOP: &str = "(loop $l (br $l)) (i32.const 1)";

fn verdict(guest: &Guest) -> AdmissionResponse {
    Host::new(&guest.policy_with_little_memory(), NoCluster).validate(&request()).unwrap().response
}

fn verdict_in_time(guest: &Guest) -> AdmissionResponse {
    Host::new(&guest.policy_with_short_ticks(), NoCluster).validate(&request()).unwrap().response
}

fn denied_with_500(response: &AdmissionResponse) -> &str {
    assert!(!response.allowed);
    assert_eq!(response.code(), Some(500));
    assert_eq!(response.uid, "uid-1");
    response.message()
}

#[test]
fn an_error_of_the_guest_denies() {
    assert_eq!(
        denied_with_500(&verdict(&Guest::failing("cannot read \"x\""))),
        "internal server error: Guest call failure: cannot read \"x\""
    );
}

#[test]
fn a_trap_denies_without_saying_why() {
    let response = verdict(&Guest::running("unreachable"));
    let text = denied_with_500(&response);
    let expected = "internal server error: Guest call failure: error while executing at wasm backtrace:\n";
    assert!(text.starts_with(expected), "{text}");
    assert!(!text.contains("unreachable"), "{text}");
}

#[rstest]
#[case::no_json("{", "EOF while parsing an object at line 1 column 1")]
#[case::no_verdict("{}", "missing field `accepted` at line 1 column 2")]
#[case::wrong_type(r#"{"accepted":1}"#, "invalid type: integer `1`, expected a boolean at line 1 column 13")]
#[case::empty("", "EOF while parsing a value at line 1 column 0")]
fn an_answer_that_cannot_be_read_denies(#[case] answer: &str, #[case] reason: &str) {
    assert_eq!(
        denied_with_500(&verdict(&Guest::answering(answer))),
        format!("internal server error: invalid response from policy: {reason}")
    );
}

#[test]
fn no_answer_at_all_denies() {
    assert_eq!(
        denied_with_500(&verdict(&Guest::default())),
        "internal server error: Guest call failure: No error message OR response set for call success"
    );
}

#[test]
fn an_endless_loop_is_interrupted() {
    assert_eq!(TIMEOUT_MESSAGE, "Policy execution interrupted because it exceeded the allowed execution time");
    assert_eq!(denied_with_500(&verdict_in_time(&Guest::running(LOOP))), TIMEOUT_MESSAGE);
}

#[test]
fn an_endless_start_is_interrupted() {
    let guest = Guest::answering(r#"{"accepted":true}"#).with_init("(loop $l (br $l))");
    assert_eq!(denied_with_500(&verdict_in_time(&guest)), TIMEOUT_MESSAGE);
}

#[test]
fn a_guest_that_cannot_start_has_no_verdict() {
    let policy = Guest::default().with_init("unreachable").policy();
    let error = Host::new(&policy, NoCluster).validate(&request()).unwrap_err();
    assert!(matches!(error, EvaluationError::Instance { .. }));
    let expected = "cannot rehydrate PolicyEvaluatorPre: cannot build Wapc host: Initialization failed: ";
    assert!(error.to_string().starts_with(expected), "{error}");
}

#[test]
fn time_spent_in_host_calls_counts() {
    use std::{thread, time::Duration};

    use sluicegate_host::{Failure, Scripted};

    // Blocks far longer than the deadline. The guest is stopped at its next turn.
    let slow = Scripted::new(|_| {
        thread::sleep(Duration::from_millis(300));
        Err(Failure::new("slow"))
    });
    let payload = crate::support::get("Kustomization", "apps", "a");
    let calls = [("kubewarden", "kubernetes", "get_resource", payload.as_str())];
    let guest = Guest::calling_then_running(&calls, "(call $turn) (i32.const 1)");
    let host = Host::new(&guest.policy_with_short_ticks(), slow).with_timeout(Some(2));
    let evaluation = host.validate(&request()).unwrap();
    assert_eq!(denied_with_500(&evaluation.response), TIMEOUT_MESSAGE);
    assert_eq!(evaluation.calls.len(), 1);
}

#[test]
fn memory_is_limited() {
    // Takes pages until it is refused, then says how many it has: 8 MiB are 128.
    let guest = Guest::running(
        "(loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
         (if (i32.ne (memory.size) (i32.const 128)) (then unreachable))
         (call $guest_error (i32.const 64) (i32.const 4)) (i32.const 0)",
    );
    assert_eq!(denied_with_500(&verdict(&guest)), "internal server error: Guest call failure: \"v1\"");
}

#[test]
fn runaway_recursion_is_a_trap() {
    let guest = Guest::running("(call $validate (local.get $op) (call $validate (local.get $op) (local.get $len)))");
    let response = verdict(&guest);
    assert!(denied_with_500(&response).starts_with("internal server error: Guest call failure: error while executing"));
}

#[test]
fn a_host_is_shared_among_threads() {
    fn shared<T: Send + Sync + Clone>(_: &T) {}
    let host = Host::new(&Guest::answering(r#"{"accepted":true}"#).policy(), NoCluster);
    shared(&host);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| host.validate(&request()).unwrap())).collect();
        for thread in threads {
            assert!(thread.join().unwrap().response.allowed);
        }
    });
}

#[test]
fn each_evaluation_has_a_fresh_instance() {
    let host = Host::new(&Guest::remembering().policy(), NoCluster);
    for _ in 0..2 {
        assert_eq!(host.instance().unwrap().call("validate", b"").unwrap(), b"first");
    }
    let mut instance = host.instance().unwrap();
    assert_eq!(instance.call("validate", b"").unwrap(), b"first");
    assert_eq!(instance.call("validate", b"").unwrap(), b"again");
}

#[test]
fn after_a_time_out_the_instance_is_discarded() {
    let host = Host::new(&Guest::looping_then_remembering().policy(), NoCluster);
    let mut instance = host.instance().unwrap();
    assert_eq!(instance.call("validate", b"").unwrap(), b"first");
    assert_eq!(instance.call("validate", b"").unwrap(), b"again");
    let error = instance.call("validate", b"loop").unwrap_err();
    assert_eq!(error.to_string(), "Guest call failure: guest code interrupted, execution deadline exceeded");
    assert_eq!(instance.call("validate", b"").unwrap(), b"first");
}

#[test]
fn an_error_leaves_the_instance_alone() {
    let guest = Guest::running(
        "(if (result i32) (global.get $called)
           (then (call $guest_response (i32.const 64) (i32.const 4)) (i32.const 1))
           (else (global.set $called (i32.const 1)) (i32.const 0)))",
    );
    let mut instance = Host::new(&guest.policy(), NoCluster).instance().unwrap();
    assert_eq!(
        instance.call("validate", b"").unwrap_err().to_string(),
        "Guest call failure: No error message set for call failure"
    );
    assert_eq!(instance.call("validate", b"").unwrap(), b"\"v1\"");
}

#[test]
fn protocol_version_is_asked_for() {
    assert_eq!(Host::new(&Guest::default().policy(), NoCluster).protocol_version().unwrap(), "v1");
}

#[rstest]
#[case::fine(r#"{"valid":true}"#, true, None)]
#[case::not_fine(r#"{"valid":false,"message":"role: unknown"}"#, false, Some("role: unknown"))]
#[case::no_json(
    "{",
    false,
    Some(r#"error: InvalidResponseWithError(Error("EOF while parsing an object", line: 1, column: 1))"#)
)]
fn what_a_policy_says_of_its_settings(#[case] answer: &str, #[case] valid: bool, #[case] message: Option<&str>) {
    let policy = Guest::default().with_settings_answer(answer).policy();
    let verdict = Host::new(&policy, NoCluster).validate_settings().unwrap();
    assert_eq!((verdict.valid, verdict.message.as_deref()), (valid, message));
}

#[rstest]
#[case::error(
    "(call $guest_error (i32.const 64) (i32.const 4)) (i32.const 0)",
    r#"Error invoking settings validation callback: GuestCallFailure("\"v1\"")"#
)]
#[case::endless(
    LOOP,
    r#"Error invoking settings validation callback: GuestCallFailure("guest code interrupted, execution deadline exceeded")"#
)]
fn a_guest_that_fails_finds_its_settings_invalid(#[case] body: &str, #[case] message: &str) {
    let policy = Guest::default().with_settings_body(body).policy();
    let verdict = Host::new(&policy, NoCluster).validate_settings().unwrap();
    assert!(!verdict.valid);
    assert_eq!(verdict.message.as_deref(), Some(message));
}

#[test]
fn settings_are_sent_bare() {
    // Echoes its payload as an error.
    let policy = Guest::default()
        .with_settings_body(
            "(call $guest_request (i32.const 0) (i32.const 65536))
             (call $guest_error (i32.const 65536) (local.get $len)) (i32.const 0)",
        )
        .policy();
    let host = Host::new(&policy, NoCluster);
    let message = |host: &Host| host.validate_settings().unwrap().message.unwrap();
    assert!(message(&host).ends_with(r#"GuestCallFailure("{}")"#));
    let host = host.with_settings(json!({"role": "hold"})).unwrap();
    assert!(message(&host).ends_with(r#"GuestCallFailure("{\"role\":\"hold\"}")"#));
}

#[test]
fn without_a_deadline_a_guest_outlives_many_ticks() {
    // Long enough for several ticks of 5 ms in any build.
    let guest = Guest::answering_after(r#"{"accepted":true}"#, 200_000_000);
    let policy = guest.policy_with_short_ticks();
    let host = Host::new(&policy, NoCluster);
    assert_eq!(denied_with_500(&host.validate(&request()).unwrap().response), TIMEOUT_MESSAGE);
    assert!(host.with_timeout(None).validate(&request()).unwrap().response.allowed);
}

#[rstest]
#[case::empty(b"", "cannot parse the WebAssembly module: ")]
#[case::text(b"hello", "cannot parse the WebAssembly module: ")]
fn what_is_no_policy(#[case] bytes: &[u8], #[case] text: &str) {
    let error = Policy::from_bytes(bytes).unwrap_err().to_string();
    assert!(error.starts_with(text), "{error}");
}

#[test]
fn a_missing_file_is_named() {
    let error = Policy::load("/nowhere/policy.wasm").unwrap_err().to_string();
    assert!(error.starts_with("cannot read /nowhere/policy.wasm: "), "{error}");
}

#[test]
fn a_module_that_is_no_guest_has_no_verdict() {
    let policy = Policy::from_bytes(&wat::parse_str("(module)").unwrap()).unwrap();
    let error = Host::new(&policy, NoCluster).validate(&request()).unwrap_err().to_string();
    assert!(error.contains("Guest call function (__guest_call) not exported by wasm module."), "{error}");
}

#[test]
fn an_import_nobody_offers_does_not_link() {
    let bytes = wat::parse_str(r#"(module (import "env" "f" (func)))"#).unwrap();
    let error = Policy::from_bytes(&bytes).unwrap_err().to_string();
    assert!(error.starts_with("cannot link the policy: "), "{error}");
    assert!(error.contains("env"), "{error}");
}
