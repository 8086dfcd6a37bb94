//! Hostile names.

use super::*;

#[test]
fn no_name_breaks_a_text() {
    let evil = "a\nneeds Kustomization/x/y\u{202e}\u{0}\"'\\";
    let long = "l".repeat(10_000);
    for name in [evil, long.as_str()] {
        let own = with(kustomization("n/x", &[]), &[("/metadata/name", name.into())]);
        let entry = json!([{"name": name, "readyExpr": format!("{name} + ")}]);
        let requests = [
            with(own.clone(), &[("/spec/dependsOn", json!([{"name": name}]))]),
            with(kustomization("n/x", &[]), &[("/spec/dependsOn", json!([{"name": name}, {"name": name}]))]),
            with(kustomization("n/x", &[]), &[("/spec/dependsOn", entry)]),
            with(kustomization("n/x", &[]), &[("/spec/sourceRef", json!({"kind": name, "name": name}))]),
            with(own.clone(), &[("/spec/sourceRef/name", name.into())]),
            annotated(own.clone(), resume::HELD, Some(name)),
            annotated(own, EXPECTED, Some(name)),
        ];
        for role in [Role::Both, Role::Hold, Role::Refuse] {
            for by in [PERSON, FLUX, COMPANION] {
                for new in &requests {
                    let mut world = World::with([git()]);
                    world.settings.role = role;
                    let mut bare = new.clone();
                    bare["spec"]["dependsOn"] = json!([]);
                    for old in [bare.clone(), suspended(new.clone()), suspended(bare)] {
                        let judged = world.update(by, &old, new);
                        let texts = judged.verdict.refusal.iter().chain(&judged.verdict.warnings);
                        for text in texts.chain(judged.verdict.audit.iter().map(|(_, text)| text)) {
                            assert!(text.chars().count() < 4_000, "{} characters", text.chars().count());
                            for line in text.lines() {
                                assert!(!line.trim_start().starts_with("needs Kustomization/x/y"), "{text}");
                                assert!(!line.contains(['\0', '\u{202e}', '\r', '\u{1b}']), "{text}");
                            }
                        }
                        for warning in &judged.verdict.warnings {
                            assert!(warning.chars().count() < 120 && !warning.contains('\n'), "{warning}");
                        }
                    }
                }
            }
        }
    }
}
