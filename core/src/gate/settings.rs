//! What an operator can set. Decoding and validation belong to the shell that receives them; here they are values.

use std::time::Duration;

/// Which part of the gate an instance plays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Mutating: holds and marks; refuses nobody but the companion.
    Hold,
    /// Validating: sees the final object; refusals and warnings.
    Refuse,
    /// One mutating instance that does both.
    #[default]
    Both,
}

impl Role {
    /// Whether this instance makes holds and puts marks right.
    #[must_use]
    pub fn holds(self) -> bool {
        self != Self::Refuse
    }

    /// Whether this instance refuses and warns.
    #[must_use]
    pub fn refuses(self) -> bool {
        self != Self::Hold
    }
}

/// Whether a finding warns or refuses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Severity {
    /// Admit, with a warning.
    #[default]
    Warn,
    /// Refuse.
    Refuse,
}

/// How much a text may tell of other namespaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Disclose {
    /// What stands in the namespace under review, what the object names itself, and what the asker may get.
    #[default]
    Permitted,
    /// Everything to everyone: for clusters of one team.
    Everyone,
}

/// The user that the companion is by default.
pub const COMPANION: &str = "system:serviceaccount:sluicegate-system:sluicegate";

/// The settings of the gate, valid by the time they get here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Which part this instance plays.
    pub role: Role,
    /// False turns every refusal, hold and mark into a warning that says "would".
    pub enforce: bool,
    /// The user that the companion is.
    pub companion: Box<str>,
    /// The Lease that shows a living companion: namespace and name.
    pub companion_lease: (Box<str>, Box<str>),
    /// Field managers that mark a service account as an applier.
    pub appliers: Vec<Box<str>>,
    /// Users that are appliers whatever their field manager.
    pub applier_users: Vec<Box<str>>,
    /// Accounts that may use the bypass annotation besides persons.
    pub bypass_users: Vec<Box<str>>,
    /// Missing, wrong-kind and duplicate dependencies of a person.
    pub dependencies: Severity,
    /// An applier's early unsuspend that cannot be held.
    pub unheld: Severity,
    /// How many objects a decision may read.
    pub max_reads: usize,
    /// The policy's `timeoutEvalSeconds`.
    pub evaluation: Duration,
    /// A mark older than this fails the background audit.
    pub held_too_long: Duration,
    /// What texts may tell.
    pub disclose: Disclose,
    /// Whether `readyExpr` adds to the built-in test instead of replacing it.
    pub additive_ready_expr: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            role: Role::default(),
            enforce: true,
            companion: COMPANION.into(),
            companion_lease: ("sluicegate-system".into(), "sluicegate".into()),
            appliers: ["kustomize-controller", "helm-controller", "flux-operator"].map(Into::into).to_vec(),
            applier_users: Vec::new(),
            bypass_users: Vec::new(),
            dependencies: Severity::Warn,
            unheld: Severity::Warn,
            max_reads: 500,
            evaluation: Duration::from_secs(10),
            held_too_long: Duration::from_secs(3600),
            disclose: Disclose::default(),
            additive_ready_expr: false,
        }
    }
}

impl Settings {
    /// How long a decision may read: half of what the evaluation leaves after one second. The other half is for the
    /// read that is under way when the time is up, which nothing can interrupt.
    #[must_use]
    pub fn reading_time(&self) -> Duration {
        self.evaluation.saturating_sub(Duration::from_secs(1)) / 2
    }
}
