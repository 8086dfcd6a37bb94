//! The sentence of each [`Blocker`].

use super::clean;
use crate::object::Switch;
use crate::settled::{Blocker, Readiness};
use std::fmt;

/// Controllers quote whole Helm and Terraform errors; the beginning tells what it is about.
const MESSAGE: usize = 240;
/// The longest Flux revisions have a branch name and 64 hex digits.
const REVISION: usize = 120;
const TOKEN: usize = 64;
const NAME: usize = 63;

impl Blocker {
    /// The whole sentence, to stand after the name of the object: `GitRepository/s/repo: generation 2 not yet observed
    /// (1)`. It quotes the status of the object and revisions of its inputs, cleaned and bounded: see
    /// [`Blocker::brief`] where that may not be told.
    pub fn sentence(&self) -> impl fmt::Display + '_ {
        Sentence(self)
    }

    /// What is wrong, without anything that stands in an object: for objects whose status may not be told.
    #[must_use]
    pub fn brief(&self) -> &'static str {
        match self {
            Self::Deleting => "is being deleted",
            Self::Suspended { .. } => "is suspended",
            Self::RequestNotHandled { .. } => "has not handled its last reconcile request",
            Self::Reconciling { .. } => "is reconciling",
            Self::Stalled { .. } => "is stalled",
            Self::NeverReconciled { .. } | Self::CreatedDisabled => "was never reconciled",
            Self::GenerationNotObserved { .. }
            | Self::GenerationNotAttempted { .. }
            | Self::ReadyOfOtherGeneration { .. }
            | Self::StoredForOtherGeneration { .. } => "has not been reconciled at its current generation",
            Self::NotReady { .. } | Self::NotDeployed { .. } | Self::NoHistory => "is not ready",
            Self::NotInStorage { .. } | Self::ArtifactMissing => "has no artifact",
            Self::ArtifactOutdated { .. } => "has an outdated artifact",
            Self::TornRevision { .. } | Self::TornRelease { .. } | Self::TornAttempt { .. } | Self::NothingApplied => {
                "has an inconsistent status"
            }
            Self::IncludeDiffers { .. }
            | Self::SourceNotObserved { .. }
            | Self::NotBuiltFromSource { .. }
            | Self::NotListed
            | Self::DigestDiffers { .. }
            | Self::SourcesDiffer { .. }
            | Self::NotApplied { .. }
            | Self::OtherArtifact { .. }
            | Self::NotAttempted { .. } => "is behind its source",
            Self::ChartMissing | Self::ChartDiffers => "has not written its HelmChart yet",
            Self::PlanPending { .. } => "has a plan that waits for approval",
            Self::VariantMissing { .. } => "asks for a variant that does not exist",
            Self::PackageNotReady { .. } => "waits for another Package",
            Self::NotExpected { .. } => "is not at the expected revision",
        }
    }
}

struct Sentence<'a>(&'a Blocker);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Blocker::Deleting => f.write_str("is being deleted"),
            Blocker::Suspended { switch, never_reconciled, acknowledged } => {
                match switch {
                    Switch::Annotation(key) => write!(f, "is suspended (disabled by annotation {key})")?,
                    Switch::Spec | Switch::None => f.write_str("is suspended (spec.suspend)")?,
                }
                if *never_reconciled {
                    f.write_str(", never reconciled")?;
                }
                if let Some(token) = acknowledged {
                    write!(f, "; request {} was acknowledged all the same", clean(token, TOKEN))?;
                }
                Ok(())
            }
            Blocker::RequestNotHandled { requested, handled } => {
                write!(f, "request {} not yet handled ({})", clean(requested, TOKEN), or_none(handled, TOKEN))
            }
            Blocker::Reconciling { message } => write!(f, "is reconciling{}", after_colon(message)),
            Blocker::Stalled { reason, message } => {
                write!(f, "is stalled{}", after_colon(if is_empty(message) { reason } else { message }))
            }
            Blocker::NeverReconciled { begun: false } => f.write_str("not yet seen by its controller"),
            Blocker::NeverReconciled { begun: true } => f.write_str("no reconciliation has ended yet"),
            Blocker::GenerationNotObserved { generation, observed } => {
                write!(f, "generation {generation} not yet observed ({observed})")
            }
            Blocker::GenerationNotAttempted { generation, attempted } => {
                write!(f, "generation {generation} not yet attempted ({})", Number(*attempted))
            }
            Blocker::NotReady { readiness, reason, message, outdated } => {
                let said = after_colon(if is_empty(message) { reason } else { message });
                match readiness {
                    Readiness::Absent => f.write_str("not ready: no Ready condition yet")?,
                    Readiness::Failed => write!(f, "not ready{said}")?,
                    Readiness::Unknown => write!(f, "not ready yet{said}")?,
                }
                f.write_str(if *outdated { " (of an earlier generation)" } else { "" })
            }
            Blocker::ReadyOfOtherGeneration { generation, ready: Some(ready) } => {
                write!(f, "Ready is of generation {ready}, not of {generation}")
            }
            Blocker::ReadyOfOtherGeneration { generation, ready: None } => {
                write!(f, "Ready does not say that it is of generation {generation}")
            }
            Blocker::NotInStorage { message } => write!(f, "no artifact in storage{}", after_colon(message)),
            Blocker::StoredForOtherGeneration { generation, stored: Some(stored) } => {
                write!(f, "artifact in storage is of generation {stored}, not of {generation}")
            }
            Blocker::StoredForOtherGeneration { generation, stored: None } => {
                write!(f, "ArtifactInStorage does not say that it is of generation {generation}")
            }
            Blocker::ArtifactOutdated { message } => write!(f, "artifact is outdated{}", after_colon(message)),
            Blocker::ArtifactMissing => f.write_str("has no artifact"),
            Blocker::TornRevision { said, artifact } => write!(
                f,
                "status is inconsistent: ArtifactInStorage says {}, the artifact is {}",
                clean(said, REVISION),
                clean(artifact, REVISION)
            ),
            Blocker::IncludeDiffers { index, included, offered } if included.as_ref() == Some(offered) => {
                write!(f, "includes other content of {} than spec.include[{index}] offers", clean(offered, REVISION))
            }
            Blocker::IncludeDiffers { index, included, offered } => write!(
                f,
                "includes {}, not {} as spec.include[{index}] offers",
                or_none(included, REVISION),
                clean(offered, REVISION)
            ),
            Blocker::SourceNotObserved { observed, source } => write!(
                f,
                "has not looked at revision {} of its source yet ({})",
                clean(source, REVISION),
                or_none(observed, REVISION)
            ),
            Blocker::NotBuiltFromSource { version, source } => write!(
                f,
                "chart version {} was not built from revision {} of its source",
                clean(version, REVISION),
                clean(source, REVISION)
            ),
            Blocker::NotListed => f.write_str("is not in the inventory of its ArtifactGenerator"),
            Blocker::DigestDiffers { listed, artifact } => write!(
                f,
                "has digest {}, its ArtifactGenerator lists {}",
                or_none(artifact, REVISION),
                or_none(listed, REVISION)
            ),
            Blocker::SourcesDiffer { recorded: true } => f.write_str("has not generated from its current sources yet"),
            Blocker::SourcesDiffer { recorded: false } => f.write_str("has not generated anything yet"),
            Blocker::NotApplied { applied, source } => write!(
                f,
                "has not applied revision {} of its source ({})",
                clean(source, REVISION),
                or_none(applied, REVISION)
            ),
            Blocker::NoHistory => f.write_str("has no release in its history"),
            Blocker::NotDeployed { version, status } => {
                write!(f, "newest release{} is not deployed ({})", Version(*version), or_none(status, NAME))
            }
            Blocker::TornRelease { said, recorded } => write!(
                f,
                "status is inconsistent: Ready says {}, the history {}",
                clean(said, REVISION),
                clean(recorded, REVISION)
            ),
            Blocker::OtherArtifact { released, artifact } => {
                write!(f, "release is of {}, its source has {}", or_none(released, REVISION), clean(artifact, REVISION))
            }
            Blocker::ChartMissing => f.write_str("its HelmChart does not exist yet"),
            Blocker::ChartDiffers => f.write_str("its HelmChart is not yet what spec.chart asks for"),
            Blocker::CreatedDisabled => f.write_str("was created disabled and has not reconciled since"),
            Blocker::NothingApplied => f.write_str("status is inconsistent: Ready, but nothing applied"),
            Blocker::PlanPending { plan } => write!(f, "plan {} waits for approval", clean(plan, NAME)),
            Blocker::NotAttempted { attempted, source } => write!(
                f,
                "has not attempted revision {} of its source ({})",
                clean(source, REVISION),
                or_none(attempted, REVISION)
            ),
            Blocker::TornAttempt { said, attempted } => write!(
                f,
                "status is inconsistent: Ready says {}, last attempted is {}",
                clean(said, REVISION),
                clean(attempted, REVISION)
            ),
            Blocker::VariantMissing { variant } => {
                write!(f, "its PackageSource has no variant {}", clean(variant, NAME))
            }
            Blocker::PackageNotReady { name } => {
                write!(f, "waits for Package/{}, which is not recorded as ready", clean(name, NAME))
            }
            Blocker::NotExpected { expected, actual: Some(actual) } => {
                write!(f, "is at {}, the expected revision is {}", clean(actual, REVISION), clean(expected, REVISION))
            }
            Blocker::NotExpected { expected, actual: None } => {
                write!(f, "has no revision yet, the expected one is {}", clean(expected, REVISION))
            }
        }
    }
}

fn is_empty(text: &Option<Box<str>>) -> bool {
    text.as_deref().is_none_or(|text| text.trim().is_empty())
}

fn or_none(text: &Option<Box<str>>, limit: usize) -> impl fmt::Display + '_ {
    clean(text.as_deref().filter(|text| !text.is_empty()).unwrap_or("none"), limit)
}

/// `: MESSAGE`, or nothing.
fn after_colon(message: &Option<Box<str>>) -> AfterColon<'_> {
    AfterColon(message.as_deref().map(str::trim).filter(|message| !message.is_empty()))
}

struct AfterColon<'a>(Option<&'a str>);

impl fmt::Display for AfterColon<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |message| write!(f, ": {}", clean(message, MESSAGE)))
    }
}

/// A generation, or that there is none.
struct Number(Option<i64>);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(number) => write!(f, "{number}"),
            None => f.write_str("none"),
        }
    }
}

/// ` vN`, as Helm numbers releases, or nothing.
struct Version(Option<i64>);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(number) => write!(f, " v{number}"),
            None => Ok(()),
        }
    }
}
