//! The states, provinces and territories of the United States and Canada.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::country::Country;
use crate::fold::fold;

/// A US state, the District of Columbia, a US territory, or a Canadian province or territory. Serialized as its unique
/// two-letter code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Region(u8);

impl Region {
    /// Parses a two-letter postal abbreviation or a name, in any case.
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
        Self::of_code(text).or_else(|| Self::of_folded(&fold(text)))
    }

    /// Parses a text like [`Region::parse`], given its folded form.
    pub(crate) fn parse_folded(text: &str, name: &str) -> Option<Self> {
        Self::of_code(text).or_else(|| Self::of_folded(name))
    }

    fn of_folded(name: &str) -> Option<Self> {
        Self::of_code(name).or_else(|| NAMED.get(name).copied())
    }

    fn of_code(text: &str) -> Option<Self> {
        let code = text.trim().trim_end_matches('.').as_bytes();
        let code = <[u8; 2]>::try_from(code).ok()?.map(|letter| letter.to_ascii_uppercase());
        let (united_states, canada) = REGIONS.split_at(US_REGIONS);
        let at = match position(united_states, code) {
            Some(at) => at,
            None => US_REGIONS + position(canada, code)?,
        };
        u8::try_from(at).ok().map(Self)
    }

    /// Parses the end of a longer text, such as its last words or the part after a comma. Unlike [`Region::parse`], it
    /// accepts traditional abbreviations. They would be ambiguous as a whole text, because `Miss` and `Wash` are words.
    ///
    /// ```
    /// # use signpost_locator::Region;
    /// assert_eq!(Region::parse_ending("Mass.").unwrap().code(), "MA");
    /// assert_eq!(Region::parse("Mass."), None);
    /// ```
    #[must_use]
    pub fn parse_ending(text: &str) -> Option<Self> {
        Self::of_code(text).or_else(|| Self::of_folded_ending(&fold(text)))
    }

    /// Parses a text like [`Region::parse_ending`], given its folded form.
    pub(crate) fn parse_ending_folded(text: &str, name: &str) -> Option<Self> {
        Self::of_code(text).or_else(|| Self::of_folded_ending(name))
    }

    fn of_folded_ending(name: &str) -> Option<Self> {
        if let Some(region) = Self::of_folded(name) {
            return Some(region);
        }
        let at = ABBREVIATIONS.binary_search_by_key(&name, |(short, _)| short).ok()?;
        Self::of_code(ABBREVIATIONS[at].1)
    }

    /// Returns the region with the most similar English name to a text. The maximum edit distance is 1, or 2 for a text
    /// of nine or more letters.
    ///
    /// ```
    /// # use signpost_locator::Region;
    /// assert_eq!(Region::find_similar("Flordia").unwrap().code(), "FL");
    /// assert_eq!(Region::find_similar("Bavaria"), None);
    /// ```
    #[must_use]
    pub fn find_similar(text: &str) -> Option<Self> {
        let name = fold(text);
        let max = match name.len() {
            5..9 => 1,
            9..30 => 2,
            _ => return None,
        };
        let regions = Self::all().map(|region| (strsim::osa_distance(region.row().2, &name), region));
        let (_, region) = regions.filter(|(distance, _)| *distance <= max).min_by_key(|(distance, _)| *distance)?;
        Some(region)
    }

    /// Returns the territory of the United States with this country code.
    #[must_use]
    pub fn of_territory(country: Country) -> Option<Self> {
        if ["AS", "GU", "MP", "PR", "VI"].contains(&country.code()) { Self::of_code(country.code()) } else { None }
    }

    /// Returns all regions: first the regions of the United States, then the regions of Canada, each sorted by code.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..).take(REGIONS.len()).map(Self)
    }

    /// Returns the two-letter code in upper case.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.row().0
    }

    /// Returns the English name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Returns [`Country::UNITED_STATES`] or [`Country::CANADA`].
    #[must_use]
    pub fn country(self) -> Country {
        if usize::from(self.0) < US_REGIONS { Country::UNITED_STATES } else { Country::CANADA }
    }

    fn row(self) -> RegionRow {
        REGIONS[usize::from(self.0)]
    }
}

/// Returns the position of a code among the regions of one country.
fn position(rows: &[RegionRow], code: [u8; 2]) -> Option<usize> {
    rows.binary_search_by_key(&code.as_slice(), |row| row.0.as_bytes()).ok()
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

/// All regions by their folded names.
static NAMED: LazyLock<HashMap<&'static str, Region>> = LazyLock::new(|| {
    let own = Region::all().map(|region| (region.row().2, region));
    let others = ALIASES.iter().filter_map(|(alias, code)| Some((*alias, Region::of_code(code)?)));
    own.chain(others).collect()
});

/// Further folded names in several languages, sorted alphabetically.
#[rustfmt::skip]
const ALIASES: [(&str, &str); 126] = [
    ("alasca", "AK"), ("amerikanischsamoa", "AS"), ("britischkolumbien", "BC"), ("bundesstaatnewyork", "NY"),
    ("bundesstaatwashington", "WA"), ("californie", "CA"), ("carolinadelnorte", "NC"), ("carolinadelsur", "SC"),
    ("carolinadonorte", "NC"), ("carolinadosul", "SC"), ("carolinedunord", "NC"), ("carolinedusud", "SC"),
    ("cnmi", "MP"), ("colombiabritanica", "BC"), ("colombiebritannique", "BC"), ("columbiabritanica", "BC"),
    ("columbiabritannica", "BC"), ("commonwealthofthenorthernmarianaislands", "MP"), ("dacotadelnorte", "ND"),
    ("dacotadelsur", "SD"), ("dakotadelnorte", "ND"), ("dakotadelsur", "SD"), ("dakotadonorte", "ND"),
    ("dakotadosul", "SD"), ("dakotadunord", "ND"), ("dakotadusud", "SD"), ("districtdecolumbia", "DC"),
    ("distritodecolumbia", "DC"), ("estadodenovayork", "NY"), ("estadodenuevayork", "NY"), ("estadodewashington", "WA"),
    ("etatdenewyork", "NY"), ("etatdewashington", "WA"), ("floride", "FL"), ("georgie", "GA"), ("havai", "HI"),
    ("hawai", "HI"), ("ileduprinceedouard", "PE"), ("ilesviergesamericaines", "VI"), ("ilesviergesdesetatsunis", "VI"),
    ("ilhadoprincipeeduardo", "PE"), ("isladelprincipeeduardo", "PE"), ("islaprincipeeduardo", "PE"),
    ("islasmarianasdelnorte", "MP"), ("islasvirgenesamericanas", "VI"), ("islasvirgenesdelosestadosunidos", "VI"),
    ("islasvirgenesestadounidenses", "VI"), ("kalifornien", "CA"), ("labrador", "NL"), ("louisiane", "LA"),
    ("luisiana", "LA"), ("misisipi", "MS"), ("misuri", "MO"), ("neubraunschweig", "NB"), ("neufundland", "NL"),
    ("neufundlandundlabrador", "NL"), ("neumexiko", "NM"), ("neuschottland", "NS"), ("newfoundland", "NL"),
    ("newyorkstaat", "NY"), ("newyorkstate", "NY"), ("nordcarolina", "NC"), ("norddakota", "ND"),
    ("nordkarolina", "NC"), ("nordwestterritorien", "NT"), ("northwestterritory", "NT"), ("nouveaubrunswick", "NB"),
    ("nouveaumexique", "NM"), ("nouvelleecosse", "NS"), ("nouvellejersey", "NJ"), ("novaescocia", "NS"),
    ("novahampshire", "NH"), ("novaiorque", "NY"), ("novajersei", "NJ"), ("novayork", "NY"), ("novobrunswick", "NB"),
    ("novomexico", "NM"), ("nuevaescocia", "NS"), ("nuevahampshire", "NH"), ("nuevajersey", "NJ"), ("nuevayork", "NY"),
    ("nuevobrunswick", "NB"), ("nuevohampshire", "NH"), ("nuevojersey", "NJ"), ("nuevomexico", "NM"),
    ("nunavutterritory", "NU"), ("pei", "PE"), ("pennsylvanie", "PA"), ("pennsylvanien", "PA"), ("pensilvania", "PA"),
    ("pensilvanien", "PA"), ("portorico", "PR"), ("prinzedwardinsel", "PE"), ("provincedeontario", "ON"),
    ("provincedequebec", "QC"), ("provinciadeontario", "ON"), ("provinciadequebec", "QC"), ("samoaamericana", "AS"),
    ("samoasamericaines", "AS"), ("sudcarolina", "SC"), ("suddakota", "SD"), ("sudkarolina", "SC"), ("tejas", "TX"),
    ("tenesi", "TN"), ("terranovaelabrador", "NL"), ("terranovaylabrador", "NL"), ("terreneuve", "NL"),
    ("terreneuveetlabrador", "NL"), ("territoiresdunordouest", "NT"), ("territoriosdelnoroeste", "NT"),
    ("territoriosdonoroeste", "NT"), ("unitedstatesvirginislands", "VI"), ("usvi", "VI"), ("usvirginislands", "VI"),
    ("virginiadeloeste", "WV"), ("virginiaoccidental", "WV"), ("virginiaocidental", "WV"), ("virginie", "VA"),
    ("virginien", "VA"), ("virginieoccidentale", "WV"), ("washingtondc", "DC"), ("washingtonstaat", "WA"),
    ("washingtonstate", "WA"), ("westvirginie", "WV"), ("westvirginien", "WV"), ("yukonterritory", "YT"),
];

/// Folded traditional abbreviations, sorted alphabetically.
#[rustfmt::skip]
const ABBREVIATIONS: [(&str, &str); 59] = [
    ("ala", "AL"), ("alas", "AK"), ("alta", "AB"), ("ariz", "AZ"), ("ark", "AR"), ("brcol", "BC"), ("cal", "CA"), ("cali", "CA"), ("calif", "CA"), ("colo", "CO"), ("conn", "CT"), ("del", "DE"), ("dela", "DE"), ("fla", "FL"), ("flor", "FL"), ("ida", "ID"), ("ill", "IL"), ("ills", "IL"), ("ind", "IN"), ("kan", "KS"), ("kans", "KS"), ("man", "MB"), ("mass", "MA"), ("mich", "MI"), ("minn", "MN"), ("miss", "MS"), ("missi", "MS"), ("mont", "MT"), ("neb", "NE"), ("nebr", "NE"), ("nev", "NV"), ("newbr", "NB"), ("newhamp", "NH"), ("newmex", "NM"), ("nfld", "NL"), ("nmex", "NM"), ("northcar", "NC"), ("northdak", "ND"), ("northmex", "NM"), ("novasc", "NS"), ("okla", "OK"), ("ont", "ON"), ("ore", "OR"), ("oreg", "OR"), ("penn", "PA"), ("penna", "PA"), ("que", "QC"), ("sask", "SK"), ("saskat", "SK"), ("southcar", "SC"), ("southdak", "SD"), ("tenn", "TN"), ("tex", "TX"), ("wash", "WA"), ("westva", "WV"), ("wis", "WI"), ("wisc", "WI"), ("wva", "WV"), ("wyo", "WY"),
];

/// Number of regions in the United States.
const US_REGIONS: usize = 56;

/// A row of the table: code, name, and folded name.
type RegionRow = (&'static str, &'static str, &'static str);

/// The table of regions: first the United States, then Canada, each sorted by code.
#[rustfmt::skip]
const REGIONS: [RegionRow; 69] = [
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
    fn regions_are_found_by_code_and_name_in_any_case() {
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
    fn aliases_are_sorted_and_resolve() {
        for names in [&ALIASES[..], &ABBREVIATIONS] {
            assert!(names.is_sorted());
            for (name, code) in names {
                assert_eq!(Region::parse_ending(name).map(Region::code), Some(*code), "{name}");
                assert_eq!(fold(name), *name);
            }
        }
        for (text, code) in
            [("W.Va.", "WV"), ("N. Dak.", "ND"), ("Calif.", "CA"), ("Süd-Carolina", "SC"), ("Hawaiʻi", "HI")]
        {
            assert_eq!(Region::parse_ending(text).map(Region::code), Some(code), "{text}");
        }
    }

    #[test]
    fn region_codes_depend_on_the_country() {
        let in_country = |country| Region::all().filter(|region| region.country() == country).count();
        // 50 states, the District of Columbia and 5 territories; 10 provinces and 3 territories.
        assert_eq!((in_country(Country::UNITED_STATES), in_country(Country::CANADA)), (56, 13));
    }

    #[test]
    fn regions_are_found_by_names_in_other_languages() {
        for (text, code) in [
            ("Carolina del Norte", "NC"),
            ("Dakota del Norte", "ND"),
            ("Pensilvania", "PA"),
            ("Nueva York", "NY"),
            ("Tejas", "TX"),
            ("Luisiana", "LA"),
            ("Misisipi", "MS"),
            ("Nuevo México", "NM"),
            ("Carolina do Sul", "SC"),
            ("Virginie-Occidentale", "WV"),
            ("Columbia Británica", "BC"),
            ("Colombie-Britannique", "BC"),
            ("Nouvelle-Écosse", "NS"),
            ("Neufundland", "NL"),
            ("Kalifornien", "CA"),
        ] {
            assert_eq!(Region::parse(text).map(Region::code), Some(code), "{text}");
        }
    }

    #[test]
    fn aliases_are_found_and_other_names_are_not() {
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
