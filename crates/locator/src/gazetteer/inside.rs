//! Something in a place: a street, a shop, a part of a city, of which the place is known.

use super::around::says_no_place;
use super::asked::Asked;
use super::landmarks::{Landmark, LandmarkKind};
use super::parts::{MAX_WORDS, beside, is_street, names_a_thing, pairs};
use super::query::{Query, Within};
use super::resolve::{PlaceSource, Resolved};
use super::spelling::Mistakes;
use super::steps::PlaceAnswer;
use super::well_known::nearest;
use super::{Gazetteer, Place, PlaceNote, likelihood};
use crate::fold::fold;
use crate::point::Distance;

/// How sure an answer is at most that leaves out a part of the text.
const FALLBACK: f64 = 0.5;
/// The same where nothing in the text says which of its words are the place.
const LAST_WORDS: f64 = 0.4;
/// Fewest people of a place behind a part that is not known, where no state or country is named.
const FEWEST_OF_A_TOWN: u32 = 5_000;
/// The same where not even a comma stands between.
const FEWEST_AT_AN_END: u32 = 50_000;

impl Gazetteer {
    /// Something in a place: that itself if it is known there, else the place around it.
    pub(super) fn inside_a_place(&self, asked: &Asked<'_>) -> Option<PlaceAnswer> {
        let beside = beside(asked.bare);
        let is_thing =
            |what: &str| what.eq_ignore_ascii_case("airport") || self.landmarks.named(&fold(what)).next().is_some();
        let found = beside.into_iter().filter(|(what, _)| is_thing(what)).find_map(|(what, place)| {
            let place = self.town(&asked.part(place.trim_end_matches("'s").trim_end_matches("’s")))?;
            self.airport_in(what, &place).or_else(|| self.landmark_in(what, &place))
        });
        found.or_else(|| self.in_the_last_place(asked)).map(Ok)
    }

    /// `Dallas, TX or Houston, TX`: the first, with the rest said.
    pub(super) fn one_or_another(&self, asked: &Asked<'_>) -> Option<PlaceAnswer> {
        let (first, other) = asked.bare.split_once(" or ")?;
        self.first_of_two(asked, first, other)
    }

    /// `Fargo-Moorhead`, `Scranton/Wilkes-Barre, PA`: the first, with the rest said.
    pub(super) fn twin_cities(&self, asked: &Asked<'_>) -> Option<PlaceAnswer> {
        let (first, other) = asked.bare.split_once(['/', '-', '–'])?;
        let is_name = |part: &str| part.chars().filter(|letter| letter.is_alphabetic()).count() > 2;
        if is_name(first) && is_name(other) { self.first_of_two(asked, first, other) } else { None }
    }

    fn first_of_two(&self, asked: &Asked<'_>, first: &str, other: &str) -> Option<PlaceAnswer> {
        let with_area =
            other.rsplit_once(',').filter(|_| !first.contains(',')).map(|(_, area)| format!("{first}, {area}"));
        let text = with_area.unwrap_or_else(|| first.to_owned());
        let place = self.town(&Asked::new(&text, asked.effort)).filter(|place| place.region.is_some())?;
        let other = other.split(',').next().unwrap_or(other).trim();
        self.named(&fold(other), Within::Anywhere).next()?;
        let note = PlaceNote::OneOfTwo { other: other.to_owned(), place: place.label() };
        Some(Ok(Resolved { source: PlaceSource::Fallback, ..place }.at_most(FALLBACK).with_note(note)))
    }

    fn in_the_last_place(&self, asked: &Asked<'_>) -> Option<Resolved> {
        let pairs = pairs(asked.bare);
        let (at, place) =
            pairs.iter().enumerate().find_map(|(at, (_, place))| Some((at, self.town(&asked.part(place))?)))?;
        // The parts before the place, the nearest to it first.
        let parts = || pairs[at..].iter().map(|(what, _)| what.rsplit(',').next().unwrap_or_default().trim());
        if let Some(found) = parts().find_map(|what| self.thing_in(what, &place)) {
            return Some(found);
        }
        let unknown = pairs[at].0;
        if says_no_place(unknown) && !names_a_thing(unknown) {
            return Some(place);
        }
        // Streets and highways with these words are American.
        let place = if is_street(unknown) { self.here_rather_than_abroad(place) } else { place };
        Some(fallback(place, unknown, FALLBACK))
    }

    /// The place itself, or another one of its name that is in the United States or Canada and not much smaller.
    fn here_rather_than_abroad(&self, place: Resolved) -> Resolved {
        const MUCH: u32 = 5;
        let people = |place: &Place| place.population;
        let here = place.alternatives.iter().filter(|other| other.region.is_some()).max_by_key(|other| people(other));
        let Some(here) = here.filter(|_| place.region.is_none() && place.source == PlaceSource::Place) else {
            return place;
        };
        let abroad =
            self.named(&fold(&place.name), Within::Anywhere).next().map_or(0, |named| self.population(named / 2));
        if people(here).saturating_mul(MUCH) < abroad {
            return place;
        }
        let taken = Resolved::at(here.name.clone(), here.point, place.source, place.confidence);
        Resolved { region: here.region, country: Some(here.country), ..taken }
    }

    /// A town or district, a landmark or the airport in a place.
    fn thing_in(&self, what: &str, place: &Resolved) -> Option<Resolved> {
        self.airport_in(what, place).or_else(|| self.landmark_in(what, place)).or_else(|| self.district_of(what, place))
    }

    fn airport_in(&self, what: &str, place: &Resolved) -> Option<Resolved> {
        let is_airport =
            what.split_whitespace().any(|word| word.eq_ignore_ascii_case("airport")) && says_no_place(what);
        let airport = Some(place).filter(|_| is_airport).and_then(|place| self.airport_of(place))?;
        Some(self.resolved_landmark(airport, 0.8))
    }

    /// The landmark of a name that is nearest to a place, if it is near.
    fn landmark_in(&self, what: &str, place: &Resolved) -> Option<Resolved> {
        let name = fold(what);
        let by_code = || self.landmarks.by_code(what.trim());
        let is_small = |landmark: &&Landmark| landmark.kind != LandmarkKind::TooLarge;
        let named = self.landmarks.named(&name).chain(by_code()).filter(is_small);
        let nearest = nearest(named, |landmark| landmark.point.distance(place.point))?;
        let mut resolved = self.resolved_landmark(nearest, place.confidence.clamp(0.5, 0.9));
        resolved.notes.extend(place.notes.iter().filter(|note| matches!(note, PlaceNote::TakenFor { .. })).cloned());
        Some(resolved)
    }

    /// The place of a name that is nearest to another one, if it is near.
    fn district_of(&self, what: &str, place: &Resolved) -> Option<Resolved> {
        let within = place.region.map_or(Within::Anywhere, Within::Region);
        let away = |named: &u32| self.contents.places[(named / 2) as usize].point.distance(place.point);
        let name = fold(what);
        let is_other = |named: &u32| away(named) > Distance::metres(1.0) || named.is_multiple_of(2);
        let nearest = nearest(self.named(&name, within).filter(is_other), away)?;
        let district = self.resolved(&[nearest], &Query::new(what, within), PlaceSource::Place)?;
        Some(district.at_most(0.8).at_most(place.confidence.max(0.5)))
    }

    /// The town that a part of a text names.
    fn town(&self, asked: &Asked<'_>) -> Option<Resolved> {
        if fold(asked.text).is_empty() || says_no_place(asked.text) {
            return None;
        }
        // Buffalo misspelt, NY
        match asked.areas() {
            [] => {}
            [Within::Region(region), ..] if region.code() == "DC" => return self.place_by_name(asked)?.ok(),
            _ => return None,
        }
        let is_town = |resolved: &Resolved| {
            let is_bare = resolved.source == PlaceSource::Place
                && asked.queries().iter().all(|query| query.within == Within::Anywhere);
            !is_bare
                || self
                    .named(&fold(asked.bare), Within::Anywhere)
                    .any(|named| self.population(named / 2) >= FEWEST_OF_A_TOWN)
        };
        let steps = [Self::postcode_alone, Self::landmark, Self::place_by_name, Self::county_by_name];
        let known = steps.iter().find_map(|step| step(self, asked)).and_then(Result::ok).filter(is_town);
        let misspelt = || {
            let has_area = |query: &&Query<'_>| query.within != Within::Anywhere;
            asked
                .queries()
                .iter()
                .filter(has_area)
                .take(2)
                .find_map(|query| self.misspelt_place(query, Mistakes::One, asked.effort))
        };
        known.or_else(misspelt)
    }

    /// A place at the end of a text, or at its beginning before a thing, with nothing between: `123 Main St Austin TX`,
    /// `Seattle Pike Place Market`.
    pub(super) fn place_at_an_end(&self, asked: &Asked<'_>) -> Option<PlaceAnswer> {
        let located = asked.queries().iter().filter(|query| query.within != Within::Anywhere);
        let found = located.into_iter().find_map(|query| self.place_at_the_end(query.written, query.within));
        let is_here = |found: &Resolved| found.region.is_some();
        let found = found.or_else(|| self.place_at_the_end(asked.bare, Within::Anywhere).filter(is_here));
        found.or_else(|| self.place_at_the_beginning(asked.bare)).map(Ok)
    }

    fn place_at_the_end(&self, text: &str, within: Within) -> Option<Resolved> {
        let breaks = text.rmatch_indices(char::is_whitespace).map(|(at, _)| at);
        let starts: Vec<usize> = breaks.take(MAX_WORDS).collect();
        starts.into_iter().rev().find_map(|at| {
            let (unknown, name) = (text[..at].trim(), text[at..].trim());
            self.end(&Query::new(name, within)).map(|place| fallback(place, unknown, LAST_WORDS))
        })
    }

    fn place_at_the_beginning(&self, text: &str) -> Option<Resolved> {
        if !names_a_thing(text) {
            return None;
        }
        let breaks: Vec<usize> = text.match_indices(char::is_whitespace).map(|(at, _)| at).take(MAX_WORDS).collect();
        breaks.into_iter().rev().find_map(|at| {
            let (name, unknown) = (text[..at].trim(), text[at..].trim());
            self.end(&Query::new(name, Within::Anywhere)).map(|place| fallback(place, unknown, LAST_WORDS))
        })
    }

    fn end(&self, query: &Query<'_>) -> Option<Resolved> {
        let areas: Vec<Within> = Within::named(query.written).collect();
        if !areas.is_empty() && query.written.len() == 2 {
            return None;
        }
        let is_large = |named: u32| likelihood(self.population(named / 2), named) >= FEWEST_AT_AN_END;
        let is_sure = query.within != Within::Anywhere || self.named(&query.name, query.within).any(is_large);
        if is_sure { self.exactly(query, &areas) } else { None }
    }
}

/// The place for something in it that is not known.
fn fallback(place: Resolved, unknown: &str, most: f64) -> Resolved {
    let label = place.label();
    let note = if is_street(unknown) {
        PlaceNote::Street { place: label }
    } else {
        PlaceNote::OnlyPart { unknown: unknown.to_owned(), place: label }
    };
    Resolved { source: PlaceSource::Fallback, ..place }.at_most(most).with_note(note)
}
