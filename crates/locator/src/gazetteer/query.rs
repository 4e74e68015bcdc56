//! The possible queries of a text.

use super::blob::PlaceArea;
use crate::address::{parse_postcode, split_postcode, split_region};
use crate::country::Country;
use crate::fold::{fold, words};
use crate::region::Region;

/// A name to look up in an area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Query<'a> {
    /// The folded name; not empty.
    pub(super) name: String,
    /// The name as written in the text.
    pub(super) written: &'a str,
    pub(super) within: Within,
    /// The text before the name: a street, a shop. Not empty.
    pub(super) before: Option<&'a str>,
}

/// The area of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    Anywhere,
    Country(Country),
    Region(Region),
}

/// Maximum words in the name of a country or region.
const MAX_AREA_WORDS: usize = 5;

impl Within {
    /// Returns `true` if this area contains another.
    pub(super) fn contains(self, area: PlaceArea) -> bool {
        match self {
            Self::Anywhere => true,
            Self::Country(country) => area.country == country,
            Self::Region(region) => area.region == Some(region),
        }
    }

    /// Splits a region of this country off the end of a text.
    fn split_region(self, text: &str) -> Option<(&str, Region)> {
        let Self::Country(country) = self else { return None };
        let (name, region) = split_region(text, Region::parse_ending)?;
        if name.is_empty() || region.country() != country {
            return None;
        }
        Some((name, region))
    }

    /// Returns the regions and countries that the end of a longer text names, also by abbreviations.
    pub(super) fn ending(text: &str) -> Vec<Self> {
        let text = text.trim();
        let name = fold(text);
        let region = Region::parse_ending_folded(text, &name).map(Self::Region);
        region.into_iter().chain(Country::parse_folded(text, &name).map(Self::Country)).collect()
    }

    /// Returns the regions and countries that a text names: `CA` is California and Canada, `Georgia` a state and a
    /// country.
    pub(super) fn named(text: &str) -> impl Iterator<Item = Self> {
        let text = text.trim();
        let text = text.trim_end_matches('.');
        let name = fold(text);
        let country = Country::parse_folded(text, &name).filter(|country| may_be_country(text, *country));
        Region::parse_folded(text, &name).map(Self::Region).into_iter().chain(country.map(Self::Country))
    }
}

/// Checks whether a text of three letters may mean a country: in lower case, most codes are abbreviations. `Ind.` is
/// Indiana, `IND` is India.
fn may_be_country(text: &str, country: Country) -> bool {
    text.len() != 3
        || country == Country::UNITED_STATES
        || is_upper(text)
        || !is_ascii_word(text)
        || country.name().len() == 3
}

/// Returns the possible queries of a text, the likeliest first: those of the complete text, then those without filler
/// words. All of them have the region or country that the text names.
pub(super) fn queries<'a>(texts: [&'a str; 3]) -> Vec<Query<'a>> {
    let mut queries: Vec<Query<'a>> = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        if texts[..at].contains(text) {
            continue;
        }
        for query in read(text) {
            if !queries.iter().any(|known| known.name == query.name && known.within == query.within) {
                queries.push(query);
            }
        }
    }
    let without_kind: Vec<Query<'a>> = queries.iter().filter_map(Query::without_kind_before).collect();
    queries.extend(without_kind);
    queries
}

impl<'a> Query<'a> {
    pub(super) fn new(written: &'a str, within: Within) -> Self {
        Self { name: fold(written), written, within, before: None }
    }

    /// Returns the query without a kind of place before the name, as in `City of Industry`. Only in a named region,
    /// with few candidates.
    fn without_kind_before(&self) -> Option<Self> {
        const KINDS: [&str; 4] = ["boroughof", "cityof", "townof", "villageof"];
        let name = KINDS.iter().find_map(|kind| self.name.strip_prefix(kind))?;
        if name.len() <= 2 || self.within == Within::Anywhere {
            return None;
        }
        Some(Self { name: name.to_owned(), ..*self })
    }

    /// Returns the name without the kind of a landmark, as in `UCLA campus`, `DFW area`.
    pub(super) fn name_without_thing(&self) -> Option<&str> {
        const THINGS: [&str; 7] = ["area", "arena", "campus", "district", "mall", "neighborhood", "stadium"];
        let name = THINGS.iter().find_map(|thing| self.name.strip_suffix(thing))?;
        if name.len() > 2 { Some(name) } else { None }
    }

    /// Returns the query without a repeated state, or a ZIP code before it, as in `Dallas TX, Texas`.
    fn without_repetition(&self) -> Option<Self> {
        // A single word contains no repetition.
        if self.within == Within::Anywhere || !self.written.contains(char::is_whitespace) {
            return None;
        }
        let (mut written, _) = split_postcode(self.written);
        if let Some((name, region)) = split_region(written, Region::parse_ending)
            && Within::Region(region) == self.within
        {
            written = name;
        }
        if written.len() == self.written.len() {
            return None;
        }
        let name = fold(written);
        if name.is_empty() { None } else { Some(Self { name, written, ..*self }) }
    }
}

/// Returns the queries of one text.
fn read(text: &str) -> Vec<Query<'_>> {
    let mut parts: Vec<&str> =
        text.split(',').map(str::trim).filter(|part| part.contains(char::is_alphanumeric)).collect();
    let Some(last) = parts.pop() else { return Vec::new() };
    if parts.is_empty() {
        return read_words(last);
    }
    let mut queries: Vec<Query<'_>> = Vec::new();
    for within in Within::ending(last) {
        // Some names contain commas.
        if parts.len() > 1
            && matches!(within, Within::Region(_))
            && let Some((name, _)) = text.rsplit_once(',')
        {
            queries.push(Query::new(name, within));
        }
        queries.extend(read_parts(text, &parts, within));
    }
    // Austin, TX USA
    if let Some((region, country)) = last.split_once(char::is_whitespace)
        && let Some(region) = Region::parse_ending(region)
        && Country::parse(country) == Some(region.country())
    {
        queries.extend(read_parts(text, &parts, Within::Region(region)));
    }
    let shorter: Vec<Query<'_>> = queries.iter().filter_map(Query::without_repetition).collect();
    queries.extend(shorter);
    queries
}

/// Returns the query of a text with commas, given the parts before its area.
fn read_parts<'a>(text: &'a str, mut parts: &[&'a str], mut within: Within) -> Option<Query<'a>> {
    while let [_, .., last] = parts {
        match (within, Region::parse_ending(last)) {
            // In Austin, TX, USA the region is more specific than the country.
            (Within::Country(country), Some(region)) if region.country() == country => {
                within = Within::Region(region);
            }
            (Within::Region(known), Some(region)) if region == known => {}
            // Springfield, IL, MO
            (Within::Region(_), Some(_)) if last.len() == 2 => return None,
            _ if is_county(last) || parse_postcode(last).is_some() => {}
            _ => break,
        }
        parts = &parts[..parts.len() - 1];
    }
    let name = *parts.last()?;
    // The text before the city is a street, a neighbourhood or a shop.
    let start = (name.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let before = text.get(..start)?.trim_matches(|letter: char| letter == ',' || letter.is_whitespace());
    let before = if before.is_empty() { None } else { Some(before) };
    Some(Query { before, ..Query::new(name, within) })
}

pub(super) fn is_upper(text: &str) -> bool {
    text.bytes().all(|letter| letter.is_ascii_uppercase())
}

fn is_ascii_word(text: &str) -> bool {
    text.bytes().all(|letter| letter.is_ascii_alphabetic())
}

fn is_county(part: &str) -> bool {
    let words = words(part);
    let [first, .., last] = &words[..] else { return false };
    first == "county" || ["county", "parish", "co", "cnty"].contains(&last.as_str())
}

/// Returns the queries of a text without commas: all of it is a name, or its last words are a region, a country, or
/// both.
fn read_words(text: &str) -> Vec<Query<'_>> {
    let mut queries = vec![Query::new(text, Within::Anywhere)];
    let breaks: Vec<usize> = text.rmatch_indices(char::is_whitespace).map(|(at, _)| at).take(MAX_AREA_WORDS).collect();
    for at in breaks.into_iter().rev() {
        for within in Within::ending(&text[at..]) {
            let before = text[..at].trim_end();
            if let Some((name, region)) = within.split_region(before) {
                queries.push(Query::new(name, Within::Region(region)));
            }
            queries.push(Query::new(before, within));
        }
    }
    let shorter: Vec<Query<'_>> = queries.iter().filter_map(Query::without_repetition).collect();
    queries.extend(shorter);
    queries.retain(|query| !query.name.is_empty());
    queries
}

#[cfg(test)]
mod tests {
    use super::super::around::without_filler_words;
    use super::*;

    fn list_queries(text: &str) -> Vec<String> {
        let shown = |query: &Query<'_>| {
            let name = match query.within {
                Within::Anywhere => query.name.clone(),
                Within::Country(country) => format!("{}/{country}", query.name),
                Within::Region(region) => {
                    format!("{}/{}", query.name, region.country().code().to_owned() + "-" + region.code())
                }
            };
            query.before.map_or(name.clone(), |before| format!("{before} | {name}"))
        };
        queries([text.trim(), text.trim(), without_filler_words(text)]).iter().map(shown).collect()
    }

    #[test]
    fn text_is_parsed_into_its_candidates() {
        for (text, expected) in [
            ("Miami", &["miami"][..]),
            ("Austin, TX", &["austin/US-TX"]),
            ("austin tx", &["austintx", "austin/US-TX"]),
            ("Austin, Texas, USA", &["austin/US-TX"]),
            ("Austin, TX USA", &["austin/US-TX"]),
            ("Charleston West Virginia", &["charlestonwestvirginia", "charleston/US-WV", "charlestonwest/US-VA"]),
            ("Toronto, CA", &["toronto/US-CA", "toronto/CA"]),
            ("austin tx  usa", &["austintxusa", "austin/US-TX", "austintx/US"]),
            ("Paris France", &["parisfrance", "paris/FR"]),
            ("Tbilisi, Georgia", &["tbilisi/US-GA", "tbilisi/GE"]),
            ("Hanover Township, PA", &["hanovertownship/US-PA", "hanovertownship/PA"]),
            ("City of Industry, CA", &["cityofindustry/US-CA", "cityofindustry/CA", "industry/US-CA", "industry/CA"]),
            ("1 Main St, Austin, TX", &["1mainsaintaustin/US-TX", "1 Main St | austin/US-TX"]),
            ("Springfield, ZZ", &[]),
            ("bitcoin ATMs near St. Louis", &["bitcoinatmsnearsaintlouis", "saintlouis"]),
            ("near downtown Miami, FL", &["neardowntownmiami/US-FL", "miami/US-FL"]),
            ("Miami bitcoin atm", &["miamibitcoinatm", "miami"]),
            ("in", &["in"]),
            ("near", &["near"]),
            ("", &[]),
            (",,", &[]),
        ] {
            assert_eq!(list_queries(text), expected, "{text}");
        }
    }

    #[test]
    fn number_of_lookups_is_bounded() {
        for text in [",".repeat(200), "a ".repeat(100), "us ".repeat(66), "ga,".repeat(66), "near ".repeat(40)] {
            assert!(queries([text.trim(), text.trim(), without_filler_words(&text)]).len() <= 40, "{text}");
        }
    }
}
