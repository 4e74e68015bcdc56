//! What a text that means no known place may have been meant for.

use super::query::{Query, Within, is_around};
use super::resolve::{MAX_ALTERNATIVES, Unresolved, distinct};
use super::spelling::Mistakes;
use super::{Gazetteer, Place};
use crate::fold::fold;

impl Gazetteer {
    /// Why a text is not resolved, and what may be meant. `areas` are the regions and countries that all of it names.
    pub(super) fn unresolved(&self, text: &str, queries: &[Query], areas: &[Within]) -> Unresolved {
        let reason = if !areas.is_empty() {
            format!("{text:?} is too large an area to search around; name a city in it")
        } else if text.contains(char::is_alphabetic) {
            format!("no place is known as {text:?}")
        } else {
            format!("{text:?} is neither a ZIP code nor coordinates on the earth, such as 40.7, -74.0")
        };
        let suggestions: Vec<Place> = distinct(self.suggested(text, queries, areas), MAX_ALTERNATIVES)
            .into_iter()
            .map(|at| self.place(at))
            .collect();
        Unresolved { reason, suggestions }
    }

    /// The largest places of an area that is named; else the same name elsewhere; else names like it; else names that
    /// begin so; else the largest places where the name was looked for.
    fn suggested(&self, text: &str, queries: &[Query], areas: &[Within]) -> Vec<u32> {
        if !areas.is_empty() {
            return areas.iter().flat_map(|within| self.largest(*within)).collect();
        }
        if is_around(text) {
            return Vec::new();
        }
        let first = fold(text.split(',').next().unwrap_or_default());
        let names = || queries.iter().map(|query| query.name.as_str()).chain([first.as_str()]);
        let like =
            |name: &str| self.misspelt(&Query { name: name.to_owned(), within: Within::Anywhere }, Mistakes::One, 0);
        let within = queries.iter().map(|query| query.within).find(|within| *within != Within::Anywhere);
        let steps: [&dyn Fn() -> Vec<u32>; 4] = [
            &|| names().flat_map(|name| self.named(name, Within::Anywhere)).collect(),
            &|| names().last().map(like).unwrap_or_default(),
            &|| self.beginning_like(&first, within.unwrap_or(Within::Anywhere), MAX_ALTERNATIVES),
            &|| within.map(|within| self.largest(within).collect()).unwrap_or_default(),
        ];
        steps.iter().map(|step| step()).find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// The largest places of an area, by their numbers × 2: places are numbered by size.
    fn largest(&self, within: Within) -> impl Iterator<Item = u32> {
        let places = (0..).zip(&self.contents.places);
        let inside = places.filter(move |(_, place)| within.holds(self.contents.areas[place.area as usize]));
        inside.map(|(at, _)| at * 2).take(MAX_ALTERNATIVES)
    }
}
