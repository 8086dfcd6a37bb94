//! What a watch gives: a resource with the judged fields alone.

use super::compact::compact;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::{ApiResource, DynamicResourceScope};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;

/// An object of any judged kind as it comes out of a list or a watch: its judged fields as JSON, and of its metadata what
/// a watch needs.
#[derive(Clone, Debug)]
pub struct Watched {
    meta: ObjectMeta,
    /// The judged fields.
    pub json: Box<[u8]>,
}

impl Watched {
    /// Its namespace and name.
    #[must_use]
    pub fn names(&self) -> (&str, &str) {
        (self.meta.namespace.as_deref().unwrap_or_default(), self.meta.name.as_deref().unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Watched {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Header {
            #[serde(default)]
            metadata: Meta,
        }
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct Meta {
            name: Option<String>,
            namespace: Option<String>,
            resource_version: Option<String>,
        }
        let json = compact(deserializer)?;
        let Header { metadata } = serde_json::from_slice(&json).map_err(serde::de::Error::custom)?;
        let Meta { name, namespace, resource_version } = metadata;
        Ok(Self { meta: ObjectMeta { name, namespace, resource_version, ..ObjectMeta::default() }, json })
    }
}

impl kube::Resource for Watched {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(dt: &ApiResource) -> Cow<'_, str> {
        dt.kind.as_str().into()
    }

    fn group(dt: &ApiResource) -> Cow<'_, str> {
        dt.group.as_str().into()
    }

    fn version(dt: &ApiResource) -> Cow<'_, str> {
        dt.version.as_str().into()
    }

    fn api_version(dt: &ApiResource) -> Cow<'_, str> {
        dt.api_version.as_str().into()
    }

    fn plural(dt: &ApiResource) -> Cow<'_, str> {
        dt.plural.as_str().into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.meta
    }
}
