//! Texts that name an area: states and countries, which are too large to search around, and counties.

use super::around::says_no_place;
use super::asked::Asked;
use super::county::County;
use super::exact::MAX_ALTERNATIVES;
use super::parts::{names_a_thing, pairs};
use super::query::{Query, Within};
use super::resolve::{PlaceSource, Resolved, Unresolved, UnresolvedKind, distinct};
use super::steps::PlaceAnswer;
use super::{Gazetteer, Place, PlaceNote};
use crate::country::Country;
use crate::fold::{fold, words};
use crate::region::Region;

/// Words that say of a name that it is that of a county.
const KINDS: [&str; 5] = ["county", "parish", "borough", "municipio", "area"];

impl Gazetteer {
    /// A text that only says where the asker is, or nothing of where.
    pub(super) fn no_place(&self, asked: &Asked<'_>) -> Option<PlaceAnswer> {
        let is_nothing = asked.text.eq_ignore_ascii_case("n/a");
        if !(is_nothing || says_no_place(asked.text)) || names_region(asked.text) || fold(asked.text).is_empty() {
            return None;
        }
        let is_large = |named: u32| named.is_multiple_of(2) && self.population(named / 2) >= 20_000;
        let has_several_words = asked.text.contains(char::is_whitespace);
        if has_several_words && self.named(&fold(asked.text), Within::Anywhere).next().is_some_and(is_large) {
            return None;
        }
        let in_region = |query: &&Query<'_>| matches!(query.within, Within::Region(_));
        let is_known = |query: &Query<'_>| self.named(&query.name, query.within).next().is_some();
        if asked.queries().iter().filter(in_region).any(is_known) {
            return None;
        }
        let reason = format!(
            "{:?} does not say where. The place of the person who asks is not known here: ask them for a city and \
             state, a ZIP code or coordinates",
            asked.text
        );
        Some(Err(Unresolved::new(UnresolvedKind::OwnPlace, reason)))
    }

    /// A state or country, with the largest cities of it.
    pub(super) fn area_alone(&self, asked: &Asked<'_>) -> Option<PlaceAnswer> {
        let mut areas = asked.areas().to_vec();
        if areas.is_empty() {
            areas = area_in_words(asked.bare);
        }
        if areas.is_empty() {
            // Somewhere in Florida
            let parts = pairs(asked.bare);
            let area =
                parts.into_iter().find(|(what, _)| says_no_place(what) && !names_a_thing(what)).map(|(_, area)| area);
            let area = area.map(|area| asked.part(area)).filter(|area| !area.areas().is_empty());
            if let Some(city) = area.as_ref().and_then(|area| self.place_by_name(area)) {
                return Some(city);
            }
            areas = area.map(|area| area.areas().to_vec()).unwrap_or_default();
        }
        if areas.is_empty() {
            return None;
        }
        let suggestions = self.largest_of(&areas);
        Some(Err(Unresolved { suggestions, ..Unresolved::too_large(asked.bare) }))
    }

    /// The largest places of some areas.
    pub(super) fn largest_of(&self, areas: &[Within]) -> Vec<Place> {
        let mut largest: Vec<u32> = areas.iter().flat_map(|within| self.largest(*within)).collect();
        // Places are numbered by size.
        largest.sort_unstable();
        distinct(largest, MAX_ALTERNATIVES).into_iter().map(|at| self.place(at)).collect()
    }

    /// The county that a text names, with its state; without one only where no other state has one of that name.
    pub(super) fn county_by_name(&self, asked: &Asked<'_>) -> Option<PlaceAnswer> {
        asked.queries().iter().filter(|query| query.before.is_none()).find_map(|query| self.county_asked(query))
    }

    fn county_asked(&self, query: &Query<'_>) -> Option<PlaceAnswer> {
        let name = county_name(query);
        let is_county = KINDS.iter().any(|kind| name.ends_with(kind));
        if !is_county && !matches!(query.within, Within::Region(_)) {
            return None;
        }
        let mut counties: Vec<County> = self.counties(&name, query.within).collect();
        match &counties[..] {
            [] => None,
            [only] => {
                let middle = Resolved::at(only.name.clone(), only.point, PlaceSource::County, 0.7);
                let of = format!("{}, {}", only.name, only.region);
                let county = Resolved { region: Some(only.region), country: Some(only.region.country()), ..middle };
                Some(Ok(county.with_note(PlaceNote::Middle { of })))
            }
            _ => {
                counties.truncate(MAX_ALTERNATIVES);
                let reason = format!("several counties are called {:?}; name the state", query.written);
                let suggestions = counties.into_iter().map(|county| self.place_of_county(county)).collect();
                Some(Err(Unresolved { suggestions, ..Unresolved::new(UnresolvedKind::Ambiguous, reason) }))
            }
        }
    }

    fn place_of_county(&self, County { name, region, point }: County) -> Place {
        self.place_without_people(name, Some(region), region.country(), point)
    }
}

/// Whether a text has the code of a region, in capitals or behind a comma: `IN`, `ME` and `OR` are words as well.
fn names_region(text: &str) -> bool {
    let is_upper = |text: &str| text.bytes().all(|letter| !letter.is_ascii_lowercase());
    let is_code = |word: &str| word.len() == 2 && is_upper(word) && Region::parse(word).is_some();
    let behind_comma = text.rsplit_once(',').is_some_and(|(_, end)| Region::parse(end).is_some());
    let is_cut_short = text.ends_with('.') && Region::parse_ending(text).is_some();
    behind_comma || is_cut_short || is_code(text) || (!is_upper(text) && text.split_whitespace().any(is_code))
}

/// The areas that a text names with more words than their name: `the state of Texas`, `Texas, USA`, `Calif.`
fn area_in_words(text: &str) -> Vec<Within> {
    const BEFORE: [&str; 6] =
        ["all of ", "anywhere in ", "commonwealth of ", "province of ", "state of ", "the state of "];
    const AFTER: [&str; 3] = [" state", " province", " territory"];
    /// Regions cut short that are words, and names of places, too.
    const WORDS: [&str; 12] = ["ala", "ark", "cal", "del", "ill", "ind", "man", "miss", "mont", "nev", "ore", "wash"];
    let lower = text.to_lowercase();
    let name = BEFORE.iter().find_map(|before| lower.strip_prefix(before)).unwrap_or(&lower);
    let name = AFTER.iter().find_map(|after| name.strip_suffix(after)).unwrap_or(name);
    let last = name.rsplit_once(',').or_else(|| name.rsplit_once(' '));
    let country = last.and_then(|(_, country)| Country::parse(country));
    let name = last.filter(|_| country.is_some()).map_or(name, |(name, _)| name.trim_end_matches([',', ' ']));
    let is_word = !text.ends_with('.') && WORDS.contains(&fold(name).as_str());
    let region = Region::parse_ending(name).filter(|_| !is_word);
    let fits = |region: &Region| country.is_none_or(|country| region.country() == country);
    region.filter(fits).map(Within::Region).into_iter().collect()
}

/// The folded name of a county, with its kind behind it and written out.
fn county_name(query: &Query<'_>) -> String {
    if let Some(name) = query.name.strip_prefix("countyof") {
        return format!("{name}county");
    }
    let words = words(query.written);
    match words.split_last() {
        Some((last, name)) if !name.is_empty() && ["co", "cnty", "cty", "counties"].contains(&last.as_str()) => {
            format!("{}county", name.concat())
        }
        _ => query.name.clone(),
    }
}
