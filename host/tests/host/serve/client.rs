//! A webhook that listens, and a client of it.

use kube::client::Body;
use kube::{Client, Config};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::{Value, json};
use sluicegate_host::{
    Host, LiveCluster,
    serve::{Options, Server},
};
use tokio::sync::oneshot;

use super::api_server::ApiServer;

pub const NAME: &str = "sluicegate";

/// A certificate for the loopback, and its key, PEM.
pub fn certificate() -> (String, String) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    (cert.pem(), signing_key.serialize_pem())
}

/// A webhook that listens, until it is dropped.
pub struct Webhook {
    config: Config,
    end: Option<oneshot::Sender<()>>,
}

impl Webhook {
    /// Serves a host with two instances.
    pub async fn start(host: Host) -> Self {
        Self::with_instances(host, 2).await
    }

    /// Serves a host that reads from an API server.
    pub async fn reading(host: Host, api_server: &ApiServer) -> Self {
        Self::start(host.with_cluster(live(api_server))).await
    }

    pub async fn with_instances(host: Host, instances: usize) -> Self {
        let (certificate, key) = certificate();
        let options = Options {
            name: NAME.to_owned(),
            listen: ([127, 0, 0, 1], 0).into(),
            certificates: certificate.clone().into_bytes(),
            key: key.into_bytes(),
            instances,
            observer: None,
        };
        let server = Server::start(host, options).await.unwrap();
        let config = trusting(&format!("https://{}", server.address()), &certificate);
        let (end, ended) = oneshot::channel();
        tokio::spawn(server.run_until(async move { drop(ended.await) }));
        Self { config, end: Some(end) }
    }

    /// A client with connections of its own.
    pub fn client(&self) -> Client {
        Client::try_from(self.config.clone()).unwrap()
    }

    /// Sends a request in an AdmissionReview; gives the response in it.
    pub async fn judge(&self, request: Value) -> Value {
        let (status, answer) = self.post(&format!("/validate/{NAME}"), &review(request).to_string()).await;
        assert_eq!(status, 200, "{answer}");
        let mut answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(
            (&answer["apiVersion"], &answer["kind"]),
            (&json!("admission.k8s.io/v1"), &json!("AdmissionReview"))
        );
        answer["response"].take()
    }

    pub async fn post(&self, path: &str, body: &str) -> (u16, String) {
        Self::send(self.client(), "POST", path, Some("application/json"), body.to_owned()).await
    }

    pub async fn get(&self, path: &str) -> (u16, String) {
        Self::send(self.client(), "GET", path, None, String::new()).await
    }

    pub async fn send(
        client: Client,
        method: &str,
        path: &str,
        content_type: Option<&str>,
        body: String,
    ) -> (u16, String) {
        let mut request = axum::http::Request::builder().method(method).uri(path);
        if let Some(content_type) = content_type {
            request = request.header("content-type", content_type);
        }
        let request = request.body(Body::from(body.into_bytes())).unwrap();
        let answer = client.send(request).await.unwrap();
        let status = answer.status().as_u16();
        let text = answer.into_body().collect_bytes().await.unwrap();
        (status, String::from_utf8(text.to_vec()).unwrap())
    }

    /// The value of a metric, written with its labels.
    pub async fn metric(&self, metric: &str) -> u64 {
        let (status, text) = self.get("/metrics").await;
        assert_eq!(status, 200);
        let line = text.lines().find_map(|line| line.strip_prefix(metric)?.strip_prefix(' '));
        line.map_or(0, |value| value.parse().unwrap())
    }
}

impl Drop for Webhook {
    fn drop(&mut self) {
        drop(self.end.take());
    }
}

/// Configuration of a client that trusts a certificate.
pub fn trusting(url: &str, certificate: &str) -> Config {
    let mut config = Config::new(url.parse().unwrap());
    config.root_cert = Some(vec![pem_to_der(certificate)]);
    config
}

fn pem_to_der(certificate: &str) -> Vec<u8> {
    use rustls::pki_types::{CertificateDer, pem::PemObject};
    CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap().to_vec()
}

/// Reads from an API server.
pub fn live(api_server: &ApiServer) -> LiveCluster {
    LiveCluster::connect(Config::new(api_server.url().parse().unwrap())).unwrap()
}

/// An AdmissionReview with a request.
pub fn review(request: Value) -> Value {
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request})
}
