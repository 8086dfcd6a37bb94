//! Do we have the rights that we need? Asked once, so that what is missing is said once, by verb and resource.

use super::Trouble;
use crate::rights::Right;
use futures::StreamExt;
use http::Request;
use kube::Client;
use serde_json::{Value, json};

/// The rights that are missing, each as `VERB RESOURCE.GROUP`, in the order of the table.
///
/// # Errors
/// Where the API server does not answer.
pub async fn missing(client: &Client, rights: &[Right], namespace: Option<&str>) -> Result<Vec<String>, Trouble> {
    let mut questions: Vec<(Right, String)> = Vec::new();
    for right in rights {
        questions.extend(right.verbs.iter().map(|verb| (right.clone(), (*verb).to_owned())));
    }
    let answers = futures::stream::iter(questions).map(|(right, verb): (Right, String)| async move {
        let allowed = ask(client, &right, &verb, namespace).await?;
        let group = if right.group.is_empty() { String::new() } else { format!(".{}", right.group) };
        Ok((!allowed).then(|| format!("{verb} {}{group}", right.resource)))
    });
    let answers: Vec<Result<Option<String>, Trouble>> = answers.buffered(8).collect().await;
    let mut missing = Vec::new();
    for answer in answers {
        missing.extend(answer?);
    }
    Ok(missing)
}

async fn ask(client: &Client, right: &Right, verb: &str, namespace: Option<&str>) -> Result<bool, Trouble> {
    let (resource, subresource) = right.resource.split_once('/').unwrap_or((&right.resource, ""));
    let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {
        "resourceAttributes": {"group": right.group, "resource": resource, "subresource": subresource, "verb": verb,
                               "namespace": namespace.unwrap_or_default()}}});
    let request = Request::post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")
        .header("Content-Type", "application/json")
        .body(review.to_string().into_bytes())
        .map_err(|error| Trouble::Invalid(error.to_string()))?;
    let answer: Value = client.request(request).await.map_err(|error| Trouble::of(&error))?;
    Ok(answer.pointer("/status/allowed").and_then(Value::as_bool).unwrap_or(false))
}
