//! Parsing of a location text into queries: names to look up in areas.

use super::blob::PlaceArea;
use crate::address::{parse_postcode, split_postcode, split_region};
use crate::country::Country;
use crate::division::Division;
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
    /// The divisions with a name or code, in one or several countries.
    Divisions(&'static [Division]),
}

/// Maximum number of words in the name of a country or region.
const MAX_AREA_WORDS: usize = 5;

impl Within {
    /// Returns `true` if this area contains the other area.
    pub(super) fn contains(self, area: PlaceArea) -> bool {
        match self {
            Self::Anywhere => true,
            Self::Country(country) => area.country == country,
            Self::Region(region) => area.region == Some(region),
            Self::Divisions(divisions) => {
                area.division.is_some_and(|division| divisions.iter().any(|wanted| wanted.contains(division)))
            }
        }
    }

    /// Returns the English name of the area. Empty for [`Within::Anywhere`].
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Anywhere => "",
            Self::Country(country) => country.name(),
            Self::Region(region) => region.name(),
            Self::Divisions(divisions) => divisions.first().map(|division| division.name()).unwrap_or_default(),
        }
    }

    /// Splits the name of a region or division of this country off the end of a text.
    fn split_part(self, text: &str) -> Option<(&str, Self)> {
        let Self::Country(country) = self else { return None };
        if let Some((name, region)) = split_region(text, Region::parse_ending)
            && !name.is_empty()
            && region.country() == country
        {
            return Some((name, Self::Region(region)));
        }
        let breaks: Vec<usize> =
            text.rmatch_indices(char::is_whitespace).map(|(at, _)| at).take(MAX_AREA_WORDS).collect();
        breaks.into_iter().rev().find_map(|at| {
            let divisions = divisions_of_country(&text[at..], country);
            let name = text[..at].trim_end();
            if divisions.is_empty() || name.is_empty() { None } else { Some((name, Self::Divisions(divisions))) }
        })
    }

    /// Returns the regions, countries and divisions that `text`, the end of a longer text, names. Abbreviations are
    /// accepted.
    pub(super) fn ending(text: &str) -> Vec<Self> {
        let text = text.trim();
        let name = fold(text);
        let region = Region::parse_ending_folded(text, &name);
        let country = Country::parse_folded(text, &name).filter(|country| !is_part_of(&name, *country));
        let divisions = [Division::named(&name), Division::with_iso_code(text)];
        let divisions = divisions.into_iter().filter(|divisions| !divisions.is_empty()).map(Self::Divisions);
        region.map(Self::Region).into_iter().chain(country.map(Self::Country)).chain(divisions).collect()
    }

    /// Returns the part of this area that a text names, or this area if the text repeats its name.
    fn narrowed(self, text: &str) -> Option<Self> {
        let region = Region::parse_ending(text);
        match (self, region) {
            (Self::Country(country), Some(region)) if region.country() == country => Some(Self::Region(region)),
            (Self::Region(known), Some(region)) if region == known => Some(self),
            (Self::Country(country), _) => {
                let divisions = divisions_of_country(text, country);
                if divisions.is_empty() { None } else { Some(Self::Divisions(divisions)) }
            }
            (Self::Divisions(known), _) => {
                let country = known.first()?.country();
                let divisions = divisions_of_country(text, country);
                let is_inside = |division: &Division| known.iter().any(|area| area.contains(*division));
                let are_inside = !divisions.is_empty() && divisions.iter().all(is_inside);
                if are_inside { Some(Self::Divisions(divisions)) } else { None }
            }
            _ => None,
        }
    }

    /// Returns the regions and countries that a text names. `CA` is California and Canada; `Georgia` is a state and a
    /// country.
    pub(super) fn named(text: &str) -> impl Iterator<Item = Self> {
        let text = text.trim();
        let text = text.trim_end_matches('.');
        let name = fold(text);
        let country = Country::parse_folded(text, &name)
            .filter(|country| may_be_country(text, *country) && !is_part_of(&name, *country));
        Region::parse_folded(text, &name).map(Self::Region).into_iter().chain(country.map(Self::Country))
    }
}

/// Returns the divisions with a country with a name or code.
fn divisions_of_country(text: &str, country: Country) -> &'static [Division] {
    let divisions = Division::of_country(Division::named(&fold(text)), country);
    if divisions.is_empty() { Division::of_country(Division::with_iso_code(text), country) } else { divisions }
}

/// Checks whether a folded name of a country is rather the name of a division of it: Scotland is a division of the
/// United Kingdom. The State of Mexico has the name of its country, and Holland is a group of divisions.
fn is_part_of(name: &str, country: Country) -> bool {
    let divisions = Division::of_country(Division::named(name), country);
    divisions.iter().any(|division| !division.is_group()) && name != fold(country.name())
}

/// Checks whether a text of three letters may be the code of a country. Most codes in lower case are abbreviations:
/// `Ind.` is Indiana, but `IND` is India.
fn may_be_country(text: &str, country: Country) -> bool {
    text.len() != 3
        || country == Country::UNITED_STATES
        || is_upper(text)
        || !is_ascii_word(text)
        || country.name().len() == 3
}

/// Returns the possible queries of a text, sorted by descending likelihood: first the queries of the complete text,
/// then the queries without filler words. All queries are within the region or country that the text names.
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

    /// Returns the query without a leading phrase such as `City of`, as in `City of Industry`. Only in a named region,
    /// because it has few candidates.
    fn without_kind_before(&self) -> Option<Self> {
        const KINDS: [&str; 4] = ["boroughof", "cityof", "townof", "villageof"];
        let name = KINDS.iter().find_map(|kind| self.name.strip_prefix(kind))?;
        if name.len() <= 2 || self.within == Within::Anywhere {
            return None;
        }
        Some(Self { name: name.to_owned(), ..*self })
    }

    /// Returns the name without a trailing generic word, as in `UCLA campus` and `DFW area`.
    pub(super) fn name_without_thing(&self) -> Option<&str> {
        const THINGS: [&str; 7] = ["area", "arena", "campus", "district", "mall", "neighborhood", "stadium"];
        let name = THINGS.iter().find_map(|thing| self.name.strip_suffix(thing))?;
        if name.len() > 2 { Some(name) } else { None }
    }

    /// Returns the query without a repeated state or a ZIP code before the state, as in `Dallas TX, Texas`.
    fn without_repetition(&self) -> Option<Self> {
        // Fast path: a single word contains no repetition.
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

/// Returns the queries of a text.
fn read(text: &str) -> Vec<Query<'_>> {
    let mut parts: Vec<&str> =
        text.split(',').map(str::trim).filter(|part| part.contains(char::is_alphanumeric)).collect();
    let Some(last) = parts.pop() else { return Vec::new() };
    if parts.is_empty() {
        return read_words(last);
    }
    let mut queries: Vec<Query<'_>> = Vec::new();
    for within in Within::ending(last) {
        // The name of a place may contain commas.
        if parts.len() > 1
            && matches!(within, Within::Region(_) | Within::Divisions(_))
            && let Some((name, _)) = text.rsplit_once(',')
        {
            queries.push(Query::new(name, within));
        }
        queries.extend(read_parts(text, &parts, within));
    }
    // Example: `Austin, TX USA`.
    if let Some(within) = area_before_country(last) {
        queries.extend(read_parts(text, &parts, within));
    }
    let shorter: Vec<Query<'_>> = queries.iter().filter_map(Query::without_repetition).collect();
    queries.extend(shorter);
    queries
}

/// Returns the region or division in a text that ends in its country: `TX USA`, `New South Wales Australia`.
fn area_before_country(text: &str) -> Option<Within> {
    text.match_indices(char::is_whitespace).take(MAX_AREA_WORDS).find_map(|(at, _)| {
        let country = Country::parse(&text[at..])?;
        Within::Country(country).narrowed(text[..at].trim_end())
    })
}

/// Returns the queries of a text with commas, starting with the most specific. `parts` are the parts before the area.
fn read_parts<'a>(text: &'a str, mut parts: &[&'a str], mut within: Within) -> Vec<Query<'a>> {
    let mut queries = Vec::new();
    while let [_, .., last] = parts {
        if let Some(narrower) = within.narrowed(last) {
            // A division often has the same name as its largest city.
            if matches!(narrower, Within::Divisions(_)) {
                queries.extend(query_of_parts(text, parts, within));
            }
            // In `Austin, TX, USA`, the region is more specific than the country.
            within = narrower;
        } else if is_other_region(within, last) {
            return Vec::new();
        } else if !is_county(last) && parse_postcode(last).is_none() {
            break;
        }
        parts = &parts[..parts.len() - 1];
    }
    queries.extend(query_of_parts(text, parts, within));
    // Example: `Sydney NSW, Australia`.
    if let Some((name, part)) = parts.last().and_then(|last| within.split_part(last)) {
        let query = query_of_parts(text, parts, part);
        queries.extend(query.map(|query| Query { name: fold(name), written: name, ..query }));
    }
    queries.reverse();
    queries
}

/// Checks whether a text is the code of another region, as in `Springfield, IL, MO`.
fn is_other_region(within: Within, text: &str) -> bool {
    let region = Region::parse_ending(text);
    text.len() == 2 && matches!((within, region), (Within::Region(known), Some(region)) if region != known)
}

/// Returns the query for the last part of a text before its area.
fn query_of_parts<'a>(text: &'a str, parts: &[&'a str], within: Within) -> Option<Query<'a>> {
    let name = *parts.last()?;
    // The parts before the city are a street, a neighbourhood or a shop.
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

/// Returns the queries of a text without commas. Either the whole text is a name, or its last words are a region, a
/// country, or both.
fn read_words(text: &str) -> Vec<Query<'_>> {
    let mut queries = vec![Query::new(text, Within::Anywhere)];
    let breaks: Vec<usize> = text.rmatch_indices(char::is_whitespace).map(|(at, _)| at).take(MAX_AREA_WORDS).collect();
    for at in breaks.into_iter().rev() {
        for within in Within::ending(&text[at..]) {
            let before = text[..at].trim_end();
            if let Some((name, part)) = within.split_part(before) {
                queries.push(Query::new(name, part));
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
                Within::Divisions(divisions) => format!("{}/{divisions:?}", query.name),
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
            ("Sydney, NSW", &["sydney/[Division(AU-02)]"]),
            (
                "Leeds, Kent, England",
                &["leedskent/[Division(GB-ENG)]", "leeds/[Division(GB-ENG.G5)]", "Leeds | kent/[Division(GB-ENG)]"],
            ),
            ("austin tx  usa", &["austintxusa", "austin/US-TX", "austintx/US"]),
            ("Paris France", &["parisfrance", "paris/FR"]),
            ("Tbilisi, Georgia", &["tbilisi/US-GA", "tbilisi/GE"]),
            ("Hanover Township, Pennsylvania", &["hanovertownship/US-PA"]),
            ("City of Industry, California", &["cityofindustry/US-CA", "industry/US-CA"]),
            ("1 Main St, Austin, TX", &["1mainsaintaustin/US-TX", "1 Main St | austin/US-TX"]),
            ("Springfield, ZZ", &[]),
            ("bitcoin ATMs near Ft. Worth", &["bitcoinatmsnearfortworth", "fortworth"]),
            ("near downtown Miami, TX", &["neardowntownmiami/US-TX", "miami/US-TX"]),
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
