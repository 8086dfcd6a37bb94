//! The whole text of each form, for a small graph with a loop, something absent and something suspended.

use crate::support::{drawing, graph, small};
use sluicegate_core::object::{Kind, Reference};
use sluicegate_offline::draw::{
    Charset, Drawing, Evidence, NodeId, Styling, TreeOptions, Way, cone, dot, json, looks, mermaid, svg, tree,
};

#[test]
fn trees() {
    let drawing = drawing(&small());
    insta::assert_snapshot!("tree", tree(&drawing, &TreeOptions::default()));
    let ascii = TreeOptions { charset: Charset::Ascii, ..TreeOptions::default() };
    insta::assert_snapshot!("tree_ascii", tree(&drawing, &ascii));
    let colour = TreeOptions { colour: true, ..TreeOptions::default() };
    insta::assert_snapshot!("tree_colour", tree(&drawing, &colour).replace('\u{1b}', "ESC"));
}

#[test]
fn a_tree_starts_where_it_is_told_to() {
    let drawing = drawing(&small());
    let own = drawing.nodes().iter().position(|node| &*node.object.name == "d").unwrap();
    let text = tree(&drawing, &TreeOptions { roots: vec![NodeId(own)], ..TreeOptions::default() });
    assert!(text.starts_with("Kustomization/apps/d  suspended\n"), "{text}");
    assert!(!text.contains("Kustomization/apps/parent"), "{text}");
}

#[test]
fn texts() {
    let drawing = drawing(&small());
    insta::assert_snapshot!("mermaid", mermaid(&drawing));
    insta::assert_snapshot!("dot", dot(&drawing));
    insta::assert_snapshot!("json", json(&drawing));
}

#[test]
fn picture() {
    insta::assert_snapshot!("svg", svg(&drawing(&small()), Styling::Inside));
    insta::assert_snapshot!("svg_in_a_page", svg(&drawing(&small()), Styling::Outside));
}

#[test]
fn files_tell_nothing_of_states_but_what_is_suspended() {
    let mut objects = small();
    for object in objects.values_mut() {
        object.status = Default::default();
    }
    let looks = looks(&objects, Evidence::Files);
    let drawing = Drawing::new(&graph(objects.values()), |own| looks.get(own).cloned());
    let states: Vec<String> =
        drawing.nodes().iter().map(|node| format!("{} {}", node.object, node.look.state.word())).collect();
    assert_eq!(
        states.join("\n"),
        "GitRepository/apps/repo unknown\nKustomization/apps/a unknown\nKustomization/apps/b unknown\n\
         Kustomization/apps/c unknown\nKustomization/apps/d suspended\nKustomization/apps/gone absent\n\
         Kustomization/apps/parent unknown"
    );
}

#[test]
fn cones_open_both_ways_and_end_in_loops() {
    let objects = small();
    let graph = graph(objects.values());
    let own = Reference::new(Kind::Kustomization, "apps", "a");
    let names = |way| {
        let found = cone(&graph, [&own], way);
        found.iter().map(|own| own.name.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(Way::Needs), "repo a b c");
    assert_eq!(names(Way::Dependants), "a b c d parent");
}

#[test]
fn numbers_lead_to_the_needs() {
    let drawing = drawing(&small());
    for (id, edge) in drawing.edges().iter().enumerate() {
        let (own, same) = drawing.edge(sluicegate_offline::draw::EdgeId(id)).unwrap();
        assert_eq!(same.needs, edge.needs);
        assert_eq!(drawing.node(edge.from).unwrap().object, *own);
        assert!(edge.needs.iter().all(|need| need.target == drawing.node(edge.to).unwrap().object));
    }
}
