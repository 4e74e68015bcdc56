//! A location text with its derived forms, shared by all steps of the resolver.

use std::cell::OnceCell;

use super::around::{include_article, without_filler_words};
use super::blob::PlaceArea;
use super::query::{Query, Within, is_upper, queries};
use super::resolve::Resolved;
use super::spelling::FuzzyBudget;
use crate::fold::fold;
use crate::region::Region;

/// A location text with its derived forms. Each form is computed once for all steps of the resolver.
pub(super) struct LocationText<'a> {
    /// The text without leading and trailing spaces and punctuation.
    pub(super) text: &'a str,
    /// The text without filler words around the place; never empty.
    pub(super) core: &'a str,
    /// The core with a preceding article, because the article may be a part of the name.
    pub(super) with_article: &'a str,
    /// The remaining budget for fuzzy searches, shared by all parts of the text.
    pub(super) budget: &'a FuzzyBudget,
    areas: OnceCell<Vec<Within>>,
    queries: OnceCell<Vec<Query<'a>>>,
}

impl<'a> LocationText<'a> {
    /// Creates the location text of a text that is not blank.
    pub(super) fn new(text: &'a str, budget: &'a FuzzyBudget) -> Self {
        let text = text.trim_matches(|letter: char| letter.is_whitespace() || "?!;:\"“”".contains(letter));
        let core = without_filler_words(text);
        let with_article = include_article(text, core);
        Self { text, core, with_article, budget, areas: OnceCell::new(), queries: OnceCell::new() }
    }

    /// Creates the location text of a part of this text, with a shared budget.
    pub(super) fn part(&self, text: &'a str) -> Self {
        Self::new(text, self.budget)
    }

    /// Checks that a result lies in the area after the last comma of the text, if any.
    pub(super) fn allows(&self, resolved: &Resolved) -> bool {
        let Some((_, end)) = self.core.rsplit_once(',') else { return true };
        let mut areas = Within::ending(end);
        if areas.is_empty()
            && let Some(code) = end.split_whitespace().next()
            && code.len() == 2
            && is_upper(code)
        {
            areas = Within::ending(code);
        }
        // Providencia, Santiago: the city, rather than a division of its name in another country.
        let names_place = areas.iter().all(|within| matches!(within, Within::Divisions(_)));
        if areas.is_empty() || (names_place && fold(end) == fold(&resolved.name)) {
            return true;
        }
        let Some(country) = resolved.country else { return false };
        let area = PlaceArea { country, region: resolved.region, division: resolved.division };
        areas.iter().any(|within| match within {
            // The division of a landmark is unknown.
            Within::Divisions(divisions) if area.division.is_none() => {
                divisions.iter().any(|division| division.country() == country)
            }
            _ => within.contains(area),
        })
    }

    /// Returns the regions and countries with the whole text as their name.
    pub(super) fn areas(&self) -> &[Within] {
        self.areas.get_or_init(|| {
            if self.core.ends_with('.')
                && let Some(region) = Region::parse_ending(self.core)
            {
                return vec![Within::Region(region)];
            }
            Within::named(self.core).collect()
        })
    }

    /// Returns the possible queries of the text, sorted by descending likelihood.
    pub(super) fn queries(&self) -> &[Query<'a>] {
        self.queries.get_or_init(|| queries([self.text, self.with_article, self.core]))
    }
}
