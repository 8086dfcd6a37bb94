//! The places of a payload at which a glance looks.

use sluicegate_core::object::{Part, Place, Seen, Step, plain};

/// Where a walk over a payload begins.
pub(crate) const PAYLOAD: At = At::Payload;

#[derive(Clone, Copy)]
pub(crate) enum At {
    Payload,
    Settings,
    Request,
    Kind,
    User,
    /// The object under review, or the stored one: the index into [`Found::objects`].
    Object(usize, Part),
}

const OPERATION: usize = 0;
const SUB_RESOURCE: usize = 1;
const GROUP: usize = 2;
const KIND: usize = 3;
const NAMESPACE: usize = 4;
const NAME: usize = 5;
const USER: usize = 6;
const COMPANION: usize = 7;

/// What was found, as it stands.
#[derive(Default)]
pub(crate) struct Found<'a> {
    about: [Option<&'a [u8]>; 8],
    pub objects: [Seen<'a>; 2],
}

impl<'a> Found<'a> {
    fn about(&self, index: usize) -> Option<&'a [u8]> {
        self.about.get(index).copied().flatten()
    }

    pub(crate) fn operation(&self) -> &'a str {
        plain(self.about(OPERATION))
    }

    pub(crate) fn sub_resource(&self) -> Option<&'a [u8]> {
        self.about(SUB_RESOURCE)
    }

    pub(crate) fn group(&self) -> &'a str {
        plain(self.about(GROUP))
    }

    pub(crate) fn kind(&self) -> &'a str {
        plain(self.about(KIND))
    }

    pub(crate) fn namespace(&self) -> &'a str {
        plain(self.about(NAMESPACE))
    }

    pub(crate) fn name(&self) -> &'a str {
        plain(self.about(NAME))
    }

    /// The user; `None` where the name is absent, or written with escapes.
    pub(crate) fn user(&self) -> Option<&'a str> {
        Some(plain(self.about(USER))).filter(|user| !user.is_empty())
    }

    /// The setting `companion`, if it can be read.
    pub(crate) fn companion(&self, default: &'a str) -> Option<&'a str> {
        self.about(COMPANION).map_or(Some(default), |json| Some(plain(Some(json))).filter(|name| !name.is_empty()))
    }
}

impl<'a> Place<'a> for At {
    type Found = Found<'a>;

    fn step(self, key: &[u8]) -> Step<Self> {
        match (self, key) {
            (Self::Object(index, part), _) => match part.step(key) {
                Step::Into(part) => Step::Into(Self::Object(index, part)),
                Step::Keep(slot) => Step::Keep(slot),
                Step::Skip => Step::Skip,
            },
            (Self::Payload, b"request") => Step::Into(Self::Request),
            (Self::Payload, b"settings") => Step::Into(Self::Settings),
            (Self::Settings, b"companion") => Step::Keep(COMPANION),
            (Self::Request, b"object") => Step::Into(Self::Object(0, Part::Object)),
            (Self::Request, b"oldObject") => Step::Into(Self::Object(1, Part::Object)),
            (Self::Request, b"kind") => Step::Into(Self::Kind),
            (Self::Request, b"userInfo") => Step::Into(Self::User),
            (Self::Request, b"operation") => Step::Keep(OPERATION),
            (Self::Request, b"subResource") => Step::Keep(SUB_RESOURCE),
            (Self::Request, b"namespace") => Step::Keep(NAMESPACE),
            (Self::Request, b"name") => Step::Keep(NAME),
            (Self::Kind, b"group") => Step::Keep(GROUP),
            (Self::Kind, b"kind") => Step::Keep(KIND),
            (Self::User, b"username") => Step::Keep(USER),
            _ => Step::Skip,
        }
    }

    fn slot<'s>(self, found: &'s mut Found<'a>, index: usize) -> Option<&'s mut Option<&'a [u8]>> {
        match self {
            Self::Object(object, part) => part.slot(found.objects.get_mut(object)?, index),
            _ => found.about.get_mut(index),
        }
    }
}
