//! For machines.

use super::model::{Drawing, Tangle};
use super::words::SENTENCE;
use serde_json::{Value, json};
use sluicegate_core::graph::Step;
use sluicegate_core::need::{Demand, Direction, Need};
use sluicegate_core::object::Reference;
use sluicegate_core::text::clean;

/// The picture as JSON with a schema version. Numbers of nodes and edges are those of the other forms, too.
#[must_use]
pub fn json(drawing: &Drawing) -> String {
    let named = |id: usize| drawing.nodes().get(id).map(|node| node.object.to_string());
    let nodes: Vec<Value> = drawing
        .nodes()
        .iter()
        .enumerate()
        .map(|(id, node)| {
            json!({"id": id, "object": node.object.to_string(), "kind": node.object.kind.name(),
                   "namespace": node.object.namespace, "name": node.object.name, "state": node.look.state.word(),
                   "why": node.look.why.as_deref().map(|why| clean(why, SENTENCE).to_string()), "loop": node.tangle})
        })
        .collect();
    let edges: Vec<Value> = drawing
        .edges()
        .iter()
        .enumerate()
        .map(|(id, edge)| {
            let needs: Vec<Value> = edge.needs.iter().map(need).collect();
            json!({"id": id, "from": named(edge.from.0), "to": named(edge.to.0), "needs": needs, "loop": edge.tangle})
        })
        .collect();
    let loops: Vec<Value> = drawing.tangles().iter().map(tangle).collect();
    format!("{:#}\n", json!({"schemaVersion": 1, "nodes": nodes, "edges": edges, "loops": loops}))
}

fn need(need: &Need) -> Value {
    let direction = match need.direction {
        Direction::Input => "input",
        Direction::Output => "output",
    };
    let demand = match need.demand {
        Demand::Settled => "settled",
        Demand::Exists => "exists",
        Demand::Expression(_) => "expression",
    };
    json!({"field": need.reason.to_string(), "direction": direction, "demand": demand})
}

fn tangle(tangle: &Tangle) -> Value {
    let named = |objects: &[Reference]| objects.iter().map(ToString::to_string).collect::<Vec<_>>();
    let step = |step: &Step| json!({"from": step.from.to_string(), "to": step.need.target.to_string(), "field": step.need.reason.to_string()});
    let steps: Vec<Value> = tangle.report.shortest.steps.iter().map(step).collect();
    let cut = tangle.report.cut.as_ref().map(|cut| {
        let fields: Vec<String> = cut.needs.iter().map(|need| need.reason.to_string()).collect();
        json!({"from": cut.from.to_string(), "to": cut.target.to_string(), "fields": fields})
    });
    json!({"members": named(&tangle.report.members), "shortest": steps, "cut": cut, "behind": named(&tangle.behind)})
}
