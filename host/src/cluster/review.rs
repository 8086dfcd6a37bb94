//! Who may do what, for `can_i`.

use serde::{Deserialize, Serialize};

use crate::call::SubjectAccessReview;

/// One answer to SubjectAccessReviews: to a user or a group, about a verb on a resource.
///
/// An absent field matches everything, as does `*`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Review {
    /// Name of the user it is about
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// A group the user must be in
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_group: Option<String>,
    /// The verb
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verb: Option<String>,
    /// The API group of the resource
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The resource, plural and lower case
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// The namespace
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name of the object
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The answer
    #[serde(default = "yes")]
    pub allowed: bool,
}

impl Default for Review {
    /// Grants everything to everybody.
    fn default() -> Self {
        Self {
            user: None,
            user_group: None,
            verb: None,
            group: None,
            resource: None,
            namespace: None,
            name: None,
            allowed: true,
        }
    }
}

fn yes() -> bool {
    true
}

impl Review {
    fn matches(&self, review: &SubjectAccessReview) -> bool {
        let what = &review.resource_attributes;
        let in_group = match self.user_group.as_deref() {
            None | Some("*") => true,
            Some(group) => review.groups.iter().flatten().any(|of_user| of_user == group),
        };
        in_group
            && fits(self.user.as_deref(), &review.user)
            && fits(self.verb.as_deref(), &what.verb)
            && fits(self.group.as_deref(), what.group.as_deref().unwrap_or_default())
            && fits(self.resource.as_deref(), &what.resource)
            && fits(self.namespace.as_deref(), what.namespace.as_deref().unwrap_or_default())
            && fits(self.name.as_deref(), what.name.as_deref().unwrap_or_default())
    }
}

fn fits(pattern: Option<&str>, value: &str) -> bool {
    pattern.is_none_or(|pattern| pattern == "*" || pattern == value)
}

/// Yes to the group `system:masters`; else what the first review says that matches; else no.
pub(super) fn allowed(reviews: &[Review], asked: &SubjectAccessReview) -> bool {
    asked.groups.iter().flatten().any(|group| group == "system:masters")
        || reviews.iter().find(|review| review.matches(asked)).is_some_and(|review| review.allowed)
}
