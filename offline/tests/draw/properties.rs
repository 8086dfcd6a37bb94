//! Random graphs, and names that want to be something else.

use crate::support::{drawing, fleet, graph, incident};
use proptest::prelude::*;
use sluicegate_core::graph::Graph;
use sluicegate_core::need::{Demand, Direction, Need, Reason};
use sluicegate_core::object::{Kind, Reference};
use sluicegate_offline::draw::{Drawing, LARGEST, Look, State, Styling, TreeOptions, dot, json, mermaid, svg, tree};
use std::collections::BTreeSet;

fn need(target: &Reference, index: usize, output: bool) -> Need {
    Need {
        target: target.clone(),
        reason: if output { Reason::HealthCheck(index) } else { Reason::DependsOn(index) },
        direction: if output { Direction::Output } else { Direction::Input },
        demand: if index % 7 == 6 { Demand::Exists } else { Demand::Settled },
    }
}

/// Names, and who needs whom; the last ones are not there.
fn made(names: &[String], edges: &[(usize, usize, bool)], there: usize, turned: bool) -> Drawing {
    let references: Vec<Reference> = names.iter().map(|name| Reference::new(Kind::Kustomization, "ns", name)).collect();
    let mut order: Vec<usize> = (0..there.clamp(1, names.len())).collect();
    if turned {
        order.reverse();
    }
    let mut graph = Graph::new();
    for own in order {
        let mut needs: Vec<Need> = edges
            .iter()
            .enumerate()
            .filter(|(_, edge)| edge.0 % names.len() == own)
            .map(|(index, edge)| need(&references[edge.1 % names.len()], index, edge.2))
            .collect();
        if turned {
            needs.reverse();
        }
        graph.replace(&references[own], needs);
    }
    Drawing::new(&graph, |own| {
        let state = State::ALL[own.name.len() % 7];
        Some(Look { state, why: Some(own.name.to_string()) }).filter(|_| graph.contains(own))
    })
}

/// What stands in an attribute like `translate(1 2)`, `M1 2C…`.
fn numbers(text: &str) -> Vec<f64> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').filter_map(|part| part.parse().ok()).collect()
}

/// The picture is XML, shows each node and each edge once, and no two nodes overlap or stand outside.
fn check(drawing: &Drawing, text: &str) {
    let document = roxmltree::Document::parse(text).unwrap();
    let root = document.root_element();
    let size = [root.attribute("width").unwrap(), root.attribute("height").unwrap()].map(|text| text.parse().unwrap());
    let of = |name: &str| -> Vec<usize> {
        document.descendants().filter_map(|node| node.attribute(name)?.parse().ok()).collect()
    };
    let all = |mut found: Vec<usize>, count: usize| {
        found.sort_unstable();
        assert_eq!(found, (0..count).collect::<Vec<_>>());
    };
    all(of("data-node"), drawing.nodes().len());
    all(of("data-edge"), drawing.edges().len());
    let mut boxes: Vec<[f64; 4]> = document
        .descendants()
        .filter(|node| node.attribute("data-node").is_some())
        .map(|node| {
            let at = numbers(node.attribute("transform").unwrap());
            let card = node.children().find(|child| child.attribute("class") == Some("card")).unwrap();
            let length = |name: &str| -> f64 { card.attribute(name).unwrap().parse().unwrap() };
            [at[0], at[1], at[0] + length("width"), at[1] + length("height")]
        })
        .collect();
    for [left, top, right, bottom] in &boxes {
        assert!(*left >= 0.0 && *top >= 0.0 && *right <= size[0] && *bottom <= size[1]);
    }
    boxes.sort_by(|a, b| a[0].total_cmp(&b[0]));
    for (place, one) in boxes.iter().enumerate() {
        for other in boxes[place + 1..].iter().take_while(|other| other[0] < one[2]) {
            assert!(one[3] <= other[1] || other[3] <= one[1], "{one:?} {other:?}");
        }
    }
    for line in document.descendants().filter(|node| node.attribute("class") == Some("line")) {
        if let Some(way) = line.attribute("d").filter(|_| line.parent().is_some_and(|up| up.has_attribute("data-edge")))
        {
            assert!(numbers(way).iter().all(|number| number.is_finite() && *number >= -40.0), "{way}");
        }
    }
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("unit-{number}{}", "-long".repeat(number % 5))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn pictures_of_any_graph(
        count in 1..40_usize,
        there in 1..40_usize,
        edges in prop::collection::vec((0..40_usize, 0..40_usize, any::<bool>()), 0..80),
    ) {
        let drawing = made(&names(count), &edges, there, false);
        let text = svg(&drawing, Styling::Inside);
        check(&drawing, &text);
        check(&drawing, &svg(&drawing, Styling::Outside));
        let other = made(&names(count), &edges, there, true);
        prop_assert_eq!(&text, &svg(&other, Styling::Inside));
        prop_assert_eq!(tree(&drawing, &TreeOptions::default()), tree(&other, &TreeOptions::default()));
        prop_assert_eq!(json(&drawing), json(&other));
        prop_assert_eq!(mermaid(&drawing), mermaid(&other));
        prop_assert_eq!(dot(&drawing), dot(&other));
    }

    /// Every object has a line that is not a repetition, and every edge has one line.
    #[test]
    fn trees_say_everything_once(
        count in 1..40_usize,
        there in 1..40_usize,
        edges in prop::collection::vec((0..40_usize, 0..40_usize, any::<bool>()), 0..80),
    ) {
        let drawing = made(&names(count), &edges, there, false);
        let text = tree(&drawing, &TreeOptions::default());
        let below = text.lines().filter(|line| line.contains("── ")).count();
        prop_assert_eq!(below, drawing.edges().len());
        let shown: BTreeSet<&str> = text
            .lines()
            .filter_map(|line| line.trim_start_matches(['│', '├', '└', '─', ' ']).split(' ').next())
            .collect();
        prop_assert_eq!(shown.len(), drawing.nodes().len());
    }

    #[test]
    fn names_mean_nothing(hostile in prop::collection::vec(
        prop_oneof![
            Just("</text><script>alert(1)</script>".to_owned()),
            Just("\"]; n0 -> n1 [label=\"".to_owned()),
            Just("\\\"".to_owned()),
            Just("a\nb\r\t\u{0}\u{1b}[31m\u{202e}\u{ffff}\u{fffe}".to_owned()),
            Just("]]>&amp;<!--%%{init: {}}%%".to_owned()),
            Just("`**x**` #quot; click n0 href \"javascript:1\"".to_owned()),
            Just("x".repeat(5_000)),
            any::<String>(),
        ], 1..6)) {
        let edges: Vec<(usize, usize, bool)> = (0..8).map(|number| (number, number + 1, number % 2 == 0)).collect();
        let drawing = made(&hostile, &edges, 4, false);
        let text = svg(&drawing, Styling::Outside);
        check(&drawing, &text);
        let document = roxmltree::Document::parse(&text).unwrap();
        let allowed = ["svg", "title", "defs", "pattern", "marker", "path", "rect", "g", "text"];
        for node in document.descendants().filter(roxmltree::Node::is_element) {
            prop_assert!(allowed.contains(&node.tag_name().name()));
            prop_assert!(node.attributes().all(|attribute| !attribute.name().starts_with("on")));
            prop_assert!(!node.has_attribute("style") && !node.has_attribute("href"));
        }
        let rows = drawing.nodes().len() + drawing.edges().len();
        // Whatever a name holds, it adds no line and ends no string.
        prop_assert_eq!(mermaid(&drawing).matches('"').count(), rows * 2);
        for line in dot(&drawing).lines().filter(|line| line.contains("label=")) {
            let plain = line.replace("\\\\", "").replace("\\\"", "");
            prop_assert_eq!(plain.matches('"').count() % 2, 0);
        }
        prop_assert_eq!(dot(&drawing).lines().count(), rows + 5);
        let said: serde_json::Value = serde_json::from_str(&json(&drawing)).unwrap();
        prop_assert_eq!(said["nodes"].as_array().unwrap().len(), drawing.nodes().len());
        let lines = tree(&drawing, &TreeOptions::default());
        let is_plain = !lines.contains(['\u{1b}', '\u{202e}']);
        prop_assert!(is_plain);
    }
}

#[test]
fn pictures_of_real_shapes() {
    for drawing in [incident(), fleet(50), fleet(200), fleet(1_000)].iter().map(drawing) {
        check(&drawing, &svg(&drawing, Styling::Inside));
    }
}

#[test]
fn labels_of_loops_overlap_nothing() {
    let text = svg(&drawing(&incident()), Styling::Inside);
    let document = roxmltree::Document::parse(&text).unwrap();
    let labels: Vec<Vec<f64>> = document
        .descendants()
        .filter(|node| node.attribute("class") == Some("label"))
        .map(|node| ["x", "y"].map(|name| node.attribute(name).unwrap().parse().unwrap()).to_vec())
        .collect();
    assert_eq!(labels.len(), 3);
    for (place, one) in labels.iter().enumerate() {
        for other in &labels[place + 1..] {
            assert!((one[0] - other[0]).abs() > 120.0 || (one[1] - other[1]).abs() >= 14.0, "{one:?} {other:?}");
        }
    }
}

/// A chain, everything needing one source, everything needing everything, and a loop of all.
#[test]
fn large_graphs_end() {
    let chain: Vec<(usize, usize, bool)> = (0..9_999).map(|number| (number, number + 1, false)).collect();
    let drawing = made(&names(10_000), &chain, 10_000, false);
    let text = svg(&drawing, Styling::Inside);
    assert!(text.contains(&format!("({} more objects are left out)", 10_000 - LARGEST)));
    let lines = tree(&drawing, &TreeOptions::default());
    assert!(lines.len() < 10_000 * 250);
    assert_eq!(lines.matches(" (continued below)").count(), 9_999 / 24);

    let mut ring = chain;
    ring.push((9_999, 0, false));
    let drawing = made(&names(10_000), &ring, 10_000, false);
    assert!(svg(&drawing, Styling::Inside).len() > LARGEST);
    assert_eq!(tree(&drawing, &TreeOptions::default()).matches(" (loop)").count(), 0);

    let hub: Vec<(usize, usize, bool)> = (1..1_000).map(|number| (number, 0, false)).collect();
    let drawing = made(&names(1_000), &hub, 1_000, false);
    check(&drawing, &svg(&drawing, Styling::Inside));

    let all: Vec<(usize, usize, bool)> = (0..3_600).map(|number| (number / 60, number % 60, false)).collect();
    let drawing = made(&names(60), &all, 60, false);
    check(&drawing, &svg(&drawing, Styling::Inside));
    assert_eq!(graph([]).len(), 0);
}
