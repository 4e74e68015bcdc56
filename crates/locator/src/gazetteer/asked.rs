//! A text for a location, taken apart once for all steps.

use std::cell::OnceCell;

use super::around::{with_its_article, without_words_around};
use super::query::{Query, Within, is_upper, queries};
use super::resolve::Resolved;
use super::spelling::Effort;
use crate::region::Region;

/// A text for a location, taken apart once for all steps.
pub(super) struct Asked<'a> {
    /// Without the space around it.
    pub(super) text: &'a str,
    /// Without the words that people put around a place; never empty.
    pub(super) bare: &'a str,
    /// The same with the article before it, which may belong to the name.
    pub(super) with_article: &'a str,
    /// What may still be spent on looking for misspelt names, in all of the text.
    pub(super) effort: &'a Effort,
    areas: OnceCell<Vec<Within>>,
    queries: OnceCell<Vec<Query<'a>>>,
}

impl<'a> Asked<'a> {
    /// `text` is not blank.
    pub(super) fn new(text: &'a str, effort: &'a Effort) -> Self {
        let text = text.trim_matches(|letter: char| letter.is_whitespace() || "?!;:\"“”".contains(letter));
        let bare = without_words_around(text);
        Self {
            text,
            bare,
            with_article: with_its_article(text, bare),
            effort,
            areas: OnceCell::new(),
            queries: OnceCell::new(),
        }
    }

    /// Whether a place lies in the area that stands behind the last comma of the text, if there is one.
    pub(super) fn allows(&self, resolved: &Resolved) -> bool {
        let Some((_, end)) = self.bare.rsplit_once(',') else { return true };
        let code = || end.split_whitespace().next().filter(|word| word.len() == 2 && is_upper(word));
        let areas = match Within::ending(end) {
            areas if areas.is_empty() => code().map(Within::ending).unwrap_or_default(),
            areas => areas,
        };
        let is_inside = |within: &Within| match within {
            Within::Region(region) => resolved.region == Some(*region),
            Within::Country(country) => resolved.country == Some(*country),
            Within::Anywhere => true,
        };
        areas.is_empty() || areas.iter().any(is_inside)
    }

    /// A part of it.
    pub(super) fn part(&self, text: &'a str) -> Self {
        Self::new(text, self.effort)
    }

    /// The regions and countries that all of the text names.
    pub(super) fn areas(&self) -> &[Within] {
        let cut_short = || if self.bare.ends_with('.') { Region::parse_ending(self.bare) } else { None };
        self.areas.get_or_init(|| match cut_short() {
            Some(region) => vec![Within::Region(region)],
            None => Within::named(self.bare).collect(),
        })
    }

    /// The questions that the text may ask, the likeliest first.
    pub(super) fn queries(&self) -> &[Query<'a>] {
        self.queries.get_or_init(|| queries([self.text, self.with_article, self.bare]))
    }
}
