//! A spatial index of points: an immutable kd-tree over unit vectors.
//!
//! A chord between unit vectors grows with the great-circle distance, so the tree compares chords (three
//! multiplications) and computes distances only for candidates of the result. Inclusion and order depend only on the
//! distance in whole micrometres; points with too similar chords stay candidates until then.

use std::f64::consts::PI;

use crate::point::{Distance, EARTH_RADIUS, Point, squared_chord};

/// Maximum number of points in a leaf. Smaller leaves need more levels, and larger leaves need more comparisons. For a
/// million points, measured times are equal from 16 to 32; for more points, when the nodes exceed the CPU caches, 32 is
/// fastest.
const LEAF_SIZE: usize = 32;

/// Bound of the squared chord that excludes all points and thereby ends a search.
const EXCLUDE_ALL: f64 = f64::NEG_INFINITY;

/// An immutable spatial index of points.
///
/// The tree is stored level by level without pointers: node `n` has the children `2n + 1` and `2n + 2`, each with one
/// half of its parent's points. The last level contains the leaves.
#[derive(Clone, Debug, Default)]
pub struct Index {
    splits: Vec<Split>,
    leaves: Vec<Leaf>,
    count: usize,
}

/// The points of a leaf in contiguous memory. Unused slots are infinitely far away.
#[derive(Clone, Debug)]
struct Leaf {
    x: [f64; LEAF_SIZE],
    y: [f64; LEAF_SIZE],
    z: [f64; LEAF_SIZE],
    /// The positions of the points in the caller's slice.
    at: [u32; LEAF_SIZE],
}

/// A point found by a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IndexMatch {
    /// The position of the point in the slice that the index was built from.
    pub at: u32,
    /// The great-circle distance from the searched point.
    pub distance: Distance,
}

/// A plane perpendicular to an axis. The first half of the points is on or below it, the second half on or above it.
#[derive(Clone, Copy, Debug, Default)]
struct Split {
    plane: f64,
    axis: u32,
}

/// A candidate for the result: its squared chord and its position.
type Neighbor = (f64, u32);

impl Index {
    /// Builds an index. Equal points remain separate. Building an index of a million points needs about 0.2 s.
    ///
    /// # Panics
    /// If there are more than `u32::MAX` points.
    #[must_use]
    pub fn build(points: &[Point]) -> Self {
        let count = u32::try_from(points.len()).expect("an index holds at most u32::MAX points");
        let vectors: Vec<[f64; 3]> = points.iter().map(|point| point.unit_vector()).collect();
        let mut at: Vec<u32> = (0..count).collect();
        let mut splits = vec![Split::default(); inner_nodes(points.len())];
        let mut leaves = vec![Leaf::EMPTY; splits.len() + 1];
        sort_into_leaves(&vectors, &mut at, &mut splits, &mut leaves, 0);
        Self { splits, leaves, count: points.len() }
    }

    /// Returns the number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns `true` if there are no points.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the `k` nearest points at most `within` away from `from` that `keep` accepts, nearest first. Points at
    /// equal distances (to the micrometre) are in the order of the slice. `keep` is called at most once for each point,
    /// and only for points that are near enough.
    #[must_use]
    pub fn nearest(
        &self,
        from: Point,
        within: Distance,
        k: usize,
        mut keep: impl FnMut(u32) -> bool,
    ) -> Vec<IndexMatch> {
        let Some(limit) = farthest_chord(within).filter(|_| k > 0) else { return Vec::new() };
        let mut nearest = NearestCandidates::new(k, limit, self.len());
        let bound = self.walk(
            from,
            limit,
            |candidate, bound| {
                if keep(candidate.1) { nearest.offer(candidate, bound) } else { bound }
            },
        );
        let mut found = measure(within, nearest.into_candidates(bound));
        found.truncate(k);
        found
    }

    /// Returns the `k` points nearest to `from` that `keep` accepts, but tries only the first `max_tried` points of the
    /// search, roughly the nearest points at most `within` away. Use it if `keep` may reject nearly all points.
    #[must_use]
    pub fn nearest_of_first(
        &self,
        from: Point,
        within: Distance,
        k: usize,
        max_tried: usize,
        mut keep: impl FnMut(u32) -> bool,
    ) -> Vec<IndexMatch> {
        let Some(limit) = farthest_chord(within).filter(|_| k > 0) else { return Vec::new() };
        let mut nearest = NearestCandidates::new(k, limit, self.len());
        let mut tried = 0;
        let mut last_bound = limit;
        self.walk(from, limit, |candidate, _| {
            tried += 1;
            if keep(candidate.1) {
                last_bound = nearest.offer(candidate, last_bound);
            }
            if tried < max_tried { last_bound } else { EXCLUDE_ALL }
        });
        let mut found = measure(within, nearest.into_candidates(last_bound));
        found.truncate(k);
        found
    }

    /// Returns whether `keep` accepts a point at most `radius` away from `from`. The search ends at the first such
    /// point.
    #[must_use]
    pub fn any_within(&self, from: Point, radius: Distance, mut keep: impl FnMut(u32) -> bool) -> bool {
        let Some(limit) = farthest_chord(radius) else { return false };
        let surely = without_slack(limit);
        let mut is_found = false;
        self.walk(from, limit, |(chord, at), bound| {
            is_found = (chord <= surely || Distance::of_chord(chord) <= radius) && keep(at);
            if is_found { EXCLUDE_ALL } else { bound }
        });
        is_found
    }

    /// Returns the `k` nearest of the points that [`Index::within`] would return, and their total number.
    #[must_use]
    pub fn nearest_and_count(
        &self,
        from: Point,
        radius: Distance,
        k: usize,
        mut keep: impl FnMut(u32) -> bool,
    ) -> (Vec<IndexMatch>, usize) {
        let Some(limit) = farthest_chord(radius) else { return (Vec::new(), 0) };
        let surely = without_slack(limit);
        let mut nearest = NearestCandidates::new(k, limit, self.len());
        let mut total = 0;
        let mut near_bound = if k == 0 { EXCLUDE_ALL } else { limit };
        self.walk(from, limit, |candidate, bound| {
            let (chord, at) = candidate;
            // For counting, only points near the edge of the radius need an exact distance.
            if keep(at) && (chord <= surely || Distance::of_chord(chord) <= radius) {
                total += 1;
                if chord <= near_bound {
                    near_bound = nearest.offer(candidate, near_bound);
                }
            }
            bound
        });
        let mut found = measure(radius, nearest.into_candidates(near_bound));
        found.truncate(k);
        (found, total)
    }

    /// Returns the positions of all points at most `radius` away from `from` that `keep` accepts, in no order.
    #[must_use]
    pub fn within(&self, from: Point, radius: Distance, mut keep: impl FnMut(u32) -> bool) -> Vec<u32> {
        let Some(limit) = farthest_chord(radius) else { return Vec::new() };
        let surely = without_slack(limit);
        let mut found = Vec::with_capacity(64);
        self.walk(from, limit, |(chord, at), bound| {
            if (chord <= surely || Distance::of_chord(chord) <= radius) && keep(at) {
                found.push(at);
            }
            bound
        });
        found
    }

    /// Calls `offer` with each point within the squared chord `bound`, roughly nearest first, and with the current
    /// bound. `offer` returns the new bound. Returns the last bound.
    fn walk(&self, from: Point, bound: f64, offer: impl FnMut(Neighbor, f64) -> f64) -> f64 {
        let mut walk = Walk { index: self, from: from.unit_vector(), bound, offer };
        walk.descend(0, [0.0; 3]);
        walk.bound
    }
}

/// Returns the candidates at most `within` away, sorted by distance.
fn measure(within: Distance, candidates: Vec<Neighbor>) -> Vec<IndexMatch> {
    let candidates = candidates.into_iter();
    let mut found: Vec<IndexMatch> =
        candidates.map(|(chord, at)| IndexMatch { at, distance: Distance::of_chord(chord) }).collect();
    found.retain(|near| near.distance <= within);
    found.sort_unstable_by(|a, b| a.distance.in_metres().total_cmp(&b.distance.in_metres()).then(a.at.cmp(&b.at)));
    found
}

/// The state of a search.
struct Walk<'a, F> {
    index: &'a Index,
    from: [f64; 3],
    bound: f64,
    offer: F,
}

impl<F: FnMut(Neighbor, f64) -> f64> Walk<'_, F> {
    /// Searches a node. `outside` is the distance of `from` to the box of the node along each axis.
    fn descend(&mut self, node: usize, outside: [f64; 3]) {
        let Some(&Split { plane, axis }) = self.index.splits.get(node) else {
            return self.scan(node - self.index.splits.len());
        };
        let axis = axis as usize;
        let past = self.from[axis] - plane;
        let (here, there) = if past <= 0.0 { (1, 2) } else { (2, 1) };
        self.descend(2 * node + here, outside);
        let mut outside = outside;
        outside[axis] = past;
        if squared_chord(outside, [0.0; 3]) <= self.bound {
            self.descend(2 * node + there, outside);
        }
    }

    fn scan(&mut self, leaf: usize) {
        let Some(Leaf { x, y, z, at }) = self.index.leaves.get(leaf) else { return };
        // A separate loop without branches is vectorized.
        let mut chords = [0.0; LEAF_SIZE];
        for (((chord, x), y), z) in chords.iter_mut().zip(x).zip(y).zip(z) {
            *chord = squared_chord([*x, *y, *z], self.from);
        }
        for (&chord, &at) in chords.iter().zip(at) {
            if chord <= self.bound {
                self.bound = (self.offer)((chord, at), self.bound);
            }
        }
    }
}

/// The best `k` candidates of a search so far.
struct NearestCandidates {
    k: usize,
    /// Maximum squared chord of a result.
    limit: f64,
    /// The best candidates, at most `k`, nearest first.
    best: Vec<Neighbor>,
    /// Candidates that are almost as near as the best candidates. Their rounded distances may be equal.
    close: Vec<Neighbor>,
}

impl NearestCandidates {
    /// Creates an empty set for an index of `all` points.
    fn new(k: usize, limit: f64, all: usize) -> Self {
        Self { k, limit, best: Vec::with_capacity(k.min(all)), close: Vec::new() }
    }

    /// Adds a candidate within `bound` and returns the bound for further candidates.
    fn offer(&mut self, candidate: Neighbor, bound: f64) -> f64 {
        let last = if self.best.len() == self.k { self.best.pop() } else { None };
        if let Some(last) = last.filter(|last| last.0 <= candidate.0) {
            self.best.push(last);
            self.close.push(candidate);
            return bound;
        }
        // `k` is small and most candidates are inserted near the end, so a heap would be slower.
        let place = self.best.iter().rposition(|best| best.0 <= candidate.0).map_or(0, |before| before + 1);
        self.best.insert(place, candidate);
        if self.best.len() < self.k {
            return bound;
        }
        let bound = self.limit.min(with_slack(self.best[self.k - 1].0));
        self.close.extend(last.filter(|last| last.0 <= bound));
        bound
    }

    /// Returns all candidates within the last bound.
    fn into_candidates(mut self, bound: f64) -> Vec<Neighbor> {
        self.close.retain(|close| close.0 <= bound);
        self.best.append(&mut self.close);
        self.best
    }
}

/// Returns the maximum squared chord of points at most `distance` away, or `None` if there can be no such point.
fn farthest_chord(distance: Distance) -> Option<f64> {
    let angle = distance.in_metres() / EARTH_RADIUS.in_metres();
    (angle >= 0.0).then(|| with_slack((2.0 * (angle.min(PI) / 2.0).sin()).powi(2)))
}

/// Increases a squared chord beyond all chords that round to the same number of micrometres.
fn with_slack(chord: f64) -> f64 {
    chord + chord * 1e-9 + 3e-17
}

/// Decreases a squared chord below all chords for which [`with_slack`] returns this value.
fn without_slack(chord: f64) -> f64 {
    chord - chord * 3e-9 - 1e-16
}

/// Returns the number of inner nodes of a tree for this number of points, with at most [`LEAF_SIZE`] points in each
/// leaf.
fn inner_nodes(points: usize) -> usize {
    points.div_ceil(LEAF_SIZE).next_power_of_two() - 1
}

impl Leaf {
    const EMPTY: Self = Self {
        x: [f64::INFINITY; LEAF_SIZE],
        y: [f64::INFINITY; LEAF_SIZE],
        z: [f64::INFINITY; LEAF_SIZE],
        at: [u32::MAX; LEAF_SIZE],
    };
}

/// Sorts the positions `at` so that the children of each node contain the points on either side of a plane across its
/// widest axis.
fn sort_into_leaves(vectors: &[[f64; 3]], at: &mut [u32], splits: &mut [Split], leaves: &mut [Leaf], node: usize) {
    if node >= splits.len() {
        let leaf = &mut leaves[node - splits.len()];
        for (slot, &at) in at.iter().enumerate() {
            [leaf.x[slot], leaf.y[slot], leaf.z[slot]] = vectors[at as usize];
            leaf.at[slot] = at;
        }
        return;
    }
    let axis = widest_axis(vectors, at);
    let middle = at.len() / 2;
    let (_, &mut pivot, _) =
        at.select_nth_unstable_by(middle, |&a, &b| vectors[a as usize][axis].total_cmp(&vectors[b as usize][axis]));
    splits[node] = Split { plane: vectors[pivot as usize][axis], axis: u32::try_from(axis).unwrap_or_default() };
    let (low, high) = at.split_at_mut(middle);
    sort_into_leaves(vectors, low, splits, leaves, 2 * node + 1);
    sort_into_leaves(vectors, high, splits, leaves, 2 * node + 2);
}

/// Returns the axis with the widest spread of points.
fn widest_axis(vectors: &[[f64; 3]], at: &[u32]) -> usize {
    let mut low = [f64::INFINITY; 3];
    let mut high = [f64::NEG_INFINITY; 3];
    for &at in at {
        for (axis, along) in vectors[at as usize].into_iter().enumerate() {
            low[axis] = low[axis].min(along);
            high[axis] = high[axis].max(along);
        }
    }
    (0..3).max_by(|&a, &b| (high[a] - low[a]).total_cmp(&(high[b] - low[b]))).unwrap_or_default()
}
