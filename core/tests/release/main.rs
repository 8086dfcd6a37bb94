//! When a held object may be resumed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]
#![allow(missing_docs, reason = "helpers of tests")]

#[path = "../support/mod.rs"]
mod support;

mod inputs;
mod owners;
mod same_as_the_gate;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use sluicegate_core::gate::{Disclose, Fetched, Names};
use sluicegate_core::object::{Object, Reference};
use sluicegate_core::release::{Activity, Marks, Outcome, Release, Settings, Standing, Step};
use sluicegate_core::testing::set;
use support::{World, now, reference};

pub fn at(seconds: i64) -> DateTime<Utc> {
    now() + TimeDelta::seconds(seconds)
}

/// The object, suspended and held since this second.
pub fn held(mut json: Value, cause: &str, second: i64) -> Value {
    let mark = json!({"applier": {"user": "u", "manager": "m"}, "at": at(second).to_rfc3339(), "cause": cause});
    set(&mut json, "/metadata/annotations/sluicegate.dev~1held", json!(mark.to_string()));
    match reference(&json).kind.row().switch {
        sluicegate_core::object::Switch::Annotation(key) => {
            set(&mut json, &format!("/metadata/annotations/{}", key.replace('/', "~1")), json!("disabled"));
        }
        _ => set(&mut json, "/spec/suspend", json!(true)),
    }
    json
}

/// The end of a judgement, with what was read in its order.
#[derive(Debug)]
pub struct Judged {
    pub outcome: Outcome,
    pub reads: Vec<Vec<String>>,
    pub own: Reference,
    names: Names,
}

impl Judged {
    /// `now`, or the message of the condition.
    pub fn said(&self) -> String {
        match &self.outcome {
            Outcome::Now => "now".to_owned(),
            Outcome::Waits(wait) => sluicegate_core::text::held(wait, &self.own, &self.names),
        }
    }
}

pub fn fetch(world: &World, reference: &Reference) -> Fetched {
    if let Some(failure) = world.failing.get(reference) {
        return failure.clone();
    }
    world.objects.get(reference).map_or(Fetched::Absent, |object| Fetched::Found(object.to_string().into()))
}

/// Judges a held object of this world at this second; its mark was first seen at second 0.
pub fn judge_at(world: &World, json: &Value, activity: &Activity, second: i64) -> Judged {
    let bytes = json.to_string();
    let own = reference(json);
    let object = Object::decode(own.clone(), bytes.as_bytes()).unwrap();
    let Standing::Held(marked) = Standing::of(&object, Marks::Gate) else { panic!("not held: {json}") };
    let direct = object.needs().judged.into_iter().map(|need| need.target);
    let owners = object.owners().0.into_iter().map(|owner| owner.0);
    let names = Names::new(&own, direct.chain(owners).chain(object.generated_chart()), Disclose::Permitted);
    let settings = Settings { max_reads: world.settings.max_reads, ..Settings::default() };
    let mut release = Release::new((object, bytes.as_bytes()), &marked, settings, activity, at(0), at(second));
    let mut reads: Vec<Vec<String>> = Vec::new();
    loop {
        match release.step() {
            Step::Read(batch) => {
                reads.push(batch.iter().map(|read| read.reference.to_string()).collect());
                release.answer(batch.iter().map(|read| fetch(world, &read.reference)).collect());
            }
            Step::Done(outcome) => {
                let all = reads.iter().flatten();
                for read in all {
                    let known = release.looked_at().iter().any(|reference| reference.to_string() == *read);
                    assert!(known, "{read} may change the answer, and is not said to have been looked at");
                }
                return Judged { outcome, reads, own, names };
            }
        }
    }
}

pub fn judge(world: &World, json: &Value) -> Judged {
    judge_at(world, json, &Activity::new(), 0)
}
