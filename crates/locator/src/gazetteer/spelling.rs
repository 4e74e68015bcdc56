//! Names with typing mistakes in them.

use std::cell::Cell;

use fst::{IntoStreamer, Streamer};
use levenshtein_automata::LevenshteinAutomatonBuilder;

use super::query::{Query, Within};
use super::{Gazetteer, likelihood};

/// Shorter names have too many neighbours.
const MIN_NAME_CHARS: usize = 4;
/// The same for two mistakes.
const MIN_NAME_CHARS_FOR_TWO: usize = 7;
/// Longer names are not names of places.
const MAX_NAME_CHARS: usize = 40;
/// The same in other than Latin letters, of which there are so many that they are slow to try.
const MAX_NAME_CHARS_BEYOND_ASCII: usize = 16;
/// What such a search costs, in half searches for a Latin name.
const COST_BEYOND_ASCII: u32 = 6;
/// How much less likely a mistake is in the first letter, which people get right.
const FIRST_LETTER: u32 = 20;

/// Keys of other than Latin letters begin with this byte or a larger one.
const FIRST_BEYOND_ASCII: u8 = 0x80;

/// What may be spent on misspelt names: looking for one takes a hundred times as long as for a name as it is known.
#[derive(Debug)]
pub(super) struct Effort(Cell<u32>);

impl Effort {
    /// For one text: six names with one mistake, or three with two, take about a millisecond.
    pub(super) fn of_a_text() -> Self {
        Self(Cell::new(12))
    }

    fn spend(&self, cost: u32) -> bool {
        let left = self.0.get().checked_sub(cost);
        self.0.set(left.unwrap_or_default());
        left.is_some()
    }
}

/// How names may be misspelt: what is slow to make, made once.
pub(super) struct PlaceSpelling {
    one: LevenshteinAutomatonBuilder,
    two: LevenshteinAutomatonBuilder,
}

/// How many typing mistakes a name has: letters that are too many, missing, wrong or swapped with the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistakes {
    One,
    /// In long names only, and not in the first letter.
    Two,
}

impl PlaceSpelling {
    pub(super) fn new() -> Self {
        Self { one: LevenshteinAutomatonBuilder::new(1, true), two: LevenshteinAutomatonBuilder::new(2, true) }
    }
}

impl Gazetteer {
    /// The places whose names are some mistakes away from a query's, the likeliest first: their numbers × 2, plus 1
    /// where it is not the main name.
    ///
    /// Only those are named that are at least this likely, in people. Names of small places are too often like those
    /// of other places that are not known here.
    pub(super) fn misspelt(
        &self,
        Query { name, within, .. }: &Query<'_>,
        mistakes: Mistakes,
        least: u32,
        effort: &Effort,
    ) -> Vec<u32> {
        let length = name.chars().count();
        let (shortest, spelling) = match mistakes {
            Mistakes::One => (MIN_NAME_CHARS, &self.spelling.one),
            Mistakes::Two => (MIN_NAME_CHARS_FOR_TWO, &self.spelling.two),
        };
        if !(shortest..=MAX_NAME_CHARS).contains(&length) || name.contains(|letter: char| letter.is_numeric()) {
            return Vec::new();
        }
        let cost = match mistakes {
            _ if !name.is_ascii() && (mistakes == Mistakes::Two || length > MAX_NAME_CHARS_BEYOND_ASCII) => {
                return Vec::new();
            }
            _ if !name.is_ascii() => COST_BEYOND_ASCII,
            Mistakes::One => 2,
            Mistakes::Two => 4,
        };
        if !effort.spend(cost) {
            return Vec::new();
        }
        let first = name.as_bytes().first().copied().unwrap_or_default();
        let keys = self.contents.keys.search(spelling.build_dfa(name));
        let keys = match mistakes {
            Mistakes::Two => keys.ge([first]).lt([first.saturating_add(1)]),
            // Nobody slips from one script into another, and the thousands of signs of some are slow to try.
            Mistakes::One if first.is_ascii() => keys.lt([FIRST_BEYOND_ASCII]),
            Mistakes::One => keys.ge([FIRST_BEYOND_ASCII]),
        };
        let mut keys = keys.into_stream();
        let mut found = Vec::new();
        while let Some((key, leads_to)) = keys.next() {
            let harder = if key.first() == Some(&first) { 1 } else { FIRST_LETTER };
            found.extend(
                self.led_to(leads_to, *within)
                    .map(|named| (likelihood(self.population(named / 2), named) / harder, named)),
            );
        }
        found.retain(|&(likelihood, _)| likelihood >= least);
        found.sort_unstable_by_key(|&(likelihood, named)| (std::cmp::Reverse(likelihood), named));
        found.into_iter().map(|(_, named)| named).collect()
    }

    /// Places whose names begin as `name` does, or as its first half and as much of the rest as any does: the largest
    /// first, at most `most`.
    pub(super) fn beginning_like(&self, name: &str, within: Within, most: usize) -> Vec<u32> {
        /// Most keys looked at for one beginning.
        const MAX_KEYS: usize = 2_000;
        let half = name.chars().count().div_ceil(2).max(3);
        let ends = name.char_indices().map(|(at, letter)| at + letter.len_utf8()).skip(half - 1).take(MAX_NAME_CHARS);
        for end in ends.collect::<Vec<_>>().into_iter().rev() {
            let beginning = &name[..end];
            let mut keys = self.contents.keys.range().ge(beginning).into_stream();
            let mut found = Vec::new();
            let mut looked_at = 0;
            while let Some((key, leads_to)) = keys.next()
                && key.starts_with(beginning.as_bytes())
                && looked_at < MAX_KEYS
            {
                looked_at += 1;
                found.extend(self.led_to(leads_to, within).filter(|named| named.is_multiple_of(2)));
            }
            if !found.is_empty() {
                // Places are numbered by size.
                found.sort_unstable();
                found.truncate(most);
                return found;
            }
        }
        Vec::new()
    }
}
