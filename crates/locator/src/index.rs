//! Which points are near: an immutable kd-tree over unit vectors.
//!
//! A chord between unit vectors grows with the great-circle distance, so the tree compares chords (three
//! multiplications) and only the points it would return are measured. The distance, in whole micrometres, alone decides
//! what is inside a radius and in which order; points too close to call by their chords are carried along until then.

use std::f64::consts::PI;

use crate::point::{Distance, EARTH_RADIUS, Point, squared_chord};

/// Most points in a leaf: fewer are more steps down, more are more points looked at in vain. Measured to be flat from
/// 16 to 32 for a million points; beyond, where every step down waits for memory, 32 is best.
const LEAF: usize = 32;

/// The squared chord that no point is within: ends a search.
const NOTHING: f64 = f64::NEG_INFINITY;

/// Points, ready to be searched; never changed once built.
///
/// The tree has no pointers: level by level, node `n` has the children `2n + 1` and `2n + 2`, and each takes one half
/// of its parent's points. The last level are the leaves.
#[derive(Clone, Debug, Default)]
pub struct Index {
    splits: Vec<Split>,
    leaves: Vec<Leaf>,
    count: usize,
}

/// The points of a leaf beside each other: a search that comes here waits for one stretch of memory. What no point
/// takes up is infinitely far away.
#[derive(Clone, Debug)]
struct Leaf {
    x: [f64; LEAF],
    y: [f64; LEAF],
    z: [f64; LEAF],
    /// Position in the caller's slice.
    at: [u32; LEAF],
}

/// A point that a search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// Its position in the slice that the index was built from.
    pub at: u32,
    /// Its great-circle distance from the point searched.
    pub distance: Distance,
}

/// A plane across one axis: the first half of the points is on or below it, the second on or above.
#[derive(Clone, Copy, Debug, Default)]
struct Split {
    plane: f64,
    axis: u32,
}

/// A point that may be an answer: squared chord and position.
type Candidate = (f64, u32);

impl Index {
    /// Sorts `points` into a tree; equal points stay separate. Takes about 0.2 s for a million.
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

    /// How many points there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no points.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The `k` points nearest to `from` among those at most `within` away that `keep` accepts: nearest first, points
    /// at one distance (to the micrometre) in the order of the slice. `keep` is asked at most once about a point, and
    /// only where the point is near enough to matter.
    #[must_use]
    pub fn nearest(&self, from: Point, within: Distance, k: usize, mut keep: impl FnMut(u32) -> bool) -> Vec<Near> {
        let Some(limit) = farthest_chord(within).filter(|_| k > 0) else { return Vec::new() };
        let mut nearest = NearestCandidates::new(k, limit, self.len());
        let offer =
            |candidate: Candidate, bound| if keep(candidate.1) { nearest.offer(candidate, bound) } else { bound };
        let bound = self.walk(from, limit, offer);
        let mut found = measure(within, nearest.into_candidates(bound));
        found.truncate(k);
        found
    }

    /// Returns the `k` points nearest to `from` among the first `max_tried` at most `within` away that the search meets,
    /// roughly nearest first, and that `keep` accepts. For callers whose `keep` may reject nearly all points.
    #[must_use]
    pub fn nearest_of_first(
        &self,
        from: Point,
        within: Distance,
        k: usize,
        max_tried: usize,
        mut keep: impl FnMut(u32) -> bool,
    ) -> Vec<Near> {
        let Some(limit) = farthest_chord(within).filter(|_| k > 0) else { return Vec::new() };
        let mut nearest = NearestCandidates::new(k, limit, self.len());
        let (mut tried, mut last_bound) = (0, limit);
        self.walk(from, limit, |candidate, _| {
            tried += 1;
            if keep(candidate.1) {
                last_bound = nearest.offer(candidate, last_bound);
            }
            if tried < max_tried { last_bound } else { NOTHING }
        });
        let mut found = measure(within, nearest.into_candidates(last_bound));
        found.truncate(k);
        found
    }

    /// Returns whether `keep` accepts a point at most `radius` away from `from`. The search ends at the first such point.
    #[must_use]
    pub fn any_within(&self, from: Point, radius: Distance, mut keep: impl FnMut(u32) -> bool) -> bool {
        let Some(limit) = farthest_chord(radius) else { return false };
        let surely = without_slack(limit);
        let mut is_found = false;
        self.walk(from, limit, |(chord, at), bound| {
            is_found = (chord <= surely || Distance::of_chord(chord) <= radius) && keep(at);
            if is_found { NOTHING } else { bound }
        });
        is_found
    }

    /// The `k` nearest among all points that [`Index::within`] would return, and how many those are.
    #[must_use]
    pub fn nearest_and_count(
        &self,
        from: Point,
        radius: Distance,
        k: usize,
        mut keep: impl FnMut(u32) -> bool,
    ) -> (Vec<Near>, usize) {
        let Some(limit) = farthest_chord(radius) else { return (Vec::new(), 0) };
        let surely = without_slack(limit);
        let mut nearest = NearestCandidates::new(k, limit, self.len());
        let (mut total, mut near_bound) = (0, if k == 0 { f64::NEG_INFINITY } else { limit });
        self.walk(from, limit, |candidate, bound| {
            let (chord, at) = candidate;
            // Only what is about as far away as the radius has to be measured to be counted.
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

    /// The positions of all points at most `radius` away from `from` that `keep` accepts, in no order.
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

    /// Calls `offer` with the points within the squared chord `bound`, roughly nearest first; it is told the bound and
    /// returns the one from there on. Returns the last bound.
    fn walk(&self, from: Point, bound: f64, offer: impl FnMut(Candidate, f64) -> f64) -> f64 {
        let mut walk = Walk { index: self, from: from.unit_vector(), bound, offer };
        walk.descend(0, [0.0; 3]);
        walk.bound
    }
}

/// The answers among `candidates`, by their true distance.
fn measure(within: Distance, candidates: Vec<Candidate>) -> Vec<Near> {
    let near = |(chord, at): Candidate| Near { at, distance: Distance::of_chord(chord) };
    let mut found: Vec<Near> = candidates.into_iter().map(near).collect();
    found.retain(|near| near.distance <= within);
    found.sort_unstable_by(|a, b| a.distance.in_metres().total_cmp(&b.distance.in_metres()).then(a.at.cmp(&b.at)));
    found
}

/// A search on its way through the tree.
struct Walk<'a, F> {
    index: &'a Index,
    from: [f64; 3],
    bound: f64,
    offer: F,
}

impl<F: FnMut(Candidate, f64) -> f64> Walk<'_, F> {
    /// `outside` holds, for each axis, how far `from` is from the box of this node.
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
        // In a loop of its own, without a branch, several chords are computed at a time.
        let mut chords = [0.0; LEAF];
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

/// The best `k` candidates so far.
struct NearestCandidates {
    k: usize,
    /// The squared chord beyond which nothing is an answer, however few there are.
    limit: f64,
    /// At most `k`, nearest first.
    best: Vec<Candidate>,
    /// Not among the best by their chord, but by so little that only measuring can tell.
    close: Vec<Candidate>,
}

impl NearestCandidates {
    /// None yet, of `all` points that there are.
    fn new(k: usize, limit: f64, all: usize) -> Self {
        Self { k, limit, best: Vec::with_capacity(k.min(all)), close: Vec::new() }
    }

    /// Takes a candidate within `bound` and returns the bound that all further ones must keep.
    fn offer(&mut self, candidate: Candidate, bound: f64) -> f64 {
        let last = if self.best.len() == self.k { self.best.pop() } else { None };
        if let Some(last) = last.filter(|last| last.0 <= candidate.0) {
            self.best.push(last);
            self.close.push(candidate);
            return bound;
        }
        // `k` is small and most candidates belong near the end, so that a heap would be slower.
        let place = self.best.iter().rposition(|best| best.0 <= candidate.0).map_or(0, |before| before + 1);
        self.best.insert(place, candidate);
        if self.best.len() < self.k {
            return bound;
        }
        let bound = self.limit.min(with_slack(self.best[self.k - 1].0));
        self.close.extend(last.filter(|last| last.0 <= bound));
        bound
    }

    /// All that may be among the `k` nearest, given the last bound.
    fn into_candidates(mut self, bound: f64) -> Vec<Candidate> {
        self.close.retain(|close| close.0 <= bound);
        self.best.append(&mut self.close);
        self.best
    }
}

/// The squared chord that reaches every point at most `distance` away, or `None` if no point is.
fn farthest_chord(distance: Distance) -> Option<f64> {
    let angle = distance.in_metres() / EARTH_RADIUS.in_metres();
    (angle >= 0.0).then(|| with_slack((2.0 * (angle.min(PI) / 2.0).sin()).powi(2)))
}

/// A squared chord that is longer than any that rounds to the same micrometre.
fn with_slack(chord: f64) -> f64 {
    chord + chord * 1e-9 + 3e-17
}

/// A squared chord that is shorter than any that [`with_slack`] could have made this one from.
fn without_slack(chord: f64) -> f64 {
    chord - chord * 3e-9 - 1e-16
}

/// How many inner nodes a tree has whose leaves hold at most [`LEAF`] of `points`.
fn inner_nodes(points: usize) -> usize {
    points.div_ceil(LEAF).next_power_of_two() - 1
}

impl Leaf {
    const EMPTY: Self =
        Self { x: [f64::INFINITY; LEAF], y: [f64::INFINITY; LEAF], z: [f64::INFINITY; LEAF], at: [u32::MAX; LEAF] };
}

/// Sorts `at` so that each node's children have the points on either side of a plane across the node's widest axis.
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
    let along = |at: u32| vectors[at as usize][axis];
    let middle = at.len() / 2;
    let (_, &mut pivot, _) = at.select_nth_unstable_by(middle, |&a, &b| along(a).total_cmp(&along(b)));
    splits[node] = Split { plane: along(pivot), axis: u32::try_from(axis).unwrap_or_default() };
    let (low, high) = at.split_at_mut(middle);
    sort_into_leaves(vectors, low, splits, leaves, 2 * node + 1);
    sort_into_leaves(vectors, high, splits, leaves, 2 * node + 2);
}

/// The axis along which the points are spread most.
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
