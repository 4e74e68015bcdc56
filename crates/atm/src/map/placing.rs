//! Placement of marks and labels on a drawing without overlaps.

use std::f64::consts::TAU;
use std::iter;

/// A rectangle on the drawing, given by its centre and half of its size, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    /// Half of the width and half of the height.
    pub(super) half: [f64; 2],
}

impl Rect {
    pub(super) fn offset_by(self, [x, y]: [f64; 2]) -> Self {
        Self { x: self.x + x, y: self.y + y, ..self }
    }

    fn covers(&self, other: &Self) -> bool {
        (self.x - other.x).abs() < self.half[0] + other.half[0]
            && (self.y - other.y).abs() < self.half[1] + other.half[1]
    }
}

/// The set of occupied rectangles on a drawing.
#[derive(Debug)]
pub(super) struct LabelLayout {
    width: f64,
    height: f64,
    occupied: Vec<Rect>,
}

impl LabelLayout {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self { width, height, occupied: Vec::new() }
    }

    /// Occupies and returns the first of these rectangles that is inside the drawing and free.
    pub(super) fn occupy_first(&mut self, rects: impl IntoIterator<Item = Rect>) -> Option<Rect> {
        let found = rects.into_iter().find(|rect| self.is_free(rect))?;
        self.occupied.push(found);
        Some(found)
    }

    /// Occupies a rectangle, even if it overlaps others.
    pub(super) fn occupy(&mut self, rect: Rect) {
        self.occupied.push(rect);
    }

    fn is_free(&self, rect: &Rect) -> bool {
        let [width, height] = rect.half;
        let is_inside =
            (width..=self.width - width).contains(&rect.x) && (height..=self.height - height).contains(&rect.y);
        is_inside && !self.occupied.iter().any(|occupied| occupied.covers(rect))
    }
}

/// Returns the candidate offsets of a mark: first zero, then positions on circles with these radii.
pub(super) fn around(radii: &[f64]) -> impl Iterator<Item = [f64; 2]> {
    const DIRECTIONS: u8 = 12;
    let circles = radii.iter().flat_map(|radius| {
        (0..DIRECTIONS).map(move |direction| {
            let angle = f64::from(direction) / f64::from(DIRECTIONS) * TAU;
            [radius * angle.sin(), -radius * angle.cos()]
        })
    });
    iter::once([0.0, 0.0]).chain(circles)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn placed_labels_are_inside_and_do_not_overlap(
            wanted in prop::collection::vec((-20.0f64..120.0, -20.0f64..120.0, 1.0f64..30.0, 1.0f64..10.0), 0..60),
        ) {
            let mut layout = LabelLayout::new(100.0, 100.0);
            let mut placed: Vec<Rect> = Vec::new();
            for (x, y, width, height) in wanted {
                let wish = Rect { x, y, half: [width, height] };
                let Some(rect) = layout.occupy_first(around(&[12.0, 24.0]).map(|way| wish.offset_by(way))) else { continue };
                prop_assert!(rect.x >= width && rect.x <= 100.0 - width);
                prop_assert!(rect.y >= height && rect.y <= 100.0 - height);
                prop_assert!(placed.iter().all(|other| !other.covers(&rect)));
                placed.push(rect);
            }
        }
    }
}
