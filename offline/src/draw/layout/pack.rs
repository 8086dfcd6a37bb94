//! Parts that nothing joins, side by side.

use super::{Point, Size};

/// Between two parts.
const GAP: f64 = 34.0;
/// How much wider than high the whole should be.
const SHAPE: f64 = 1.6;

/// The upper left corner of each part, and the size of the whole: shelves, the highest parts first, where lower ones are
/// stacked as long as they fit.
pub(super) fn pack(parts: &[Size]) -> (Vec<Point>, Size) {
    let area: f64 = parts.iter().map(|part| (part.width + GAP) * (part.height + GAP)).sum();
    let widest = parts.iter().map(|part| part.width).fold(0.0, f64::max);
    let limit = (area * SHAPE).sqrt().max(widest);
    let mut order: Vec<(usize, &Size)> = parts.iter().enumerate().collect();
    order.sort_by(|a, b| b.1.height.total_cmp(&a.1.height).then(a.0.cmp(&b.0)));
    let mut corners = vec![Point { x: 0.0, y: 0.0 }; parts.len()];
    let mut whole = Size { width: 0.0, height: 0.0 };
    // The shelf, and the stack on it that is being filled.
    let (mut shelf_top, mut shelf_height) = (0.0, 0.0);
    let (mut left, mut width, mut top) = (0.0, 0.0, 0.0);
    for (number, part) in order {
        let fits_below = width > 0.0 && top + part.height <= shelf_top + shelf_height && part.width <= width;
        if !fits_below {
            let next = if width > 0.0 { left + width + GAP } else { 0.0 };
            if width > 0.0 && next + part.width > limit {
                (shelf_top, shelf_height) = (shelf_top + shelf_height + GAP, part.height);
                left = 0.0;
            } else {
                shelf_height = f64::max(shelf_height, part.height);
                left = next;
            }
            (width, top) = (part.width, shelf_top);
        }
        if let Some(corner) = corners.get_mut(number) {
            *corner = Point { x: left, y: top };
        }
        whole.width = f64::max(whole.width, left + part.width);
        whole.height = f64::max(whole.height, top + part.height);
        top += part.height + GAP / 2.0;
    }
    (corners, whole)
}
