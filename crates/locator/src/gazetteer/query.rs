//! What a text may mean, as questions that the gazetteer can answer.

use super::blob::PlaceArea;
use crate::address::{parse_postcode, split_postcode, split_region_ending};
use crate::country::Country;
use crate::fold::{fold, words};
use crate::region::Region;

/// A name to look up, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Query<'a> {
    /// Folded, not empty.
    pub(super) name: String,
    /// As the text has it.
    pub(super) written: &'a str,
    pub(super) within: Within,
    /// What the text says before the name: a street, a shop. Not empty.
    pub(super) before: Option<&'a str>,
}

/// Where a name may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    Anywhere,
    Country(Country),
    Region(Region),
}

/// Longest name of a country or region in words.
const MAX_AREA_WORDS: usize = 5;

impl Within {
    pub(super) fn holds(self, area: PlaceArea) -> bool {
        match self {
            Self::Anywhere => true,
            Self::Country(country) => area.country == country,
            Self::Region(region) => area.region == Some(region),
        }
    }

    /// A region of this country at the end of a text, and what stands before it.
    fn before(self, text: &str) -> Option<(&str, Region)> {
        let Self::Country(country) = self else { return None };
        split_region_ending(text).filter(|(name, region)| !name.is_empty() && region.country() == country)
    }

    /// The regions and countries that a text names at the end of a longer one, where they may be cut short.
    pub(super) fn ending(text: &str) -> Vec<Self> {
        let text = text.trim();
        let name = fold(text);
        let region = Region::parse_ending_folded(text, &name).map(Self::Region);
        region.into_iter().chain(Country::parse_folded(text, &name).map(Self::Country)).collect()
    }

    /// The regions and countries that a text names: `CA` is California and Canada, `Georgia` a state and a country.
    pub(super) fn named(text: &str) -> impl Iterator<Item = Self> {
        let text = text.trim();
        // Ind. is Indiana, IND is India.
        let text = text.trim_end_matches('.');
        let is_code = |country: &Country| {
            text.len() != 3
                || *country == Country::UNITED_STATES
                || is_upper(text)
                || !is_ascii_word(text)
                || country.name().len() == 3
        };
        let name = fold(text);
        let country = Country::parse_folded(text, &name).filter(is_code);
        Region::parse_folded(text, &name).map(Self::Region).into_iter().chain(country.map(Self::Country))
    }
}

/// The questions that a text may ask, the likeliest first: as it stands, then without the words around a place.
/// What a text says of region or country is in every one of them.
pub(super) fn queries<'a>(texts: [&'a str; 3]) -> Vec<Query<'a>> {
    let mut queries: Vec<Query<'a>> = Vec::new();
    let [whole, with_article, bare] = texts;
    let shorter = Some(with_article).filter(|text| *text != whole);
    let shortest = Some(bare).filter(|text| *text != with_article && *text != whole);
    for query in [Some(whole), shorter, shortest].into_iter().flatten().flat_map(read) {
        if !queries.iter().any(|known| (&known.name, known.within) == (&query.name, query.within)) {
            queries.push(query);
        }
    }
    let plain: Vec<Query<'a>> = queries.iter().filter_map(Query::without_kind_before).collect();
    queries.extend(plain);
    queries
}

impl<'a> Query<'a> {
    pub(super) fn new(written: &'a str, within: Within) -> Self {
        Self { name: fold(written), written, within, before: None }
    }

    /// The same without the kind of place that some put before a name, as in `City of Industry`: only in a region that
    /// is named, where little is left to be mistaken.
    fn without_kind_before(&self) -> Option<Self> {
        const BEFORE: [&str; 4] = ["boroughof", "cityof", "townof", "villageof"];
        let name = BEFORE.iter().find_map(|kind| self.name.strip_prefix(kind))?;
        let is_sure = name.len() > 2 && self.within != Within::Anywhere;
        is_sure.then(|| Self { name: name.to_owned(), ..self.clone() })
    }

    /// The name without the word that says what it is, as in `UCLA campus`, `DFW area`.
    pub(super) fn name_without_thing(&self) -> Option<&str> {
        const THINGS: [&str; 7] = ["area", "arena", "campus", "district", "mall", "neighborhood", "stadium"];
        let name = THINGS.iter().find_map(|thing| self.name.strip_suffix(thing))?;
        (name.len() > 2).then_some(name)
    }

    /// The same without what is said twice: the state, or a ZIP code before it, as in `Dallas TX, Texas`.
    fn without_repetition(&self) -> Option<Self> {
        // One word says nothing twice.
        if self.within == Within::Anywhere || !self.written.contains(char::is_whitespace) {
            return None;
        }
        let written = split_postcode(self.written).0;
        let same = |(_, region): &(&str, Region)| Within::Region(*region) == self.within;
        let written = split_region_ending(written).filter(same).map_or(written, |(name, _)| name);
        let is_shorter = written.len() < self.written.len() && !fold(written).is_empty();
        is_shorter.then(|| Self { name: fold(written), written, ..self.clone() })
    }
}

fn read(text: &str) -> Vec<Query<'_>> {
    let mut parts: Vec<&str> =
        text.split(',').map(str::trim).filter(|part| part.contains(char::is_alphanumeric)).collect();
    let Some(last) = parts.pop() else { return Vec::new() };
    if parts.is_empty() {
        return read_words(last);
    }
    let mut queries: Vec<Query<'_>> = Vec::new();
    for within in Within::ending(last) {
        // Some names have commas.
        let has_more = parts.len() > 1 && matches!(within, Within::Region(_));
        queries.extend(text.rsplit_once(',').filter(|_| has_more).map(|(name, _)| Query::new(name, within)));
        queries.extend(read_parts(text, &parts, within));
    }
    // Austin, TX USA
    if let Some((region, country)) = last.split_once(char::is_whitespace)
        && let Some(region) =
            Region::parse_ending(region).filter(|region| Country::parse(country) == Some(region.country()))
    {
        queries.extend(read_parts(text, &parts, Within::Region(region)));
    }
    let shorter: Vec<Query<'_>> = queries.iter().filter_map(Query::without_repetition).collect();
    queries.extend(shorter);
    queries
}

/// The name among the parts of a text that stand before its area.
fn read_parts<'a>(text: &'a str, parts: &[&'a str], within: Within) -> Option<Query<'a>> {
    let (mut parts, mut within) = (parts, within);
    while let [_, .., last] = parts {
        let region = Region::parse_ending(last);
        match (within, region) {
            // In Austin, TX, USA the region says more than the country.
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
    // What stands before the city is a street, a neighbourhood or a shop.
    let start = (name.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let before = text.get(..start)?.trim_matches(|letter: char| letter == ',' || letter.is_whitespace());
    let before = Some(before).filter(|before| !before.is_empty());
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
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return false };
    words.len() > 1 && (first == "county" || ["county", "parish", "co", "cnty"].contains(&last.as_str()))
}

/// A text without commas: all of it is a name, or its last words are a region, a country, or one after the other.
fn read_words(text: &str) -> Vec<Query<'_>> {
    let mut queries = vec![Query::new(text, Within::Anywhere)];
    let breaks: Vec<usize> = text.rmatch_indices(char::is_whitespace).map(|(at, _)| at).take(MAX_AREA_WORDS).collect();
    for at in breaks.into_iter().rev() {
        for within in Within::ending(&text[at..]) {
            let before = text[..at].trim_end();
            let finer = within.before(before).map(|(name, region)| Query::new(name, Within::Region(region)));
            queries.extend(finer);
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
    use super::super::around::without_words_around;
    use super::*;

    fn asked(text: &str) -> Vec<String> {
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
        queries([text.trim(), text.trim(), without_words_around(text)]).iter().map(shown).collect()
    }

    #[test]
    fn a_text_is_read_as_what_it_may_mean() {
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
            assert_eq!(asked(text), expected, "{text}");
        }
    }

    #[test]
    fn the_number_of_questions_is_bounded() {
        for text in [",".repeat(200), "a ".repeat(100), "us ".repeat(66), "ga,".repeat(66), "near ".repeat(40)] {
            assert!(queries([text.trim(), text.trim(), without_words_around(&text)]).len() <= 40, "{text}");
        }
    }
}
