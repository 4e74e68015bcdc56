//! The states, provinces and territories of the United States and Canada.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::country::Country;
use crate::fold::fold;

/// A US state, the District of Columbia, a US territory, or a Canadian province or territory. Written as its code of
/// two letters; no two of them share one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Region(u8);

impl Region {
    /// The region with this postal code of two letters or this name, in any case.
    ///
    /// ```
    /// # use signpost_locator::Region;
    /// let texas = Region::parse("tx").unwrap();
    /// assert_eq!((texas.code(), texas.name(), texas.country().code()), ("TX", "Texas", "US"));
    /// assert_eq!(Region::parse("Québec").unwrap().code(), "QC");
    /// assert_eq!(Region::parse("Bavaria"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let by_code = |code: &str| Self::all().find(|region| region.code().eq_ignore_ascii_case(code));
        by_code(text).or_else(|| {
            let name = fold(text);
            let by_name = by_code(&name).or_else(|| Self::all().find(|region| region.row().2 == name));
            by_name.or_else(|| ALIASES.iter().find(|(alias, _)| *alias == name).and_then(|(_, code)| by_code(code)))
        })
    }

    /// All of them: the United States first, each country by code.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..).take(REGIONS.len()).map(Self)
    }

    /// The two letters, in upper case.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.row().0
    }

    /// The English name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// [`Country::UNITED_STATES`] or [`Country::CANADA`].
    #[must_use]
    pub fn country(self) -> Country {
        if usize::from(self.0) < IN_THE_UNITED_STATES { Country::UNITED_STATES } else { Country::CANADA }
    }

    fn row(self) -> (&'static str, &'static str, &'static str) {
        REGIONS[usize::from(self.0)]
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Region({})", self.code())
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl From<Region> for String {
    fn from(region: Region) -> Self {
        region.code().to_owned()
    }
}

impl TryFrom<String> for Region {
    type Error = String;

    fn try_from(code: String) -> Result<Self, String> {
        Self::parse(&code)
            .ok_or_else(|| format!("{code:?} is not a code of a US state or territory or Canadian province"))
    }
}

/// Other folded names.
const ALIASES: [(&str, &str); 10] = [
    ("washingtondc", "DC"),
    ("newfoundland", "NL"),
    ("labrador", "NL"),
    ("pei", "PE"),
    ("northwestterritory", "NT"),
    ("nunavutterritory", "NU"),
    ("yukonterritory", "YT"),
    ("usvirginislands", "VI"),
    ("unitedstatesvirginislands", "VI"),
    ("commonwealthofthenorthernmarianaislands", "MP"),
];

const IN_THE_UNITED_STATES: usize = 56;

/// Code, name, folded name.
#[rustfmt::skip]
const REGIONS: [(&str, &str, &str); 69] = [
    ("AK", "Alaska", "alaska"),
    ("AL", "Alabama", "alabama"),
    ("AR", "Arkansas", "arkansas"),
    ("AS", "American Samoa", "americansamoa"),
    ("AZ", "Arizona", "arizona"),
    ("CA", "California", "california"),
    ("CO", "Colorado", "colorado"),
    ("CT", "Connecticut", "connecticut"),
    ("DC", "District of Columbia", "districtofcolumbia"),
    ("DE", "Delaware", "delaware"),
    ("FL", "Florida", "florida"),
    ("GA", "Georgia", "georgia"),
    ("GU", "Guam", "guam"),
    ("HI", "Hawaii", "hawaii"),
    ("IA", "Iowa", "iowa"),
    ("ID", "Idaho", "idaho"),
    ("IL", "Illinois", "illinois"),
    ("IN", "Indiana", "indiana"),
    ("KS", "Kansas", "kansas"),
    ("KY", "Kentucky", "kentucky"),
    ("LA", "Louisiana", "louisiana"),
    ("MA", "Massachusetts", "massachusetts"),
    ("MD", "Maryland", "maryland"),
    ("ME", "Maine", "maine"),
    ("MI", "Michigan", "michigan"),
    ("MN", "Minnesota", "minnesota"),
    ("MO", "Missouri", "missouri"),
    ("MP", "Northern Mariana Islands", "northernmarianaislands"),
    ("MS", "Mississippi", "mississippi"),
    ("MT", "Montana", "montana"),
    ("NC", "North Carolina", "northcarolina"),
    ("ND", "North Dakota", "northdakota"),
    ("NE", "Nebraska", "nebraska"),
    ("NH", "New Hampshire", "newhampshire"),
    ("NJ", "New Jersey", "newjersey"),
    ("NM", "New Mexico", "newmexico"),
    ("NV", "Nevada", "nevada"),
    ("NY", "New York", "newyork"),
    ("OH", "Ohio", "ohio"),
    ("OK", "Oklahoma", "oklahoma"),
    ("OR", "Oregon", "oregon"),
    ("PA", "Pennsylvania", "pennsylvania"),
    ("PR", "Puerto Rico", "puertorico"),
    ("RI", "Rhode Island", "rhodeisland"),
    ("SC", "South Carolina", "southcarolina"),
    ("SD", "South Dakota", "southdakota"),
    ("TN", "Tennessee", "tennessee"),
    ("TX", "Texas", "texas"),
    ("UT", "Utah", "utah"),
    ("VA", "Virginia", "virginia"),
    ("VI", "Virgin Islands", "virginislands"),
    ("VT", "Vermont", "vermont"),
    ("WA", "Washington", "washington"),
    ("WI", "Wisconsin", "wisconsin"),
    ("WV", "West Virginia", "westvirginia"),
    ("WY", "Wyoming", "wyoming"),
    ("AB", "Alberta", "alberta"),
    ("BC", "British Columbia", "britishcolumbia"),
    ("MB", "Manitoba", "manitoba"),
    ("NB", "New Brunswick", "newbrunswick"),
    ("NL", "Newfoundland and Labrador", "newfoundlandandlabrador"),
    ("NS", "Nova Scotia", "novascotia"),
    ("NT", "Northwest Territories", "northwestterritories"),
    ("NU", "Nunavut", "nunavut"),
    ("ON", "Ontario", "ontario"),
    ("PE", "Prince Edward Island", "princeedwardisland"),
    ("QC", "Quebec", "quebec"),
    ("SK", "Saskatchewan", "saskatchewan"),
    ("YT", "Yukon", "yukon"),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_region_is_found_by_its_code_and_its_name_in_any_case() {
        for region in Region::all() {
            let (code, name) = (region.code(), region.name());
            for text in [code, name, &code.to_lowercase(), &name.to_uppercase(), &format!("  {code} ")] {
                assert_eq!(Region::parse(text), Some(region), "{text}");
            }
            assert_eq!(region.row().2, fold(name));
        }
    }

    #[test]
    fn no_two_regions_share_a_code_or_a_name() {
        let codes: HashSet<_> = Region::all().map(Region::code).collect();
        let names: HashSet<_> = Region::all().map(Region::name).collect();
        assert_eq!((codes.len(), names.len()), (REGIONS.len(), REGIONS.len()));
    }

    #[test]
    fn countries_are_told_apart() {
        let in_country = |country| Region::all().filter(|region| region.country() == country).count();
        // 50 states, the District of Columbia and 5 territories; 10 provinces and 3 territories.
        assert_eq!((in_country(Country::UNITED_STATES), in_country(Country::CANADA)), (56, 13));
    }

    #[test]
    fn other_names_are_known_and_others_are_not() {
        for (text, code) in
            [("Washington, D.C.", "DC"), ("P.E.I.", "PE"), ("Tx.", "TX"), ("Québec", "QC"), ("N. Carolina", "NC")]
        {
            assert_eq!(Region::parse(text).map(Region::code), Some(code), "{text}");
        }
        for text in ["", "ZZ", "T", "Bavaria", "Tex", "USA", "\u{0}"] {
            assert_eq!(Region::parse(text), None, "{text}");
        }
    }
}
