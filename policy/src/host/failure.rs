//! What a failed read means. The host has no typed errors: there are only texts (policy-evaluator 1.36, kube 3.1).
//!
//! Each text is matched from its beginning, and against what was asked for, so that no name can pass for a failure.

use sluicegate_core::gate::Fetched;

/// What was asked for.
pub(crate) struct Wanted<'a> {
    pub api_version: &'a str,
    pub kind: &'a str,
    pub name: &'a str,
}

/// What the guest library puts before a text of the host (wapc-guest 1.2).
const GUEST: &str = "Host error: ";
/// What the host puts before everything that failed outside of the policy's own thread.
const HOST: &str = "Callback evaluation failure: ";
/// The policy's settings in the cluster, or its host capabilities, do not list what was asked for.
const NOT_GRANTED: &str = "Policy has not been granted access to ";
/// A Status of the API server; its Debug form follows, and holds `code: NUMBER`.
const STATUS: &str = "ApiError: ";
/// How that Debug form begins: of kube 3, and before.
const STATUS_DEBUG: [&str; 2] = [" (Status { ", " (ErrorResponse { "];
/// The longest text that is handed on.
const LONGEST: usize = 500;

/// Tells what the text of a failed `get_resource` means.
///
/// Texts may go on after what is matched: they are Debug forms of `anyhow` errors, with causes and backtraces.
pub(crate) fn classify(text: &str, wanted: &Wanted<'_>) -> Fetched {
    let Wanted { api_version, kind, name } = wanted;
    let text = text.strip_prefix(GUEST).unwrap_or(text);
    if text.starts_with(NOT_GRANTED) {
        return Fetched::Forbidden;
    }
    let text = text.strip_prefix(HOST).unwrap_or(text);
    let first = text.lines().next().unwrap_or_default();
    if text.starts_with(&format!("Cannot find {api_version}/{kind} named '{name}' ")) {
        return Fetched::Absent;
    }
    if first == format!("Cannot find resource {api_version}/{kind}") {
        return Fetched::KindAbsent;
    }
    let discovery = text.strip_prefix(&format!("error finding resource {api_version} / {kind}: "));
    // Only a Status that says so makes a kind absent: looking for it can fail for any other reason too.
    let status = discovery.unwrap_or(text).strip_prefix(STATUS);
    match status.and_then(code) {
        Some(403) => Fetched::Forbidden,
        Some(404) if discovery.is_some() => Fetched::KindAbsent,
        // The host turns this into its own text above; a recorded session need not.
        Some(404) => Fetched::Absent,
        _ => Fetched::Failed(cut(words(first)).into()),
    }
}

/// What a Status says, without its Debug form, which would say it twice.
fn words(line: &str) -> &str {
    let end = STATUS_DEBUG.iter().filter_map(|debug| line.find(debug)).min();
    let words = end.and_then(|end| line.get(..end)).unwrap_or(line);
    words.strip_prefix(STATUS).unwrap_or(words)
}

/// The HTTP status in `MESSAGE: REASON (Status { status: …, code: NUMBER, message: …`, or, before kube 3, in
/// `… (ErrorResponse { …, code: NUMBER })`.
///
/// The message quotes names, and no name of what can exist holds a brace.
fn code(status: &str) -> Option<u16> {
    let (_, debug) = STATUS_DEBUG.iter().find_map(|debug| status.split_once(debug))?;
    let (_, code) = debug.split_once("code: ")?;
    code.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn cut(text: &str) -> &str {
    text.char_indices().nth(LONGEST).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const WANTED: Wanted<'_> =
        Wanted { api_version: "kustomize.toolkit.fluxcd.io/v1", kind: "Kustomization", name: "apps" };

    fn failed(text: &str) -> Fetched {
        Fetched::Failed(text.into())
    }

    const FORBIDDEN: &str = concat!(
        "ApiError: kustomizations.kustomize.toolkit.fluxcd.io \"apps\" is forbidden: User ",
        "\"system:serviceaccount:kubewarden:policy-server\" cannot get resource \"kustomizations\" in API group ",
        "\"kustomize.toolkit.fluxcd.io\" in the namespace \"ns\": Forbidden (Status { status: Some(Failure), ",
        "code: 403, message: \"kustomizations.kustomize.toolkit.fluxcd.io \\\"apps\\\" is forbidden: …\", ",
        "metadata: None, reason: \"Forbidden\", details: None })"
    );
    const NO_GROUP: &str = concat!(
        "error finding resource kustomize.toolkit.fluxcd.io/v1 / Kustomization: ApiError: 404 page not found\n",
        ": Failed to parse error data (Status { status: Some(Failure), code: 404, ",
        "message: \"404 page not found\\n\", metadata: None, reason: \"Failed to parse error data\", details: None })"
    );
    const CAUSES: &str = "\n\nCaused by:\n    Cannot find resource x/y\n\nStack backtrace:\n   0: code: 404";

    #[rstest]
    #[case(
        "Cannot find kustomize.toolkit.fluxcd.io/v1/Kustomization named 'apps' inside of namespace 'Some(\"ns\")'",
        Fetched::Absent
    )]
    #[case(
        "Cannot find kustomize.toolkit.fluxcd.io/v1/Kustomization named 'apps' inside of namespace 'None'",
        Fetched::Absent
    )]
    #[case("Cannot find resource kustomize.toolkit.fluxcd.io/v1/Kustomization", Fetched::KindAbsent)]
    #[case(NO_GROUP, Fetched::KindAbsent)]
    #[case(FORBIDDEN, Fetched::Forbidden)]
    #[case(
        "error finding resource kustomize.toolkit.fluxcd.io/v1 / Kustomization: ApiError: no: Forbidden (Status { \
         status: Some(Failure), code: 403, message: \"no\" })",
        Fetched::Forbidden
    )]
    #[case(
        "ApiError: gone: NotFound (Status { status: Some(Failure), code: 404, message: \"gone\" })",
        Fetched::Absent
    )]
    fn knows_the_texts_with_all_that_may_follow(#[case] text: &str, #[case] meaning: Fetched) {
        for text in [format!("Host error: {HOST}{text}"), format!("Host error: {HOST}{text}{CAUSES}"), text.into()] {
            assert_eq!(classify(&text, &WANTED), meaning, "{text}");
        }
    }

    #[rstest]
    #[case(
        "Policy has not been granted access to Kubernetes kustomize.toolkit.fluxcd.io/v1/Kustomization resources. \
         The violation has been reported."
    )]
    #[case(
        "Policy has not been granted access to the 'kubernetes/get_resource' host capability. The violation has been \
         reported."
    )]
    fn what_is_not_granted_is_forbidden(#[case] text: &str) {
        assert_eq!(classify(&format!("Host error: {text}"), &WANTED), Fetched::Forbidden);
    }

    #[rstest]
    #[case("kube::Client was not initialized properly")]
    #[case("the list of recorded responses is empty")]
    #[case(
        "Replay error: unexpected request. Was expecting KubernetesGetResource { api_version: \"x\" }, got y instead"
    )]
    #[case("ServiceError: error trying to connect: tcp connect error: code: 404")]
    #[case("error finding resource kustomize.toolkit.fluxcd.io/v1 / Kustomization: ServiceError: dns: code: 404")]
    #[case("error finding resource kustomize.toolkit.fluxcd.io/v1 / Kustomization: ApiError: unparsable")]
    #[case("Resource kustomize.toolkit.fluxcd.io/v1/Kustomization is namespaced, but no namespace was provided")]
    #[case("Error obtaining response over callback channel")]
    #[case("")]
    // Answers to something else than was asked.
    #[case("Cannot find kustomize.toolkit.fluxcd.io/v1/Kustomization named 'other' inside of namespace 'None'")]
    #[case("Cannot find helm.toolkit.fluxcd.io/v2/HelmRelease named 'apps' inside of namespace 'None'")]
    #[case("Cannot find resource helm.toolkit.fluxcd.io/v2/HelmRelease")]
    #[case("Cannot find resource kustomize.toolkit.fluxcd.io/v1/Kustomizations")]
    #[case("error finding resource helm.toolkit.fluxcd.io/v2 / HelmRelease: ApiError: x")]
    // Known texts that are not where they belong.
    #[case("no luck: Cannot find resource kustomize.toolkit.fluxcd.io/v1/Kustomization")]
    #[case("no luck: Policy has not been granted access to Kubernetes")]
    fn anything_else_failed_in_its_own_words(#[case] text: &str) {
        assert_eq!(classify(&format!("Host error: {HOST}{text}"), &WANTED), failed(text));
        assert_eq!(classify(&format!("Host error: {HOST}{text}{CAUSES}"), &WANTED), failed(text));
    }

    #[rstest]
    #[case(
        "ApiError: etcd leader changed: InternalError (Status { status: Some(Failure), code: 500, message: \"x\" })",
        "etcd leader changed: InternalError"
    )]
    #[case("ApiError: code: 403 (Status { status: Some(Failure), code: 409, message: \"code: 403\" })", "code: 403")]
    #[case(
        "ApiError: code: 403: Conflict (ErrorResponse { status: \"Failure\", message: \"\", code: 409 })",
        "code: 403: Conflict"
    )]
    #[case(
        "error finding resource helm.toolkit.fluxcd.io/v2 / HelmRelease: ApiError: x (Status { code: 404, m })",
        "error finding resource helm.toolkit.fluxcd.io/v2 / HelmRelease: ApiError: x"
    )]
    #[case("ApiError:  (Status { code: 500 })", "")]
    fn a_status_is_said_without_its_debug_form(#[case] text: &str, #[case] said: &str) {
        assert_eq!(classify(&format!("Host error: {HOST}{text}"), &WANTED), failed(said));
        assert_eq!(classify(&format!("Host error: {HOST}{text}{CAUSES}"), &WANTED), failed(said));
    }

    #[rstest]
    #[case("cannot-find-resource")]
    #[case("Cannot find resource kustomize.toolkit.fluxcd.io/v1/Kustomization")]
    #[case("x\nCannot find resource kustomize.toolkit.fluxcd.io/v1/Kustomization")]
    fn a_name_cannot_pass_for_a_failure(#[case] name: &str) {
        let wanted = Wanted { name, ..WANTED };
        let text = format!(
            "Host error: {HOST}Cannot find kustomize.toolkit.fluxcd.io/v1/Kustomization named '{name}' inside of \
             namespace 'Some(\"ns\")'"
        );
        assert_eq!(classify(&text, &wanted), Fetched::Absent);
    }

    #[test]
    fn a_text_is_bounded() {
        let Fetched::Failed(text) = classify(&"ä\u{7}".repeat(9_000), &WANTED) else { panic!("another meaning") };
        assert_eq!(text.chars().count(), LONGEST);
    }
}
