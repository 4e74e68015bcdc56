//! Candidates: places that a name may refer to.

/// Divisor for the likelihood of a place that is found by an alternate name. Paris, for example, is an alternate name
/// of Parys in South Africa.
const ALTERNATE_NAME_DIVISOR: u32 = 20;

/// A place that a name may refer to, encoded as the number of the place × 2, plus 1 for an alternate name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate(pub(super) u32);

impl Candidate {
    /// Returns the number of the place.
    pub(super) fn place(self) -> u32 {
        self.0 / 2
    }

    /// Returns `true` if the name is the main name of the place.
    pub(super) fn is_main_name(self) -> bool {
        self.0.is_multiple_of(2)
    }

    /// Returns the likelihood that the name refers to this place, as an equivalent population. `population` is the
    /// population of the place.
    pub(super) fn likelihood(self, population: u32) -> u32 {
        if self.is_main_name() { population } else { population / ALTERNATE_NAME_DIVISOR }
    }
}

/// Returns the first `max` distinct places of the candidates.
pub(super) fn distinct_places(candidates: impl IntoIterator<Item = Candidate>, max: usize) -> Vec<u32> {
    let mut places = Vec::new();
    for place in candidates.into_iter().map(Candidate::place) {
        if places.len() < max && !places.contains(&place) {
            places.push(place);
        }
    }
    places
}
