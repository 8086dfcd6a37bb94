//! Why an object is not settled, as data. The sentences are in [`crate::text`].

use crate::object::Switch;

/// What the Ready condition says when it does not say True.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// False.
    Failed,
    /// Unknown, or a status that Kubernetes does not define.
    Unknown,
    /// There is no Ready condition.
    Absent,
}

/// A test of *settled* that fails. Pieces of the object are kept as they were read: hostile until cleaned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocker {
    /// It is being deleted.
    Deleting,
    /// It is suspended, whatever its status says.
    Suspended {
        /// By which switch.
        switch: Switch,
        /// It has no Ready condition: it was created suspended, and no controller ever worked on it.
        never_reconciled: bool,
        /// The request token that its controller acknowledged all the same.
        acknowledged: Option<Box<str>>,
    },
    /// `reconcile.fluxcd.io/requestedAt` is not what the controller has handled last.
    RequestNotHandled {
        /// The token on the object.
        requested: Box<str>,
        /// The token in its status.
        handled: Option<Box<str>>,
    },
    /// The Reconciling condition is True.
    Reconciling {
        /// Its message.
        message: Option<Box<str>>,
    },
    /// The Stalled condition is True: time alone will not change it.
    Stalled {
        /// Its reason.
        reason: Option<Box<str>>,
        /// Its message.
        message: Option<Box<str>>,
    },
    /// `observedGeneration` is absent or −1: no reconciliation has ended yet.
    NeverReconciled {
        /// The controller has written conditions, so it has at least begun.
        begun: bool,
    },
    /// `observedGeneration` is not the generation.
    GenerationNotObserved {
        /// `metadata.generation`
        generation: i64,
        /// `status.observedGeneration`
        observed: i64,
    },
    /// `lastAttemptedGeneration` of a HelmRelease is not the generation: no attempt was made for this spec. A suspended
    /// release goes on observing generations.
    GenerationNotAttempted {
        /// `metadata.generation`
        generation: i64,
        /// `status.lastAttemptedGeneration`
        attempted: Option<i64>,
    },
    /// Ready is not True.
    NotReady {
        /// What it is instead.
        readiness: Readiness,
        /// Its reason.
        reason: Option<Box<str>>,
        /// Its message.
        message: Option<Box<str>>,
        /// The condition is of an earlier generation: the message may be about an older spec.
        outdated: bool,
    },
    /// Ready is True, but of another generation; for kinds that have no `observedGeneration`.
    ReadyOfOtherGeneration {
        /// `metadata.generation`
        generation: i64,
        /// The generation of the condition.
        ready: Option<i64>,
    },
    /// ArtifactInStorage is not True.
    NotInStorage {
        /// Its message, if there is such a condition.
        message: Option<Box<str>>,
    },
    /// ArtifactInStorage is True, but of another generation: nothing was fetched for this spec. It is the one condition
    /// that a suspended source does not move along.
    StoredForOtherGeneration {
        /// `metadata.generation`
        generation: i64,
        /// The generation of the condition.
        stored: Option<i64>,
    },
    /// ArtifactOutdated is True: something newer is on its way.
    ArtifactOutdated {
        /// Its message.
        message: Option<Box<str>>,
    },
    /// There is no artifact.
    ArtifactMissing,
    /// A torn status: the ArtifactInStorage condition quotes another revision than that of the artifact.
    TornRevision {
        /// The revision in the message.
        said: Box<str>,
        /// The revision of the artifact.
        artifact: Box<str>,
    },
    /// What a GitRepository included is not what the included repository offers now.
    IncludeDiffers {
        /// The index in `spec.include`.
        index: usize,
        /// The revision that was included, if any was.
        included: Option<Box<str>>,
        /// The revision that is offered; equal to `included` where only the content differs.
        offered: Box<str>,
    },
    /// A HelmChart has not looked at the current revision of its source.
    SourceNotObserved {
        /// `status.observedSourceArtifactRevision`
        observed: Option<Box<str>>,
        /// The revision of the source.
        source: Box<str>,
    },
    /// The version of a HelmChart with the strategy Revision does not carry the revision of its source.
    NotBuiltFromSource {
        /// The chart version.
        version: Box<str>,
        /// The revision of the source.
        source: Box<str>,
    },
    /// The generator does not list this ExternalArtifact.
    NotListed,
    /// The generator lists this ExternalArtifact with another digest.
    DigestDiffers {
        /// The digest in the inventory of the generator.
        listed: Option<Box<str>>,
        /// The digest of the artifact.
        artifact: Option<Box<str>>,
    },
    /// The digest that a generator has recorded is not that of its sources as they are now.
    SourcesDiffer {
        /// Whether it has recorded any.
        recorded: bool,
    },
    /// A Kustomization has not applied the current revision of its source.
    NotApplied {
        /// `status.lastAppliedRevision`
        applied: Option<Box<str>>,
        /// The revision of the source.
        source: Box<str>,
    },
    /// A HelmRelease has no history: nothing was installed.
    NoHistory,
    /// The newest release in the history is not deployed.
    NotDeployed {
        /// Its number.
        version: Option<i64>,
        /// Its status.
        status: Option<Box<str>>,
    },
    /// A torn status: the Ready message names another release than the newest of the history.
    TornRelease {
        /// The release that the message names, as `vN` and `chart@version`.
        said: Box<str>,
        /// The newest release of the history, in the same form.
        recorded: Box<str>,
    },
    /// The newest release was not made from the current artifact.
    OtherArtifact {
        /// Chart version or OCI digest of the release.
        released: Option<Box<str>>,
        /// The revision of the artifact.
        artifact: Box<str>,
    },
    /// The HelmChart that the release generates does not exist.
    ChartMissing,
    /// The HelmChart that the release generates is not yet what `spec.chart` asks for.
    ChartDiffers,
    /// A ResourceSet says Ready because it was created disabled; it has never applied anything.
    CreatedDisabled,
    /// A ResourceSet says Ready, and yet records nothing applied.
    NothingApplied,
    /// A Terraform plan waits for approval.
    PlanPending {
        /// The id of the plan.
        plan: Box<str>,
    },
    /// A Terraform object has not attempted the current revision of its source.
    NotAttempted {
        /// `status.lastAttemptedRevision`
        attempted: Option<Box<str>>,
        /// The revision of the source.
        source: Box<str>,
    },
    /// A torn status: the Ready message of a Terraform object names another revision than the one attempted last.
    TornAttempt {
        /// The revision that the message names.
        said: Box<str>,
        /// `status.lastAttemptedRevision`
        attempted: Box<str>,
    },
    /// The PackageSource has no variant of the name that the Package asks for.
    VariantMissing {
        /// The variant.
        variant: Box<str>,
    },
    /// A Package records that a Package it depends on is not ready.
    PackageNotReady {
        /// The other Package.
        name: Box<str>,
    },
    /// The source does not show the expected revision. Made by callers of [`super::unmet_expectation`].
    NotExpected {
        /// What the annotation asks for.
        expected: Box<str>,
        /// The revision that is there.
        actual: Option<Box<str>>,
    },
}

impl Blocker {
    /// The blocker that tells a person most, out of those of one object: what somebody did, then what failed for good,
    /// then the failure of this very spec, then what is still under way.
    #[must_use]
    pub fn headline(blockers: &[Self]) -> Option<&Self> {
        blockers.iter().min_by_key(|blocker| match blocker {
            Self::Deleting => 0,
            Self::Suspended { .. } => 1,
            Self::Stalled { .. } => 2,
            Self::NotReady { readiness: Readiness::Failed, outdated: false, .. } => 3,
            Self::NeverReconciled { .. } | Self::GenerationNotObserved { .. } => 4,
            Self::RequestNotHandled { .. } => 5,
            Self::Reconciling { .. } => 6,
            Self::NotReady { .. } => 7,
            _ => 8,
        })
    }

    /// Whether the sentence quotes a field of another object, an input of this one. What may be told of this object
    /// need not be told of that one.
    #[must_use]
    pub fn quotes_input(&self) -> bool {
        matches!(
            self,
            Self::IncludeDiffers { .. }
                | Self::SourceNotObserved { .. }
                | Self::NotBuiltFromSource { .. }
                | Self::DigestDiffers { .. }
                | Self::NotApplied { .. }
                | Self::OtherArtifact { .. }
                | Self::NotAttempted { .. }
                | Self::NotExpected { .. }
        )
    }
}
