//! What a text that means no known place may have been meant for.

use super::Gazetteer;
use super::asked::Asked;
use super::exact::MAX_ALTERNATIVES;
use super::parts::is_street;
use super::query::{Query, Within};
use super::resolve::{Unresolved, UnresolvedKind, distinct};
use super::spelling::Mistakes;
use crate::fold::fold;

impl Gazetteer {
    /// Why a text is not resolved, and what may be meant.
    pub(super) fn unresolved(&self, asked: &Asked<'_>) -> Unresolved {
        let text = asked.bare;
        if is_street(text) && asked.queries().iter().all(|query| query.within == Within::Anywhere) {
            let reason = format!("streets are not known here, and {text:?} names no city; give the city and state");
            return Unresolved::new(UnresolvedKind::Unknown, reason);
        }
        let reason = if text.contains(char::is_alphabetic) {
            format!("no place is known as {text:?}")
        } else {
            format!("{text:?} is neither a ZIP code nor coordinates on the earth, such as 40.7, -74.0")
        };
        let suggestions = distinct(self.suggested(asked), MAX_ALTERNATIVES);
        let suggestions = suggestions.into_iter().map(|at| self.place(at)).collect();
        Unresolved { suggestions, ..Unresolved::new(UnresolvedKind::Unknown, reason) }
    }

    /// The same name elsewhere; else names like it; else names that begin so; else the largest places where the name was
    /// looked for.
    fn suggested(&self, asked: &Asked<'_>) -> Vec<u32> {
        let (text, queries) = (asked.bare, asked.queries());
        let first = text.split(',').next().unwrap_or_default();
        let folded = fold(first);
        let names = || queries.iter().map(|query| query.name.as_str()).chain([folded.as_str()]);
        let like = || self.misspelt(&Query::new(first, Within::Anywhere), Mistakes::One, 0, asked.effort);
        let within = queries.iter().map(|query| query.within).find(|within| *within != Within::Anywhere);
        let steps: [&dyn Fn() -> Vec<u32>; 4] = [
            &|| names().flat_map(|name| self.named(name, Within::Anywhere)).collect(),
            &like,
            &|| self.beginning_like(&folded, within.unwrap_or(Within::Anywhere), MAX_ALTERNATIVES),
            &|| within.map(|within| self.largest(within).collect()).unwrap_or_default(),
        ];
        steps.iter().map(|step| step()).find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// The largest places of an area, by their numbers × 2: places are numbered by size.
    pub(super) fn largest(&self, within: Within) -> impl Iterator<Item = u32> {
        let places = (0..).zip(&self.contents.places);
        let inside = places.filter(move |(_, place)| within.holds(self.contents.areas[place.area as usize]));
        inside.map(|(at, _)| at * 2).take(MAX_ALTERNATIVES)
    }
}
