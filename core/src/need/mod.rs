//! Needs: what an object waits for, and which of its fields says so.

mod read;

pub(crate) use read::Reader;

use crate::object::Reference;
use std::fmt;

/// The field that a need comes from, as messages show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// `spec.dependsOn[i]`
    DependsOn(usize),
    /// `spec.sourceRef`
    SourceRef,
    /// `spec.chartRef`
    ChartRef,
    /// `spec.chart.spec.sourceRef`
    ChartSource,
    /// `spec.chart`: the HelmChart that a HelmRelease generates.
    Chart,
    /// `spec.sources[i]`
    Sources(usize),
    /// `spec.include[i].repository`
    Include(usize),
    /// `spec.wait`
    Wait,
    /// `spec.healthChecks[i]`
    HealthCheck(usize),
    /// `spec.waitStrategy`: a HelmRelease waits for what it renders, by default.
    WaitStrategy,
    /// `metadata.name`: a Package uses the PackageSource of its own name.
    SameName,
    /// `spec.variants[v].dependsOn[i]`: Packages that the Package of a PackageSource waits for.
    Variant(usize, usize),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DependsOn(i) => write!(f, "spec.dependsOn[{i}]"),
            Self::SourceRef => f.write_str("spec.sourceRef"),
            Self::ChartRef => f.write_str("spec.chartRef"),
            Self::ChartSource => f.write_str("spec.chart.spec.sourceRef"),
            Self::Chart => f.write_str("spec.chart"),
            Self::Sources(i) => write!(f, "spec.sources[{i}]"),
            Self::Include(i) => write!(f, "spec.include[{i}].repository"),
            Self::Wait => f.write_str("spec.wait"),
            Self::HealthCheck(i) => write!(f, "spec.healthChecks[{i}]"),
            Self::WaitStrategy => f.write_str("spec.waitStrategy"),
            Self::SameName => f.write_str("metadata.name"),
            Self::Variant(v, i) => write!(f, "spec.variants[{v}].dependsOn[{i}]"),
        }
    }
}

/// What a need asks of its target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Demand {
    /// The target must be settled.
    Settled,
    /// The target must exist; nothing more (`ready: false` of a ResourceSet).
    Exists,
    /// A CEL expression decides (`readyExpr`).
    Expression(Box<str>),
}

/// Whether the target must be ready before the object reconciles, or is waited for after it has applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Before: dependencies, sources, chart, include, generator.
    Input,
    /// After: `wait`, `healthChecks`, what a release renders.
    Output,
}

/// `A needs target`: A cannot become ready unless the target is.
///
/// The order is by target first, so that a sorted list of needs is stable under any order of the entries they came
/// from, but for the index shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Need {
    /// The object that is needed.
    pub target: Reference,
    /// Where the need is written.
    pub reason: Reason,
    /// Before or after.
    pub direction: Direction,
    /// What is asked of the target.
    pub demand: Demand,
}

impl Need {
    /// Whether the object that has this need waits until its target is ready: only such needs close a loop.
    ///
    /// A target that merely has to exist does not have to become anything.
    #[must_use]
    pub fn binds(&self) -> bool {
        self.demand != Demand::Exists
    }

    /// Whether an expression decides about this need.
    #[must_use]
    pub fn is_expression(&self) -> bool {
        matches!(self.demand, Demand::Expression(_))
    }
}

/// A reference to a kind that Sluicegate does not judge: it blocks nothing and is named as a warning where it is new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unjudged {
    /// Where the reference is written.
    pub reason: Reason,
    /// The kind as written; hostile until cleaned.
    pub kind: Box<str>,
    /// The name as written; hostile until cleaned.
    pub name: Box<str>,
}

/// All that an object waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The needs on judged kinds, in the order of the fields.
    pub judged: Vec<Need>,
    /// References to other kinds.
    pub unjudged: Vec<Unjudged>,
}
