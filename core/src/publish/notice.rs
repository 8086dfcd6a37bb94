//! What is said once, as a Kubernetes Event.

use crate::object::Reference;
use sha2::{Digest, Sha256};

/// How many bytes of a note are kept; an Event holds 1,024.
const NOTE: usize = 1_000;

/// What an Event is about; its reason, bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// An object is held.
    Held,
    /// An object was released.
    Released,
    /// A held object is not to be resumed.
    Vetoed,
    /// The mark went away, and the object stays suspended.
    MarkLost,
    /// The object has been held for too long.
    HeldTooLong,
    /// The gate, or another webhook, refused the release.
    ReleaseRefused,
    /// Held objects wait for each other.
    HeldLoop,
    /// Objects need each other.
    DependencyCycle,
    /// An attempt of recovery was made.
    RecoveryForced,
    /// The attempts are spent.
    RecoveryGaveUp,
    /// Recovery worked.
    Recovered,
}

impl Topic {
    /// All of them, in their order.
    pub const ALL: [Self; 11] = [
        Self::Held,
        Self::Released,
        Self::Vetoed,
        Self::MarkLost,
        Self::HeldTooLong,
        Self::ReleaseRefused,
        Self::HeldLoop,
        Self::DependencyCycle,
        Self::RecoveryForced,
        Self::RecoveryGaveUp,
        Self::Recovered,
    ];

    /// The reason of the Event.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Held => "Held",
            Self::Released => "Released",
            Self::Vetoed => "ReleaseNever",
            Self::MarkLost => "MarkLost",
            Self::HeldTooLong => "HeldTooLong",
            Self::ReleaseRefused => "ReleaseRefused",
            Self::HeldLoop => "HeldLoop",
            Self::DependencyCycle => "DependencyCycle",
            Self::RecoveryForced => "RecoveryForced",
            Self::RecoveryGaveUp => "RecoveryGaveUp",
            Self::Recovered => "Recovered",
        }
    }

    /// Whether somebody should do something about it.
    #[must_use]
    pub fn is_warning(self) -> bool {
        !matches!(self, Self::Held | Self::Released | Self::RecoveryForced | Self::Recovered)
    }
}

/// An Event to be.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Notice {
    /// The object it is about.
    pub about: Reference,
    /// The UID of that object.
    pub uid: Box<str>,
    /// What about.
    pub topic: Topic,
    /// What is said; fit to print, and at most 1,024 bytes, as Events hold.
    pub note: String,
}

impl Notice {
    /// A notice; a text that is too long is cut.
    #[must_use]
    pub fn new(about: &Reference, uid: &str, topic: Topic, note: &str) -> Self {
        let mut note = note.to_owned();
        if note.len() > NOTE {
            note.truncate(note.floor_char_boundary(NOTE));
            note.push('…');
        }
        Self { about: about.clone(), uid: uid.into(), topic, note }
    }

    /// The same for the same object, topic and text, so that whoever says it twice says it once: the API server does not
    /// store a second Event of one name.
    #[must_use]
    pub fn name(&self) -> String {
        let mut hash = Sha256::new();
        for part in [&*self.uid, self.topic.reason(), &self.note] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        let digest = hash.finalize();
        let short: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        // 253 characters are allowed.
        let name: String = self.about.name.chars().take(200).collect();
        format!("{}.{short}", name.trim_end_matches(['.', '-']))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Kind;

    fn notice(note: &str) -> Notice {
        Notice::new(&Reference::new(Kind::Kustomization, "ns", "a"), "u", Topic::Held, note)
    }

    #[test]
    fn a_name_says_what_is_said() {
        assert_eq!(notice("x").name(), notice("x").name());
        assert_ne!(notice("x").name(), notice("y").name());
        assert!(notice("x").name().starts_with("a."));
    }

    #[test]
    fn a_text_is_bounded() {
        assert!(notice(&"é".repeat(5_000)).note.len() <= 1_024);
    }
}
