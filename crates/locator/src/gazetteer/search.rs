//! Finding places by name: exactly, or as near as one or two typos.

use fst::{IntoStreamer, Streamer};

use super::{Gazetteer, Place};

/// Shorter names have too many neighbours for a typo to mean anything.
const ONE_TYPO_FROM: usize = 4;
const TWO_TYPOS_FROM: usize = 9;
/// The most names that a search with typos looks at.
const MOST_NAMES: usize = 500;
/// How much less a place counts under one of its other names: `Paris` is not `Parys`, yet `New York` is New York City.
const OTHER_NAME: f64 = 0.1;

/// A place that has a name that was searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hit {
    pub(super) place: u32,
    /// Population, less for other names.
    pub(super) weight: f64,
    pub(super) is_main: bool,
}

impl Gazetteer {
    /// The places of this folded name, most likely first.
    pub(super) fn exact(&self, folded: &str) -> Vec<Hit> {
        let value = self.data.names.get(folded);
        let mut hits = value.map(|value| self.hits(value)).unwrap_or_default();
        sort(&mut hits);
        hits
    }

    /// The places of names at most a few typos away, most likely first.
    pub(super) fn similar(&self, folded: &str) -> Vec<Hit> {
        let length = folded.chars().count();
        let builders = [(ONE_TYPO_FROM, &self.one_typo), (TWO_TYPOS_FROM, &self.two_typos)];
        for (_, builder) in builders.into_iter().filter(|(from, _)| length >= *from) {
            let mut names = self.data.names.search(builder.build_dfa(folded)).into_stream();
            let (mut hits, mut seen) = (Vec::new(), 0);
            while let Some((_, value)) = names.next() {
                hits.extend(self.hits(value));
                seen += 1;
                if seen == MOST_NAMES {
                    break;
                }
            }
            if !hits.is_empty() {
                sort(&mut hits);
                return hits;
            }
        }
        Vec::new()
    }

    fn hits(&self, value: u64) -> Vec<Hit> {
        let hit = |(place, is_main)| {
            let population = f64::from(self.data.population(place).max(1));
            Hit { place, weight: if is_main { population } else { population * OTHER_NAME }, is_main }
        };
        self.data.postings(value).map(hit).collect()
    }

    pub(super) fn places(&self, hits: impl IntoIterator<Item = Hit>, most: usize) -> Vec<Place> {
        hits.into_iter().take(most).map(|hit| self.data.place(hit.place)).collect()
    }
}

/// Heaviest first; a place that has the name twice counts once.
fn sort(hits: &mut Vec<Hit>) {
    hits.sort_by(|a, b| a.place.cmp(&b.place).then(b.weight.total_cmp(&a.weight)));
    hits.dedup_by_key(|hit| hit.place);
    hits.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.place.cmp(&b.place)));
}
