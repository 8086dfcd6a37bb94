//! An answer, and what it must be whatever was asked.

use crate::resume::{HELD, annotation, is_suspended, resumed};
use crate::support::{By, shape};
use serde_json::{Value, json};
use sluicegate_core::gate::{Mark, Verdict};
use sluicegate_core::text::warning;
use sluicegate_host::{Evaluation, HostRequest};

/// What the policy said, and what it took.
#[derive(Debug)]
pub struct Answer {
    pub evaluation: Evaluation,
    object: Value,
}

impl Answer {
    /// # Panics
    /// If the policy trapped, failed, or said what is not fit to print.
    #[track_caller]
    pub fn new(evaluation: Evaluation, request: &Value) -> Self {
        let answer = Self { evaluation, object: request["object"].clone() };
        let response = &answer.evaluation.response;
        assert_ne!(response.code(), Some(500), "{response:?}");
        let told = |key| response.audit_annotation(key).map(|value| (key, value.to_owned()));
        let verdict = Verdict {
            refusal: (!response.allowed).then(|| response.message().to_owned()),
            warnings: response.warnings().to_vec(),
            audit: ["rule", "path", "held", "bypass-user", "bypass-reason"].into_iter().filter_map(told).collect(),
            ..Verdict::default()
        };
        let count = response.audit_annotations.as_ref().map_or(0, |audit| audit.len());
        assert_eq!(count, verdict.audit.len(), "{response:?}");
        shape::is_fit_to_print(&verdict);
        if response.allowed {
            assert_eq!(response.status, None);
        } else {
            assert_eq!((response.code(), &response.patch), (Some(403), &None), "{response:?}");
        }
        answer
    }

    pub fn is_admitted(&self) -> bool {
        self.evaluation.response.allowed
    }

    /// The message of the refusal.
    #[track_caller]
    pub fn refusal(&self) -> &str {
        assert!(!self.is_admitted(), "admitted: {:?}", self.warnings());
        self.evaluation.response.message()
    }

    pub fn warnings(&self) -> &[String] {
        self.evaluation.response.warnings()
    }

    pub fn audit(&self, key: &str) -> Option<&str> {
        self.evaluation.response.audit_annotation(key)
    }

    /// The first line of the refusal, or "admitted" with all warnings.
    pub fn said(&self) -> String {
        if !self.is_admitted() {
            format!("refused: {}", self.refusal().lines().next().unwrap_or_default())
        } else if self.warnings().is_empty() {
            "admitted".to_owned()
        } else {
            format!("admitted: {}", self.warnings().join(" | "))
        }
    }

    /// All texts of the answer.
    pub fn texts(&self) -> String {
        let warnings = self.warnings().join("\n");
        format!("{}\n{warnings}", self.evaluation.response.message())
    }

    /// What was read, in order.
    pub fn reads(&self) -> Vec<String> {
        self.evaluation.read_targets()
    }

    /// The questions to the authorizer, as `verb resource.group namespace/name`.
    pub fn questions(&self) -> Vec<String> {
        let questions = self.evaluation.calls.iter().filter_map(|call| match call.request.as_ref()? {
            HostRequest::KubernetesCanI { request, .. } => Some(&request.resource_attributes),
            _ => None,
        });
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let shown = questions.map(|asked| {
            let (group, namespace, name) = (text(&asked.group), text(&asked.namespace), text(&asked.name));
            format!("{} {}.{group} {namespace}/{name}", asked.verb, asked.resource)
        });
        shown.collect()
    }

    /// What is stored of the object.
    #[track_caller]
    pub fn stored(&self) -> Value {
        assert!(self.is_admitted(), "{}", self.said());
        self.evaluation.response.patched(&self.object).expect("a patch that fits the object")
    }

    /// Fails unless the request was admitted as it stands, without a word.
    #[track_caller]
    pub fn is_silent(&self) -> &Self {
        assert_eq!(self.said(), "admitted");
        assert_eq!(self.evaluation.response.patch(), None);
        self
    }

    /// Fails unless the request was admitted as it stands, without a word and without a call to the host.
    #[track_caller]
    pub fn is_untouched(&self) {
        self.is_silent();
        assert!(self.evaluation.calls.is_empty(), "{:?}", self.evaluation.calls);
    }

    /// Fails unless the request was admitted as it stands, with these warnings.
    #[track_caller]
    pub fn warns(&self, warnings: &[&str]) -> &Self {
        assert!(self.is_admitted(), "{}", self.said());
        assert_eq!(self.warnings(), warnings);
        assert_eq!(self.evaluation.response.patch(), None);
        self
    }

    /// Fails unless the request was refused with this message, line by line.
    #[track_caller]
    pub fn refuses(&self, lines: &[&str]) -> &Self {
        assert_eq!(self.refusal().lines().collect::<Vec<_>>(), lines);
        self
    }

    /// Fails unless the object is held: stored with its switch on and a new mark of this cause, and nothing else is
    /// changed. `why` is the only warning, without "held: ".
    #[track_caller]
    pub fn holds(&self, by: By, cause: &str, why: &str) -> &Self {
        assert_eq!(self.said(), format!("admitted: {}", warning(&format!("held: {why}"))));
        let stored = self.stored();
        assert!(is_suspended(&stored), "{stored}");
        let mark = annotation(&stored, HELD).and_then(Mark::parse).expect("a mark");
        assert_eq!((&*mark.applier.user, &*mark.applier.manager, mark.cause.name()), (by.user, by.manager, cause));
        let rest = |object: Value| {
            let mut rest = resumed(object);
            let metadata = rest["metadata"].as_object_mut().unwrap();
            if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
                annotations.remove(HELD);
            }
            metadata.retain(|_, value| *value != json!({}));
            rest
        };
        assert_eq!(rest(stored), rest(self.object.clone()), "only the switch and the mark change");
        self
    }

    /// Fails unless exactly these objects were read, in this order.
    #[track_caller]
    pub fn reads_only(&self, reads: &[&str]) -> &Self {
        assert_eq!(self.reads(), reads);
        self
    }
}
