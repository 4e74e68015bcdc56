//! What a text may mean, as questions that the gazetteer can answer.

use super::blob::PlaceArea;
use crate::address::split_region;
use crate::country::Country;
use crate::fold::{fold, words};
use crate::region::Region;

/// A name to look up, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Query {
    /// Folded, not empty.
    pub(super) name: String,
    pub(super) within: Within,
}

/// Where a name may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    Anywhere,
    Country(Country),
    Region(Region),
}

/// Words before a place that do not belong to it.
const BEFORE: [&str; 24] = [
    "a", "around", "at", "atm", "atms", "bitcoin", "btc", "by", "close", "closest", "crypto", "downtown", "find",
    "for", "in", "kiosk", "kiosks", "machine", "machines", "me", "near", "nearest", "show", "to",
];
/// Words after a place that do not belong to it.
const AFTER: [&str; 13] = [
    "area", "atm", "atms", "bitcoin", "btc", "crypto", "downtown", "kiosk", "kiosks", "machine", "machines", "me",
    "near",
];
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
    fn ending(self, text: &str) -> Option<(&str, Region)> {
        let Self::Country(country) = self else { return None };
        split_region(text.trim_end()).filter(|(name, region)| !name.is_empty() && region.country() == country)
    }

    /// The regions and countries that a text names: `CA` is California and Canada, `Georgia` a state and a country.
    pub(super) fn named(text: &str) -> impl Iterator<Item = Self> {
        let text = text.trim();
        Region::parse(text).map(Self::Region).into_iter().chain(Country::parse(text).map(Self::Country))
    }
}

/// The questions that a text may ask, the likeliest first: as it stands, then without the words around a place.
/// What a text says of region or country is in every one of them.
pub(super) fn queries(text: &str) -> Vec<Query> {
    let (whole, bare) = (text.trim(), without_words_around(text));
    let more = if bare == whole { Vec::new() } else { read(bare) };
    let mut queries: Vec<Query> = Vec::new();
    for query in read(whole).into_iter().chain(more) {
        if !queries.contains(&query) {
            queries.push(query);
        }
    }
    let plain: Vec<Query> = queries.iter().filter_map(Query::without_kind).collect();
    queries.extend(plain);
    queries
}

impl Query {
    /// The same without the kind of place that some put before a name, as in `City of Industry`: only in a region that
    /// is named, where little is left to be mistaken. `Township` behind a name stays: it is often elsewhere than the
    /// town of that name.
    fn without_kind(&self) -> Option<Self> {
        const BEFORE: [&str; 4] = ["boroughof", "cityof", "townof", "villageof"];
        let name = BEFORE.iter().find_map(|kind| self.name.strip_prefix(kind))?;
        let is_sure = name.len() > 2 && self.within != Within::Anywhere;
        is_sure.then(|| Self { name: name.to_owned(), within: self.within })
    }
}

fn read(text: &str) -> Vec<Query> {
    let mut parts: Vec<&str> = text.split(',').map(str::trim).filter(|part| !fold(part).is_empty()).collect();
    let Some(last) = parts.pop() else { return Vec::new() };
    if parts.is_empty() {
        return read_words(last);
    }
    let mut queries = Vec::new();
    for within in Within::named(last) {
        // In Austin, TX, USA the region says more than the country.
        let finer = match within {
            Within::Country(country) if parts.len() > 1 => {
                parts.last().and_then(|part| Region::parse(part)).filter(|region| region.country() == country)
            }
            _ => None,
        };
        let (names, within) = match finer {
            Some(region) => (&parts[..parts.len() - 1], Within::Region(region)),
            None => (&parts[..], within),
        };
        // What stands before the city is a street, a neighbourhood or a shop.
        queries.extend(names.last().map(|name| Query { name: fold(name), within }));
        queries.extend(names.first().map(|name| Query { name: fold(name), within }));
    }
    // Austin, TX USA
    if let Some((region, country)) = last.split_once(char::is_whitespace)
        && let Some(region) = Region::parse(region).filter(|region| Country::parse(country) == Some(region.country()))
    {
        queries.extend(parts.last().map(|name| Query { name: fold(name), within: Within::Region(region) }));
    }
    queries
}

/// A text without commas: all of it is a name, or its last words are a region, a country, or one after the other.
fn read_words(text: &str) -> Vec<Query> {
    let mut queries = vec![Query { name: fold(text), within: Within::Anywhere }];
    let breaks: Vec<usize> = text.rmatch_indices(char::is_whitespace).map(|(at, _)| at).take(MAX_AREA_WORDS).collect();
    for at in breaks.into_iter().rev() {
        for within in Within::named(&text[at..]) {
            let before = &text[..at];
            let finer =
                within.ending(before).map(|(name, region)| Query { name: fold(name), within: Within::Region(region) });
            queries.extend(finer);
            queries.push(Query { name: fold(before), within });
        }
    }
    queries.retain(|query| !query.name.is_empty());
    queries
}

/// The text without what people put around a place, as in `bitcoin atms near Miami`. What is left is never empty.
pub(super) fn without_words_around(text: &str) -> &str {
    let is_one_of = |word: &str, known: &[&str]| words(word).iter().all(|word| known.contains(&word.as_str()));
    let mut bare = text.trim();
    while let Some((first, rest)) = bare.split_once(char::is_whitespace)
        && is_one_of(first, &BEFORE)
    {
        bare = rest.trim_start();
    }
    while let Some((rest, last)) = bare.rsplit_once(char::is_whitespace)
        && is_one_of(last, &AFTER)
    {
        bare = rest.trim_end();
    }
    bare
}

/// Whether a text is one of the words that are put around places, and no place.
pub(super) fn is_around(text: &str) -> bool {
    let words = words(text);
    words.iter().all(|word| BEFORE.contains(&word.as_str()) || AFTER.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> Vec<String> {
        let shown = |query: Query| match query.within {
            Within::Anywhere => query.name,
            Within::Country(country) => format!("{}/{country}", query.name),
            Within::Region(region) => {
                format!("{}/{}", query.name, region.country().code().to_owned() + "-" + region.code())
            }
        };
        queries(text).into_iter().map(shown).collect()
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
            ("1 Main St, Austin, TX", &["austin/US-TX", "1mainsaint/US-TX"]),
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
            assert!(queries(&text).len() <= 30, "{text}");
        }
    }
}
