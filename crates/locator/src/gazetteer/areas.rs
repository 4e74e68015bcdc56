//! Resolver steps for texts without a place, and for texts that name a county, or a state or country that is too large
//! to search around.

use super::around::has_only_filler_words;
use super::county::County;
use super::exact::MAX_ALTERNATIVES;
use super::location_text::LocationText;
use super::parts::{contains_facility_word, split_at_prepositions};
use super::query::{Query, Within};
use super::resolve::{PlaceSource, Resolved, Unresolved, UnresolvedKind};
use super::steps::PlaceAnswer;
use super::{Gazetteer, Place, PlaceNote};
use crate::country::Country;
use crate::fold::{fold, words};
use crate::region::Region;

/// Generic words in the names of counties.
const GENERIC_WORDS: [&str; 5] = ["county", "parish", "borough", "municipio", "area"];
/// Minimum population of a place with a name that consists only of filler words.
const MIN_FILLER_NAME_POPULATION: u32 = 20_000;

impl Gazetteer {
    /// Rejects a text that refers to the user's own position or contains no place.
    pub(super) fn no_place(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        let text = location.text;
        let has_no_place = text.eq_ignore_ascii_case("n/a") || has_only_filler_words(text);
        if !has_no_place || names_region(text) {
            return None;
        }
        let name = fold(text);
        if name.is_empty() {
            return None;
        }
        if text.contains(char::is_whitespace)
            && let Some(place) = self.named(&name, Within::Anywhere).next()
            && place.is_main_name()
            && self.population(place.place()) >= MIN_FILLER_NAME_POPULATION
        {
            return None;
        }
        for query in location.queries() {
            if matches!(query.within, Within::Region(_)) && self.named(&query.name, query.within).next().is_some() {
                return None;
            }
        }
        let reason = format!(
            "{text:?} does not say where. The place of the person who asks is not known here: ask them for a city and \
             state, a ZIP code or coordinates"
        );
        Some(Err(Unresolved::new(UnresolvedKind::OwnPlace, reason)))
    }

    /// Rejects a state or country, and suggests its largest cities.
    pub(super) fn area_only(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        let mut areas = location.areas().to_vec();
        if areas.is_empty() {
            areas.extend(area_in_words(location.core));
        }
        // Example: `Somewhere in Florida`.
        if areas.is_empty()
            && let Some(area) = area_after_filler_words(location)
        {
            if let Some(city) = self.place_by_name(&area) {
                return Some(city);
            }
            areas = area.areas().to_vec();
        }
        if areas.is_empty() {
            return None;
        }
        let suggestions = self.largest_of(&areas);
        Some(Err(Unresolved { suggestions, ..Unresolved::too_large(location.core) }))
    }

    /// Returns the largest places in some areas.
    fn largest_of(&self, areas: &[Within]) -> Vec<Place> {
        let mut largest: Vec<u32> = areas.iter().flat_map(|within| self.largest(*within)).collect();
        // Places are numbered by descending population.
        largest.sort_unstable();
        largest.dedup();
        largest.truncate(MAX_ALTERNATIVES);
        largest.into_iter().map(|at| self.place(at)).collect()
    }

    /// Returns the county that a text names. Without a state, the name must be unique.
    pub(super) fn county_by_name(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        location.queries().iter().filter(|query| query.before.is_none()).find_map(|query| self.county_of_query(query))
    }

    fn county_of_query(&self, query: &Query<'_>) -> Option<PlaceAnswer> {
        let name = county_name(query);
        let is_county = GENERIC_WORDS.iter().any(|kind| name.ends_with(kind));
        if !is_county && !matches!(query.within, Within::Region(_)) {
            return None;
        }
        let mut counties: Vec<County> = self.counties(&name, query.within).collect();
        if counties.len() > 1 {
            counties.truncate(MAX_ALTERNATIVES);
            let reason = format!("several counties are called {:?}; name the state", query.written);
            let suggestions = counties.into_iter().map(|county| self.place_of_county(county)).collect();
            return Some(Err(Unresolved { suggestions, ..Unresolved::new(UnresolvedKind::Ambiguous, reason) }));
        }
        let County { name, region, point } = counties.pop()?;
        let of = format!("{name}, {region}");
        let middle = Resolved::at(name, point, PlaceSource::County, 0.7);
        let county = Resolved { region: Some(region), country: Some(region.country()), ..middle };
        Some(Ok(county.with_note(PlaceNote::Middle { of })))
    }

    fn place_of_county(&self, County { name, region, point }: County) -> Place {
        self.place_without_people(name, Some(region), region.country(), point)
    }
}

/// Checks whether a text contains the code of a region. The code must be in upper case or follow a comma, because `IN`,
/// `ME` and `OR` are also words.
fn names_region(text: &str) -> bool {
    if let Some((_, end)) = text.rsplit_once(',')
        && Region::parse(end).is_some()
    {
        return true;
    }
    if text.ends_with('.') && Region::parse_ending(text).is_some() {
        return true;
    }
    is_region_code(text) || (has_lowercase(text) && text.split_whitespace().any(is_region_code))
}

fn is_region_code(word: &str) -> bool {
    word.len() == 2 && !has_lowercase(word) && Region::parse(word).is_some()
}

fn has_lowercase(text: &str) -> bool {
    text.bytes().any(|letter| letter.is_ascii_lowercase())
}

/// Returns the area in a text such as `Somewhere in Florida`.
fn area_after_filler_words<'a>(location: &LocationText<'a>) -> Option<LocationText<'a>> {
    let pairs = split_at_prepositions(location.core);
    let (_, area) = pairs.into_iter().find(|(what, _)| has_only_filler_words(what) && !contains_facility_word(what))?;
    let area = location.part(area);
    if area.areas().is_empty() { None } else { Some(area) }
}

/// Returns the region that a text names in other forms: `the state of Texas`, `Texas, USA`, `Calif.`
fn area_in_words(text: &str) -> Option<Within> {
    const BEFORE: [&str; 6] =
        ["all of ", "anywhere in ", "commonwealth of ", "province of ", "state of ", "the state of "];
    const AFTER: [&str; 3] = [" state", " province", " territory"];
    /// Abbreviations of regions that are also words or names of places.
    const WORDS: [&str; 12] = ["ala", "ark", "cal", "del", "ill", "ind", "man", "miss", "mont", "nev", "ore", "wash"];
    let lower = text.to_lowercase();
    let name = BEFORE.iter().find_map(|before| lower.strip_prefix(before)).unwrap_or(&lower);
    let mut name = AFTER.iter().find_map(|after| name.strip_suffix(after)).unwrap_or(name);
    let mut country = None;
    if let Some((before, last)) = name.rsplit_once(',').or_else(|| name.rsplit_once(' '))
        && let Some(named) = Country::parse(last)
    {
        name = before.trim_end_matches([',', ' ']);
        country = Some(named);
    }
    if !text.ends_with('.') && WORDS.contains(&fold(name).as_str()) {
        return None;
    }
    let region = Region::parse_ending(name)?;
    if country.is_some_and(|country| region.country() != country) {
        return None;
    }
    Some(Within::Region(region))
}

/// Returns the folded name of a county, with its unabbreviated generic word at the end.
fn county_name(query: &Query<'_>) -> String {
    if let Some(name) = query.name.strip_prefix("countyof") {
        return format!("{name}county");
    }
    if let Some((last, name)) = words(query.written).split_last()
        && !name.is_empty()
        && ["co", "cnty", "cty", "counties"].contains(&last.as_str())
    {
        return format!("{}county", name.concat());
    }
    query.name.clone()
}
