//! Which fields of which kind are needs.
//!
//! No need are: `valuesFrom`, `substituteFrom`, secrets, and being applied by something (Flux's own bootstrap
//! Kustomization owns its own source).

use super::{Demand, Direction, Need, Needs, Reason, Unjudged};
use crate::object::{Chart, Dependency, Inventory, Kind, Object, ObjectRef, Reference};

/// The namespace in which cozystack's operator keeps the ArtifactGenerator of every PackageSource
/// (cozystack `packagesource_reconciler.go`).
const COZY_NAMESPACE: &str = "cozy-system";

/// The strategy with which a HelmRelease leaves waiting to Helm (helm-controller 1.6).
const LEGACY_WAIT: &str = "legacy";

/// The kinds that may stand in a `sourceRef` or a like field.
const SOURCES: [Kind; 6] = [
    Kind::Bucket,
    Kind::ExternalArtifact,
    Kind::GitRepository,
    Kind::HelmChart,
    Kind::HelmRepository,
    Kind::OCIRepository,
];

impl Object {
    /// All that this object waits for, read from its fields and, for what it has applied, from its status.
    #[must_use]
    pub fn needs(&self) -> Needs {
        self.read_needs(true)
    }

    /// What this object waits for before it reconciles: [`Object::needs`] without the outputs, of which an inventory may
    /// hold thousands.
    #[must_use]
    pub fn input_needs(&self) -> Vec<Need> {
        self.read_needs(false).judged
    }

    fn read_needs(&self, outputs: bool) -> Needs {
        let mut reader = Reader { object: self, outputs, needs: Needs::default() };
        (self.reference.kind.row().needs)(&mut reader);
        reader.needs
    }

    /// Why this object waits for what it applies, if it does: the need that a new owner label makes.
    #[must_use]
    pub fn waits_for_children(&self) -> Option<Reason> {
        // What is applied to a remote cluster is out of sight.
        if self.spec.kube_config.is_some() {
            return None;
        }
        match self.reference.kind {
            Kind::Kustomization | Kind::ResourceSet => self.spec.wait.unwrap_or(false).then_some(Reason::Wait),
            Kind::HelmRelease => {
                let legacy = self.spec.wait_strategy.as_ref().and_then(|strategy| strategy.name.as_deref());
                let fresh = self.status.history.as_ref().is_none_or(Vec::is_empty);
                let action = if fresh { self.spec.install } else { self.spec.upgrade };
                let disabled = action.and_then(|action| action.disable_wait).unwrap_or(false);
                (legacy != Some(LEGACY_WAIT) && !disabled).then_some(Reason::WaitStrategy)
            }
            _ => None,
        }
    }

    /// The HelmChart that a HelmRelease with `spec.chart` generates: the one its status names, else the one that it
    /// would create, `NAMESPACE-NAME` in the namespace of its source (helm-controller 1.6.3).
    #[must_use]
    pub fn generated_chart(&self) -> Option<Reference> {
        let template = self.chart_template()?;
        if let Some((namespace, name)) = self.status.helm_chart.as_deref().and_then(|chart| chart.split_once('/')) {
            return Some(Reference::new(Kind::HelmChart, namespace, name));
        }
        let own = &self.reference;
        let namespace = template.source_ref.as_ref().and_then(|source| filled(source.namespace.as_deref()));
        let name = format!("{}-{}", own.namespace, own.name);
        Some(Reference::new(Kind::HelmChart, namespace.unwrap_or(&own.namespace), &name))
    }

    /// The variant of its PackageSource that a Package uses (cozystack `package_reconciler.go`).
    #[must_use]
    pub fn variant(&self) -> &str {
        filled(self.spec.variant.as_deref()).unwrap_or("default")
    }

    /// The variant of a PackageSource that lists this need, if one does.
    #[must_use]
    pub fn variant_of(&self, reason: Reason) -> Option<&str> {
        let Reason::Variant(v, _) = reason else { return None };
        self.spec.variants.as_ref()?.get(v)?.name.as_deref()
    }

    /// `spec.chart.spec` of a HelmRelease without `chartRef`.
    #[must_use]
    pub fn chart_template(&self) -> Option<&crate::object::ChartTemplate> {
        match (&self.spec.chart, self.reference.kind) {
            (Some(Chart::Template(template)), Kind::HelmRelease) => template.as_deref(),
            _ => None,
        }
    }
}

/// Reads needs off one object; the rows of the table of kinds call its methods.
pub(crate) struct Reader<'a> {
    object: &'a Object,
    /// Whether outputs are wanted too.
    outputs: bool,
    needs: Needs,
}

fn filled(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

impl Reader<'_> {
    fn push(&mut self, target: Reference, reason: Reason, direction: Direction, demand: Demand) {
        self.needs.judged.push(Need { target, reason, direction, demand });
    }

    fn unjudged(&mut self, reason: Reason, kind: Option<&str>, name: Option<&str>) {
        let kind = kind.unwrap_or_default().into();
        self.needs.unjudged.push(Unjudged { reason, kind, name: name.unwrap_or_default().into() });
    }

    /// `spec.dependsOn` of kinds that name their own kind and default the namespace. A group and kind, should Flux add
    /// them (fluxcd/flux2#5988), are honoured.
    pub(crate) fn depends_on(&mut self) {
        let own = &self.object.reference;
        for (index, entry) in self.object.spec.depends_on.iter().flatten().enumerate() {
            let reason = Reason::DependsOn(index);
            let Some(kind) = dependency_kind(entry, Some(own.kind)) else {
                self.unjudged(reason, entry.kind.as_deref(), entry.name.as_deref());
                continue;
            };
            let namespace = filled(entry.namespace.as_deref()).unwrap_or(&own.namespace);
            let target = Reference::new(kind, namespace, entry.name.as_deref().unwrap_or_default());
            let demand = match filled(entry.ready_expr.as_deref()) {
                Some(expression) if own.kind != Kind::Terraform => Demand::Expression(expression.into()),
                _ => Demand::Settled,
            };
            self.push(target, reason, Direction::Input, demand);
        }
    }

    /// `spec.dependsOn` of a ResourceSet: any kind, and the namespace is *not* defaulted.
    pub(crate) fn depends_on_any(&mut self) {
        for (index, entry) in self.object.spec.depends_on.iter().flatten().enumerate() {
            let reason = Reason::DependsOn(index);
            let Some(kind) = dependency_kind(entry, None) else {
                self.unjudged(reason, entry.kind.as_deref(), entry.name.as_deref());
                continue;
            };
            let namespace = entry.namespace.as_deref().unwrap_or_default();
            let target = Reference::new(kind, namespace, entry.name.as_deref().unwrap_or_default());
            // `readyExpr` is ignored unless `ready` is true (flux-operator 0.58.1).
            let demand = match (entry.ready.unwrap_or(false), filled(entry.ready_expr.as_deref())) {
                (false, _) => Demand::Exists,
                (true, None) => Demand::Settled,
                (true, Some(expression)) => Demand::Expression(expression.into()),
            };
            self.push(target, reason, Direction::Input, demand);
        }
    }

    fn source(&mut self, source: &ObjectRef, reason: Reason, allowed: &[Kind]) {
        let kind = source.kind.as_deref().and_then(Kind::named).filter(|kind| allowed.contains(kind));
        // A group of somebody else's makes it another kind, whatever its name.
        let kind = kind.filter(|kind| {
            let version = filled(source.api_version.as_deref());
            version.is_none_or(|version| version.split('/').next() == Some(kind.row().group))
        });
        let Some(kind) = kind else {
            return self.unjudged(reason, source.kind.as_deref(), source.name.as_deref());
        };
        let namespace = filled(source.namespace.as_deref()).unwrap_or(&self.object.reference.namespace);
        let target = Reference::new(kind, namespace, source.name.as_deref().unwrap_or_default());
        self.push(target, reason, Direction::Input, Demand::Settled);
    }

    /// `spec.sourceRef`
    pub(crate) fn source_ref(&mut self) {
        if let Some(source) = &self.object.spec.source_ref {
            self.source(source, Reason::SourceRef, &SOURCES);
        }
    }

    /// `spec.sourceRef` of an ExternalArtifact, which names its producer; any producer but a generator is its end.
    pub(crate) fn producer(&mut self) {
        let producer = self.object.spec.source_ref.as_ref();
        if let Some(producer) = producer.filter(|p| p.kind.as_deref() == Some(Kind::ArtifactGenerator.name())) {
            self.source(producer, Reason::SourceRef, &[Kind::ArtifactGenerator]);
        }
    }

    /// `spec.chartRef`, or `spec.chart.spec.sourceRef`
    pub(crate) fn chart(&mut self) {
        if let Some(chart) = &self.object.spec.chart_ref {
            self.source(chart, Reason::ChartRef, &SOURCES);
        } else if let Some(source) = self.object.chart_template().and_then(|template| template.source_ref.as_ref()) {
            self.source(source, Reason::ChartSource, &SOURCES);
        }
    }

    /// `spec.sources[i]`
    pub(crate) fn sources(&mut self) {
        for (index, source) in self.object.spec.sources.iter().flatten().enumerate() {
            self.source(source, Reason::Sources(index), &SOURCES);
        }
    }

    /// `spec.include[i].repository`: GitRepositories of the own namespace.
    pub(crate) fn include(&mut self) {
        for (index, include) in self.object.spec.include.iter().flatten().enumerate() {
            let name = include.repository.as_ref().and_then(|repository| repository.name.as_deref());
            let namespace = &self.object.reference.namespace;
            let target = Reference::new(Kind::GitRepository, namespace, name.unwrap_or_default());
            self.push(target, Reason::Include(index), Direction::Input, Demand::Settled);
        }
    }

    /// What has been applied, where the object waits for it.
    pub(crate) fn children(&mut self) {
        let Some(reason) = self.object.waits_for_children().filter(|_| self.outputs) else { return };
        let Some(Inventory::Applied(applied)) = &self.object.status.inventory else { return };
        for target in applied.iter().filter(|target| **target != self.object.reference) {
            self.push(target.clone(), reason, Direction::Output, Demand::Settled);
        }
    }

    /// `spec.healthChecks[i]`, which `wait` overrides. An object never waits for itself (kustomize-controller 1.9.4).
    pub(crate) fn health_checks(&mut self) {
        if !self.outputs || self.object.spec.wait.unwrap_or(false) || self.object.spec.kube_config.is_some() {
            return;
        }
        for (index, check) in self.object.spec.health_checks.iter().flatten().enumerate() {
            let group =
                check.api_version.as_deref().and_then(|version| version.split_once('/')).map(|(group, _)| group);
            let kind = check.kind.as_deref().zip(group).and_then(|(kind, group)| Kind::find(group, kind));
            // Health checks mostly name Deployments and the like: no need of ours, and nothing to warn of.
            let Some(kind) = kind else { continue };
            let namespace = filled(check.namespace.as_deref()).unwrap_or(&self.object.reference.namespace);
            let target = Reference::new(kind, namespace, check.name.as_deref().unwrap_or_default());
            if target != self.object.reference {
                self.push(target, Reason::HealthCheck(index), Direction::Output, Demand::Settled);
            }
        }
    }

    /// A Package uses the PackageSource of its own name; what it waits for stands there, see
    /// [`Reader::package_source`].
    pub(crate) fn package(&mut self) {
        let target = Reference::new(Kind::PackageSource, "", &self.object.reference.name);
        self.push(target, Reason::SameName, Direction::Input, Demand::Settled);
    }

    /// A PackageSource needs its source and its generator; the Packages that its variants name are needs of the
    /// Package of its name, and are kept here with the reason [`Reason::Variant`] for whoever follows that Package.
    pub(crate) fn package_source(&mut self) {
        self.source_ref();
        if self.object.spec.source_ref.is_some() {
            let target = Reference::new(Kind::ArtifactGenerator, COZY_NAMESPACE, &self.object.reference.name);
            self.push(target, Reason::SameName, Direction::Input, Demand::Settled);
        }
        for (v, variant) in self.object.spec.variants.iter().flatten().enumerate() {
            for (i, name) in variant.depends_on.iter().flatten().enumerate() {
                let target = Reference::new(Kind::Package, "", name);
                self.push(target, Reason::Variant(v, i), Direction::Input, Demand::Settled);
            }
        }
    }
}

fn dependency_kind(entry: &Dependency, own: Option<Kind>) -> Option<Kind> {
    let kind = filled(entry.kind.as_deref());
    match (filled(entry.api_version.as_deref()), kind) {
        (None, None) => own,
        (Some(version), None) => own.filter(|own| version.split('/').next() == Some(own.row().group)),
        (None, Some(name)) => own.and_then(|_| Kind::named(name)),
        (Some(version), Some(name)) => Kind::of(version, name),
    }
}
