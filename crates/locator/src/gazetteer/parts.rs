//! Splits a text into a thing and the place that contains it.

use super::query::is_upper;
use crate::fold::fold;
use crate::region::Region;

/// Maximum splits that are tried: a text of 200 characters may have a hundred commas.
const MAX_PAIRS: usize = 6;
/// Maximum words at an end of a text that are tried as places.
pub(super) const MAX_WORDS: usize = 8;
/// Prepositions between a thing and its place.
#[rustfmt::skip]
const BETWEEN: [&str; 16] = [
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
/// Words for things in a city, found after its name.
#[rustfmt::skip]
const THINGS: [&str; 28] = [
    "airport", "arena", "ave", "avenue", "beach", "center", "centre", "church", "college", "hospital", "hotel",
    "library", "mall", "market", "museum", "park", "plaza", "rd", "road", "school", "square", "st", "stadium",
    "station", "street", "theater", "university", "zoo",
];

/// Checks for a street or highway, with or without a number.
pub(super) fn is_street(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower.split(|letter: char| !letter.is_alphanumeric());
    let has_number = text.starts_with(|first: char| first.is_ascii_digit()) && text.contains(char::is_alphabetic);
    has_number || words.any(|word| STREETS.contains(&word))
}

/// Checks for a word for a thing in a city: a mall, a station.
pub(super) fn names_a_thing(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.split(|letter: char| !letter.is_alphanumeric()).any(|word| THINGS.contains(&word))
}

/// Splits a text at commas and prepositions into pairs of a thing and a place, the last split first.
pub(super) fn split_at_prepositions(text: &str) -> Vec<(&str, &str)> {
    let lower = text.to_ascii_lowercase();
    let commas = lower.match_indices(',').map(|(at, comma)| (at, at + comma.len()));
    let between = BETWEEN.iter().flat_map(|word| lower.match_indices(word).map(|(at, word)| (at, at + word.len())));
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

/// Splits a text after the code of a region: `Aberdeen, MD airport` is an airport in Aberdeen, MD.
fn split_after_region(text: &str, at: usize) -> Option<(&str, &str)> {
    let rest = text[at..].trim_start();
    let (code, what) = rest.split_once(char::is_whitespace)?;
    if code.len() != 2 || !is_upper(code) || Region::parse(code).is_none() {
        return None;
    }
    Some((what.trim(), text[..text.len() - what.len()].trim_end()))
}

/// Splits a text between words: first all splits with the place as the second part, then those with it as the first
/// part.
pub(super) fn split_at_words(text: &str) -> Vec<(&str, &str)> {
    let breaks =
        text.rmatch_indices(char::is_whitespace).map(|(at, _)| (text[..at].trim_end_matches(','), text[at..].trim()));
    let mut pairs: Vec<(&str, &str)> = breaks.take(MAX_WORDS).collect();
    let swapped: Vec<(&str, &str)> = pairs.iter().map(|(first, second)| (*second, *first)).collect();
    pairs.extend(swapped);
    pairs
}
