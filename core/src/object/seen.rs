//! A request's view of an object, for the hot path: borrowed, and read only as far as it takes to see that nothing that
//! is judged has changed.

use super::manifest::{Annotations, Labels, SeenSpec};
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A string that is borrowed from the input where it holds no escapes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text<'a>(pub Cow<'a, str>);

impl AsRef<str> for Text<'_> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for TextVisitor<'a> {
            type Value = Text<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor(PhantomData))
    }
}

/// An object of a request.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Seen<'a> {
    /// `apiVersion`
    #[serde(borrow)]
    pub api_version: Option<Text<'a>>,
    /// `metadata`
    #[serde(borrow)]
    pub metadata: Option<SeenMetadata<'a>>,
    /// `spec`
    #[serde(borrow)]
    pub spec: Option<SeenSpec<'a>>,
}

/// `metadata` of an object of a request.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SeenMetadata<'a> {
    /// `deletionTimestamp`
    #[serde(borrow)]
    pub deletion_timestamp: Option<Text<'a>>,
    /// `labels`
    #[serde(borrow)]
    pub labels: Option<Labels<Text<'a>>>,
    /// `annotations`
    #[serde(borrow)]
    pub annotations: Option<Annotations<Text<'a>>>,
}
