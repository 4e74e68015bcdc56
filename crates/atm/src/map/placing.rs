//! Where marks and names have room on a drawing: nothing is written over what stands there.

/// A rectangle of the drawing, in its pixels, from its middle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Patch {
    pub(super) x: f64,
    pub(super) y: f64,
    /// Half of its width and of its height.
    pub(super) half: [f64; 2],
}

impl Patch {
    pub(super) fn moved(self, [x, y]: [f64; 2]) -> Self {
        Self { x: self.x + x, y: self.y + y, ..self }
    }

    fn covers(&self, other: &Self) -> bool {
        (self.x - other.x).abs() < self.half[0] + other.half[0]
            && (self.y - other.y).abs() < self.half[1] + other.half[1]
    }
}

/// What is taken of a drawing.
#[derive(Debug)]
pub(super) struct Room {
    width: f64,
    height: f64,
    taken: Vec<Patch>,
}

impl Room {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self { width, height, taken: Vec::new() }
    }

    /// Takes the first of these patches that is inside of the drawing and on nothing that was taken.
    pub(super) fn take_first(&mut self, patches: impl IntoIterator<Item = Patch>) -> Option<Patch> {
        let found = patches.into_iter().find(|patch| self.is_free(patch))?;
        self.taken.push(found);
        Some(found)
    }

    /// Takes a patch whatever it is on.
    pub(super) fn take(&mut self, patch: Patch) {
        self.taken.push(patch);
    }

    fn is_free(&self, patch: &Patch) -> bool {
        let [width, height] = patch.half;
        let is_inside =
            (width..=self.width - width).contains(&patch.x) && (height..=self.height - height).contains(&patch.y);
        is_inside && !self.taken.iter().any(|taken| taken.covers(patch))
    }
}

/// Where something may be moved to that has no room where it belongs: there itself first, then in circles around it.
pub(super) fn around(reach: &[f64]) -> impl Iterator<Item = [f64; 2]> {
    const DIRECTIONS: u8 = 12;
    let circle = |radius: f64| {
        (0..DIRECTIONS).map(move |direction| {
            let (sin, cos) = (f64::from(direction) / f64::from(DIRECTIONS) * std::f64::consts::TAU).sin_cos();
            [radius * sin, -radius * cos]
        })
    };
    std::iter::once([0.0, 0.0]).chain(reach.iter().copied().flat_map(circle))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_finds_room_is_inside_and_covers_nothing(
            wanted in prop::collection::vec((-20.0f64..120.0, -20.0f64..120.0, 1.0f64..30.0, 1.0f64..10.0), 0..60),
        ) {
            let mut room = Room::new(100.0, 100.0);
            let mut placed: Vec<Patch> = Vec::new();
            for (x, y, width, height) in wanted {
                let wish = Patch { x, y, half: [width, height] };
                let Some(patch) = room.take_first(around(&[12.0, 24.0]).map(|way| wish.moved(way))) else { continue };
                prop_assert!(patch.x >= width && patch.x <= 100.0 - width);
                prop_assert!(patch.y >= height && patch.y <= 100.0 - height);
                prop_assert!(placed.iter().all(|other| !other.covers(&patch)));
                placed.push(patch);
            }
        }
    }
}
