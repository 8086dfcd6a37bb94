//! The request as the host sends it: borrowed, and only the fields that are read.
//!
//! The SDK's own types fail on an explicit null and quote the whole payload in their errors (policy-sdk-rust 0.17.3),
//! and they decode fields that nobody reads. Here null and absent are the same everywhere.

use serde::Deserialize;
use serde_json::value::RawValue;
use sluicegate_core::gate::Operation;
use sluicegate_core::object::{Kind, Text};
use sluicegate_core::text::clean;

/// The payload of `validate`.
#[derive(Deserialize)]
pub(crate) struct Payload<'a> {
    #[serde(borrow)]
    pub request: Option<Full<'a>>,
    pub settings: Option<&'a RawValue>,
}

/// Everything that a decision reads; the objects as they came.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Full<'a> {
    #[serde(borrow)]
    kind: Option<GroupVersionKind<'a>>,
    sub_resource: Option<Text<'a>>,
    operation: Option<Text<'a>>,
    name: Option<Text<'a>>,
    namespace: Option<Text<'a>>,
    user_info: Option<UserInfo<'a>>,
    dry_run: Option<bool>,
    options: Option<Options<'a>>,
    object: Option<&'a RawValue>,
    old_object: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct GroupVersionKind<'a> {
    #[serde(borrow)]
    group: Option<Text<'a>>,
    version: Option<Text<'a>>,
    kind: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct UserInfo<'a> {
    #[serde(borrow)]
    username: Option<Text<'a>>,
    groups: Option<Vec<Option<Text<'a>>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Options<'a> {
    #[serde(borrow)]
    field_manager: Option<Text<'a>>,
}

/// What a request is about.
pub(crate) enum Subject<'a> {
    /// Something that the gate has no say in: another operation, a subresource, no object.
    Nothing,
    /// An object of a kind that is not judged.
    Foreign(&'a str),
    /// An object of a judged kind.
    Judged(Kind, Operation),
}

fn subject<'a>(
    kind: Option<&'a GroupVersionKind<'_>>,
    sub_resource: Option<&Text<'_>>,
    operation: Option<&Text<'_>>,
    object: bool,
) -> Subject<'a> {
    let Some(operation) = Operation::named(text(operation)) else { return Subject::Nothing };
    if !object || !text(sub_resource).is_empty() {
        return Subject::Nothing;
    }
    let (group, name) = kind.map_or(("", ""), |kind| (text(kind.group.as_ref()), text(kind.kind.as_ref())));
    match Kind::find(group, name) {
        Some(kind) => Subject::Judged(kind, operation),
        None => Subject::Foreign(name),
    }
}

fn text<'t>(text: Option<&'t Text<'_>>) -> &'t str {
    text.map_or("", AsRef::as_ref)
}

fn filled<'t>(text: Option<&'t Text<'_>>) -> Option<&'t str> {
    text.map(AsRef::as_ref).filter(|text| !text.is_empty())
}

impl Full<'_> {
    pub(crate) fn subject(&self) -> Subject<'_> {
        subject(self.kind.as_ref(), self.sub_resource.as_ref(), self.operation.as_ref(), self.object.is_some())
    }

    /// `Kind/namespace/name` of what the request is about, whatever it is.
    pub(crate) fn path(&self) -> String {
        let kind = self.kind.as_ref().map_or("", |kind| text(kind.kind.as_ref()));
        let names = [(kind, 63), (text(self.namespace.as_ref()), 63), (text(self.name.as_ref()), 253)];
        let said = names.iter().filter(|(name, _)| !name.is_empty()).map(|(name, most)| clean(name, *most).to_string());
        said.collect::<Vec<_>>().join("/")
    }

    /// The object under review, as it came.
    pub(crate) fn object(&self) -> &[u8] {
        self.object.map_or(&[], |object| object.get().as_bytes())
    }

    /// The request as core judges it.
    pub(crate) fn request(&self, kind: Kind, operation: Operation) -> sluicegate_core::gate::Request<'_> {
        let info = self.user_info.as_ref();
        sluicegate_core::gate::Request {
            operation,
            kind,
            version: self.kind.as_ref().map_or("", |kind| text(kind.version.as_ref())),
            namespace: filled(self.namespace.as_ref()),
            name: filled(self.name.as_ref()),
            user: info.map_or("", |info| text(info.username.as_ref())),
            groups: info
                .and_then(|info| info.groups.as_ref())
                .map(|groups| groups.iter().flatten().map(AsRef::as_ref).collect())
                .unwrap_or_default(),
            manager: self.options.as_ref().and_then(|options| filled(options.field_manager.as_ref())),
            dry_run: self.dry_run.unwrap_or(false),
            object: self.object(),
            old: self.old_object.map(|object| object.get().as_bytes()),
        }
    }
}
