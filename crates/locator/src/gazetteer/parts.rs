//! Splitting of a text into something in a place, such as a street, and the place itself.

use super::query::is_upper;
use crate::fold::fold;
use crate::region::Region;

/// Maximum number of splits that are tried, because a text of 200 characters may have a hundred commas.
const MAX_PAIRS: usize = 6;
/// Maximum number of words at the start or end of a text that are tried as a place.
pub(super) const MAX_WORDS: usize = 8;
/// Prepositions between a location and the place that contains it.
#[rustfmt::skip]
const PREPOSITIONS: [&str; 16] = [
    " in ", " near ", " at ", " by ", " around ", " outside ", " outside of ", " off ", " from ", " close to ", " en ",
    " em ", " cerca de ", " bei ", " à ", " next to ",
];
/// Words in the names of streets and highways.
#[rustfmt::skip]
const STREETS: [&str; 37] = [
    "alley", "ave", "avenue", "blvd", "boulevard", "broadway", "calle", "circle", "corner", "court", "ct", "dr",
    "drive", "exit", "expressway", "freeway", "fwy", "highway", "hwy", "interchange", "interstate", "intersection",
    "lane", "ln", "milepost", "parkway", "pike", "pkwy", "rd", "road", "route", "rt", "rte", "st", "street",
    "turnpike", "way",
];
/// Words for facilities in a city that follow the name of the city.
#[rustfmt::skip]
const FACILITIES: [&str; 28] = [
    "airport", "arena", "ave", "avenue", "beach", "center", "centre", "church", "college", "hospital", "hotel",
    "library", "mall", "market", "museum", "park", "plaza", "rd", "road", "school", "square", "st", "stadium",
    "station", "street", "theater", "university", "zoo",
];

/// Checks whether a text names a street or highway, with or without a number.
pub(super) fn is_street(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower.split(|letter: char| !letter.is_alphanumeric());
    let has_number = text.starts_with(|first: char| first.is_ascii_digit()) && text.contains(char::is_alphabetic);
    has_number || words.any(|word| STREETS.contains(&word))
}

/// Checks whether a text contains a word for a facility in a city, such as a mall or a station.
pub(super) fn contains_facility_word(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.split(|letter: char| !letter.is_alphanumeric()).any(|word| FACILITIES.contains(&word))
}

/// Splits a text at commas and prepositions, starting with the last. Each result is the part before and the place after
/// the split.
pub(super) fn split_at_prepositions(text: &str) -> Vec<(&str, &str)> {
    let lower = text.to_ascii_lowercase();
    let commas = lower.match_indices(',').map(|(at, comma)| (at, at + comma.len()));
    let between =
        PREPOSITIONS.iter().flat_map(|word| lower.match_indices(word).map(|(at, word)| (at, at + word.len())));
    let mut breaks: Vec<(usize, usize)> = commas.chain(between).collect();
    breaks.sort_unstable_by_key(|&(start, _)| std::cmp::Reverse(start));
    let after_region = breaks.iter().filter_map(|&(_, end)| split_after_region(text, end)).take(1);
    let at_breaks = breaks.iter().map(|&(start, end)| (text[..start].trim(), text[end..].trim()));
    after_region
        .chain(at_breaks)
        .filter(|(what, place)| !fold(what).is_empty() && !fold(place).is_empty())
        .take(MAX_PAIRS)
        .collect()
}

/// Splits a text after the code of a region: `Aberdeen, MD airport` is the airport of Aberdeen, MD.
fn split_after_region(text: &str, position: usize) -> Option<(&str, &str)> {
    let rest = text[position..].trim_start();
    let (code, what) = rest.split_once(char::is_whitespace)?;
    if code.len() != 2 || !is_upper(code) || Region::parse(code).is_none() {
        return None;
    }
    Some((what.trim(), text[..text.len() - what.len()].trim_end()))
}

/// Splits a text between words. The first results have the place as the second part, the others as the first part.
pub(super) fn split_at_words(text: &str) -> Vec<(&str, &str)> {
    let breaks =
        text.rmatch_indices(char::is_whitespace).map(|(at, _)| (text[..at].trim_end_matches(','), text[at..].trim()));
    let mut pairs: Vec<(&str, &str)> = breaks.take(MAX_WORDS).collect();
    let swapped: Vec<(&str, &str)> = pairs.iter().map(|(first, second)| (*second, *first)).collect();
    pairs.extend(swapped);
    pairs
}
