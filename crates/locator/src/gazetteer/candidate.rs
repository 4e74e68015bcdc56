//! A place that a name may mean.

/// Factor by which a place is less likely to be meant by an alternate name than a place of equal size by its main name.
/// Paris is an alternate name of Parys in South Africa.
const ALTERNATE_NAME: u32 = 20;

/// A place that a name leads to: the number of the place × 2, plus 1 if the name is not its main name.
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

    /// Returns how likely the place of this population is meant by the name, in people.
    pub(super) fn likelihood(self, population: u32) -> u32 {
        if self.is_main_name() { population } else { population / ALTERNATE_NAME }
    }
}

/// Returns the first `max` places of some candidates, each once.
pub(super) fn distinct_places(candidates: impl IntoIterator<Item = Candidate>, max: usize) -> Vec<u32> {
    let mut places = Vec::new();
    for place in candidates.into_iter().map(Candidate::place) {
        if places.len() < max && !places.contains(&place) {
            places.push(place);
        }
    }
    places
}
