//! Fuzzy search for names with typing mistakes.

use std::cell::Cell;

use fst::{IntoStreamer, Streamer};
use levenshtein_automata::LevenshteinAutomatonBuilder;

use super::Gazetteer;
use super::candidate::Candidate;
use super::query::{Query, Within};

/// Minimum characters of a name at edit distance 1. Shorter names have too many matches.
const MIN_NAME_CHARS: usize = 4;
/// Minimum characters of a name at edit distance 2.
const MIN_NAME_CHARS_FOR_TWO: usize = 7;
/// Maximum characters of the name of a place.
const MAX_NAME_CHARS: usize = 40;
/// Maximum characters of a non-Latin name, because its search is slow.
const MAX_NAME_CHARS_BEYOND_ASCII: usize = 16;
/// Cost of a search for a non-Latin name. A search for a Latin name at edit distance 1 costs 2.
const COST_BEYOND_ASCII: u32 = 6;
/// Ratio of likelihoods of a mistake in another letter and in the first letter.
const FIRST_LETTER: u32 = 20;

/// First byte of the keys of non-Latin names.
const FIRST_BEYOND_ASCII: u8 = 0x80;

/// The remaining budget of a text for fuzzy searches. Exact searches are a hundred times as fast.
#[derive(Debug)]
pub(super) struct FuzzyBudget {
    /// The rest for fuzzy searches.
    fuzzy: Cell<u32>,
    /// The remaining number of postcodes: the words beside a postcode are resolved on their own.
    postcodes: Cell<u32>,
}

impl FuzzyBudget {
    /// Creates the budget of a text: six searches at edit distance 1, or three at 2, in about a millisecond.
    pub(super) fn of_a_text() -> Self {
        Self { fuzzy: Cell::new(12), postcodes: Cell::new(4) }
    }

    /// Counts a postcode. Returns `false` if the text has too many.
    pub(super) fn spend_postcode(&self) -> bool {
        spend(&self.postcodes, 1)
    }

    fn spend(&self, cost: u32) -> bool {
        spend(&self.fuzzy, cost)
    }
}

/// Subtracts a cost from a budget. Returns `false` and empties the budget if it is too small.
fn spend(left: &Cell<u32>, cost: u32) -> bool {
    let rest = left.get().checked_sub(cost);
    left.set(rest.unwrap_or_default());
    rest.is_some()
}

/// The builders of Levenshtein automata, cached because they are slow to create.
pub(super) struct PlaceSpelling {
    one: LevenshteinAutomatonBuilder,
    two: LevenshteinAutomatonBuilder,
}

/// The maximum edit distance: the number of inserted, missing, wrong or transposed letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EditDistance {
    One,
    /// Only for long names, with an equal first letter.
    Two,
}

impl PlaceSpelling {
    pub(super) fn new() -> Self {
        Self { one: LevenshteinAutomatonBuilder::new(1, true), two: LevenshteinAutomatonBuilder::new(2, true) }
    }
}

impl Gazetteer {
    /// Returns the candidates whose names are at most this edit distance away from the name of a query, the likeliest
    /// first. The minimum likelihood is `min`, in people: names of small places are often similar to those of unknown
    /// places.
    pub(super) fn fuzzy_candidates(
        &self,
        Query { name, within, .. }: &Query<'_>,
        distance: EditDistance,
        min: u32,
        budget: &FuzzyBudget,
    ) -> Vec<Candidate> {
        let length = name.chars().count();
        let (min_chars, spelling) = match distance {
            EditDistance::One => (MIN_NAME_CHARS, &self.spelling.one),
            EditDistance::Two => (MIN_NAME_CHARS_FOR_TWO, &self.spelling.two),
        };
        if !(min_chars..=MAX_NAME_CHARS).contains(&length) || name.contains(|letter: char| letter.is_numeric()) {
            return Vec::new();
        }
        let cost = match distance {
            EditDistance::One if name.is_ascii() => 2,
            EditDistance::Two if name.is_ascii() => 4,
            EditDistance::One if length <= MAX_NAME_CHARS_BEYOND_ASCII => COST_BEYOND_ASCII,
            _ => return Vec::new(),
        };
        if !budget.spend(cost) {
            return Vec::new();
        }
        let first = name.as_bytes().first().copied().unwrap_or_default();
        let keys = self.contents.keys.search(spelling.build_dfa(name));
        let keys = match distance {
            EditDistance::Two => keys.ge([first]).lt([first.saturating_add(1)]),
            // A mistake does not change the script, and scripts with thousands of letters are slow to search.
            EditDistance::One if first.is_ascii() => keys.lt([FIRST_BEYOND_ASCII]),
            EditDistance::One => keys.ge([FIRST_BEYOND_ASCII]),
        };
        let mut keys = keys.into_stream();
        let mut found = Vec::new();
        while let Some((key, leads_to)) = keys.next() {
            let factor = if key.first() == Some(&first) { 1 } else { FIRST_LETTER };
            for candidate in self.led_to(leads_to, *within) {
                let likelihood = self.likelihood(candidate) / factor;
                if likelihood >= min {
                    found.push((likelihood, candidate));
                }
            }
        }
        found.sort_unstable_by_key(|&(likelihood, candidate)| (std::cmp::Reverse(likelihood), candidate));
        found.into_iter().map(|(_, candidate)| candidate).collect()
    }

    /// Returns the largest `max` places whose main names begin with the longest possible prefix of `name`, at least its
    /// first half.
    pub(super) fn beginning_like(&self, name: &str, within: Within, max: usize) -> Vec<Candidate> {
        /// Maximum keys that are read for one prefix.
        const MAX_KEYS: usize = 2_000;
        let half = name.chars().count().div_ceil(2).max(3);
        let ends = name.char_indices().map(|(at, letter)| at + letter.len_utf8()).skip(half - 1).take(MAX_NAME_CHARS);
        for end in ends.collect::<Vec<_>>().into_iter().rev() {
            let beginning = &name[..end];
            let mut keys = self.contents.keys.range().ge(beginning).into_stream();
            let mut found = Vec::new();
            let mut read = 0;
            while let Some((key, leads_to)) = keys.next()
                && key.starts_with(beginning.as_bytes())
                && read < MAX_KEYS
            {
                read += 1;
                found.extend(self.led_to(leads_to, within).filter(|candidate| candidate.is_main_name()));
            }
            if !found.is_empty() {
                // Places are numbered by size.
                found.sort_unstable();
                found.truncate(max);
                return found;
            }
        }
        Vec::new()
    }
}
