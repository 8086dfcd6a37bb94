use super::ROW_GAP;
use super::{Layout, Link, Size, layout};

const BOX: Size = Size { width: 100.0, height: 40.0 };

fn laid(count: usize, links: &[(usize, usize)]) -> Layout {
    let links: Vec<Link> =
        links.iter().map(|&(from, to)| Link { from, to, alone: false, backwards: false, label: 0.0 }).collect();
    layout(&vec![BOX; count], &links)
}

#[test]
fn what_is_needed_stands_on_the_right() {
    let found = laid(4, &[(0, 1), (1, 2), (0, 3)]);
    for (from, to) in [(0, 1), (1, 2), (0, 3)] {
        assert!(found.corners[from].x < found.corners[to].x);
    }
}

#[test]
fn one_line_of_a_loop_runs_backwards_and_it_may_be_chosen() {
    let backwards = |chosen: usize| {
        let links: Vec<Link> = [(0, 1), (1, 2), (2, 0)]
            .iter()
            .enumerate()
            .map(|(at, &(from, to))| Link { from, to, alone: true, backwards: at == chosen, label: 0.0 })
            .collect();
        let found = layout(&[BOX; 3], &links);
        let is_backwards = |route: &super::Route| route.levels[0].0.x > route.levels.last().unwrap().1.x;
        found.routes.iter().map(is_backwards).collect::<Vec<_>>()
    };
    assert_eq!(backwards(0), [true, false, false]);
    assert_eq!(backwards(1), [false, true, false]);
    assert_eq!(backwards(2), [false, false, true]);
}

#[test]
fn lines_begin_and_end_at_their_boxes() {
    let found = laid(5, &[(0, 1), (1, 2), (2, 3), (0, 3), (4, 3), (2, 1), (3, 3)]);
    for (route, (from, to)) in found.routes.iter().zip([(0, 1), (1, 2), (2, 3), (0, 3), (4, 3), (2, 1)]) {
        let (start, end) = (route.levels[0].0, route.levels.last().unwrap().1);
        for (point, node) in [(start, from), (end, to)] {
            let corner = found.corners[node];
            assert!(point.x == corner.x || point.x == corner.x + found.widths[node], "{point:?} {corner:?}");
            assert!(point.y > corner.y && point.y < corner.y + BOX.height, "{point:?} {corner:?}");
        }
    }
    assert!(found.routes[6].is_own);
}

/// A long line goes between the boxes of the columns that it passes.
#[test]
fn lines_pass_no_box() {
    let chain: Vec<(usize, usize)> = (0..9).map(|node| (node, node + 1)).collect();
    let long: Vec<(usize, usize)> = (0..8).map(|node| (node, 9)).collect();
    let found = laid(10, &[chain, long].concat());
    for route in &found.routes {
        for (start, end) in &route.levels[1..route.levels.len() - 1] {
            let middle = (start.x + end.x) / 2.0;
            let hit = found.corners.iter().zip(&found.widths).any(|(corner, width)| {
                (corner.x..corner.x + width).contains(&middle) && (corner.y..corner.y + BOX.height).contains(&start.y)
            });
            assert!(!hit, "{start:?}");
        }
    }
}

#[test]
fn columns_are_bounded_and_parts_are_packed() {
    let star: Vec<(usize, usize)> = (1..400).map(|node| (node, 0)).collect();
    let found = laid(400, &star);
    // In one column they would be 400 boxes high.
    assert!(found.height < 200.0 * (BOX.height + ROW_GAP), "{} {}", found.width, found.height);
    let alone = laid(400, &[]);
    assert!(alone.height < alone.width * 1.5 && alone.width < alone.height * 4.0, "{} {}", alone.width, alone.height);
}

#[test]
fn nothing_is_no_trouble() {
    let found = laid(0, &[]);
    assert_eq!((found.width, found.height, found.corners.len()), (0.0, 0.0, 0));
}
