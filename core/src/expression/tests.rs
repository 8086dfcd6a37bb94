use super::*;
use serde_json::json;
#[test]
fn smoke() {
    let dep = json!({"status":{"conditions":[{"type":"Ready","status":"True"}],"observedGeneration":3},"metadata":{"generation":3}});
    let this = json!({});
    let scope = Scope::SelfAndDep { this: &this, dep: &dep };
    assert_eq!(
        evaluate(
            "dep.status.conditions.filter(e, e.type == 'Ready').all(e, e.status == 'True') && dep.status.observedGeneration == dep.metadata.generation",
            scope
        ),
        Ok(true)
    );
}
