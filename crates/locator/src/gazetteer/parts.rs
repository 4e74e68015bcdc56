//! The parts of a text that says what is where: something, and the place that it is in.

use super::query::is_upper;
use crate::fold::fold;
use crate::region::Region;

/// Most pairs of something and a place that are tried: a text of 200 characters has a hundred commas.
const MAX_PAIRS: usize = 6;
/// Most words of a text whose ends are tried as places.
pub(super) const MAX_WORDS: usize = 8;
/// Words between something and the place that it is in.
const BETWEEN: [&str; 16] = [
    " in ",
    " near ",
    " at ",
    " by ",
    " around ",
    " outside ",
    " outside of ",
    " off ",
    " from ",
    " close to ",
    " en ",
    " em ",
    " cerca de ",
    " bei ",
    " à ",
    " next to ",
];
/// Words that streets and highways have in their names.
const STREETS: [&str; 37] = [
    "alley",
    "ave",
    "avenue",
    "blvd",
    "boulevard",
    "broadway",
    "calle",
    "circle",
    "corner",
    "court",
    "ct",
    "dr",
    "drive",
    "exit",
    "expressway",
    "freeway",
    "fwy",
    "highway",
    "hwy",
    "interchange",
    "interstate",
    "intersection",
    "lane",
    "ln",
    "milepost",
    "parkway",
    "pike",
    "pkwy",
    "rd",
    "road",
    "route",
    "rt",
    "rte",
    "st",
    "street",
    "turnpike",
    "way",
];
/// What stands behind the name of a city where somebody names a thing in it.
const THINGS: [&str; 28] = [
    "airport",
    "arena",
    "ave",
    "avenue",
    "beach",
    "center",
    "centre",
    "church",
    "college",
    "hospital",
    "hotel",
    "library",
    "mall",
    "market",
    "museum",
    "park",
    "plaza",
    "rd",
    "road",
    "school",
    "square",
    "st",
    "stadium",
    "station",
    "street",
    "theater",
    "university",
    "zoo",
];

/// Whether a text is a street or highway, with or without a number.
pub(super) fn is_street(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower.split(|letter: char| !letter.is_alphanumeric());
    let has_number = text.starts_with(|first: char| first.is_ascii_digit()) && text.contains(char::is_alphabetic);
    has_number || words.any(|word| STREETS.contains(&word))
}

/// Whether a text has a word for what cities have: a mall, a station.
pub(super) fn names_a_thing(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.split(|letter: char| !letter.is_alphanumeric()).any(|word| THINGS.contains(&word))
}

/// What a text may say is in what, the last place of it first.
pub(super) fn pairs(text: &str) -> Vec<(&str, &str)> {
    let lower = text.to_ascii_lowercase();
    let commas = lower.match_indices(',').map(|(at, comma)| (at, at + comma.len()));
    let between = BETWEEN.iter().flat_map(|word| lower.match_indices(word).map(|(at, word)| (at, at + word.len())));
    let mut breaks: Vec<(usize, usize)> = commas.chain(between).collect();
    breaks.sort_unstable_by_key(|&(start, _)| std::cmp::Reverse(start));
    let behind = breaks.iter().filter_map(|&(_, end)| behind_region(text, end)).take(1);
    let parts = breaks.iter().map(|&(start, end)| (text[..start].trim(), text[end..].trim()));
    behind
        .chain(parts)
        .filter(|(what, place)| !fold(what).is_empty() && !fold(place).is_empty())
        .take(MAX_PAIRS)
        .collect()
}

/// What stands behind the code of a region, and the place before it: `Aberdeen, MD airport`.
fn behind_region(text: &str, at: usize) -> Option<(&str, &str)> {
    let rest = text[at..].trim_start();
    let (code, what) = rest.split_once(char::is_whitespace)?;
    let is_region = code.len() == 2 && is_upper(code) && Region::parse(code).is_some();
    is_region.then(|| (what.trim(), text[..text.len() - what.len()].trim_end()))
}

/// The same where nothing stands between: every word may begin the place, or what is in it.
pub(super) fn beside(text: &str) -> Vec<(&str, &str)> {
    let breaks =
        text.rmatch_indices(char::is_whitespace).map(|(at, _)| (text[..at].trim_end_matches(','), text[at..].trim()));
    let parts: Vec<(&str, &str)> = breaks.take(MAX_WORDS).collect();
    let turned: Vec<(&str, &str)> = parts.iter().map(|(first, second)| (*second, *first)).collect();
    parts.into_iter().chain(turned).collect()
}
