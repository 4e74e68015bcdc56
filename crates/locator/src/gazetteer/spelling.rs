//! Fuzzy search for misspelt place names, based on Levenshtein automata over the FST of names.

use std::cell::Cell;

use fst::{IntoStreamer, Streamer};
use levenshtein_automata::LevenshteinAutomatonBuilder;

use super::Gazetteer;
use super::candidate::Candidate;
use super::query::{Query, Within};

/// Minimum length of a name for a search at edit distance 1, in characters. Shorter names have too many matches.
const MIN_NAME_CHARS: usize = 4;
/// Minimum length of a name for a search at edit distance 2, in characters.
const MIN_NAME_CHARS_FOR_TWO: usize = 7;
/// Maximum length of a name for a fuzzy search, in characters.
const MAX_NAME_CHARS: usize = 40;
/// Maximum length of a non-ASCII name for a fuzzy search, in characters. It is shorter, because such searches are slow.
const MAX_NON_ASCII_NAME_CHARS: usize = 16;
/// Cost of a fuzzy search for a non-ASCII name. A search for an ASCII name at edit distance 1 costs 2.
const NON_ASCII_COST: u32 = 6;
/// Divisor for the likelihood of a candidate with another first letter, because people rarely mistype the first letter.
const FIRST_LETTER_PENALTY: u32 = 20;

/// Smallest first byte of the keys of non-ASCII names.
const FIRST_NON_ASCII_BYTE: u8 = 0x80;

/// The remaining budget of a text for fuzzy searches. They are a hundred times slower than exact searches.
#[derive(Debug)]
pub(super) struct FuzzyBudget {
    /// The remaining cost of fuzzy searches.
    fuzzy: Cell<u32>,
    /// The remaining number of postcodes. It is limited, because the words around each postcode are resolved
    /// separately.
    postcodes: Cell<u32>,
}

impl FuzzyBudget {
    /// Creates the budget for a location text. It suffices for six searches at edit distance 1, or three at edit
    /// distance 2, in about a millisecond.
    pub(super) fn for_text() -> Self {
        Self { fuzzy: Cell::new(12), postcodes: Cell::new(4) }
    }

    /// Counts a postcode. Returns `false` if the text has too many postcodes.
    pub(super) fn spend_postcode(&self) -> bool {
        spend(&self.postcodes, 1)
    }

    fn spend(&self, cost: u32) -> bool {
        spend(&self.fuzzy, cost)
    }
}

/// Subtracts a cost from a budget. If the budget is too small, empties it and returns `false`.
fn spend(left: &Cell<u32>, cost: u32) -> bool {
    let rest = left.get().checked_sub(cost);
    left.set(rest.unwrap_or_default());
    rest.is_some()
}

/// The builders of Levenshtein automata. They are cached, because creating them is slow.
pub(super) struct PlaceSpelling {
    one: LevenshteinAutomatonBuilder,
    two: LevenshteinAutomatonBuilder,
}

/// The maximum edit distance, the number of inserted, missing, wrong or transposed letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EditDistance {
    One,
    /// Edit distance 2, only for long names with an equal first letter.
    Two,
}

impl PlaceSpelling {
    pub(super) fn new() -> Self {
        Self { one: LevenshteinAutomatonBuilder::new(1, true), two: LevenshteinAutomatonBuilder::new(2, true) }
    }
}

impl Gazetteer {
    /// Returns the candidates within an edit distance of the name of a query, sorted by descending likelihood. `min` is
    /// the minimum likelihood of a candidate as a population, because small places often have names that are similar to
    /// those of unknown places.
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
            EditDistance::One if length <= MAX_NON_ASCII_NAME_CHARS => NON_ASCII_COST,
            _ => return Vec::new(),
        };
        if !budget.spend(cost) {
            return Vec::new();
        }
        let first = name.as_bytes().first().copied().unwrap_or_default();
        let keys = self.contents.keys.search(spelling.build_dfa(name));
        let keys = match distance {
            EditDistance::Two => keys.ge([first]).lt([first.saturating_add(1)]),
            // Mistakes do not change the script, and searching scripts with thousands of letters is slow.
            EditDistance::One if first.is_ascii() => keys.lt([FIRST_NON_ASCII_BYTE]),
            EditDistance::One => keys.ge([FIRST_NON_ASCII_BYTE]),
        };
        let mut keys = keys.into_stream();
        let mut found = Vec::new();
        while let Some((key, leads_to)) = keys.next() {
            let factor = if key.first() == Some(&first) { 1 } else { FIRST_LETTER_PENALTY };
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

    /// Returns the `max` largest places with the longest common prefix of their main name and `name`, at least the
    /// first half of `name`.
    pub(super) fn with_longest_common_prefix(&self, name: &str, within: Within, max: usize) -> Vec<Candidate> {
        /// Maximum number of keys that are read for a prefix.
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
                // Places are numbered by descending population.
                found.sort_unstable();
                found.truncate(max);
                return found;
            }
        }
        Vec::new()
    }
}
