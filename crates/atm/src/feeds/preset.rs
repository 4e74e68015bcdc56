//! Presets: public sources whose URL, format, schedule and attribution the program contains.
//!
//! The values follow the documentation of each source: `docs/rest/v4/places.md` of BTC Map's API, the usage policy of
//! the public Overpass servers, and `API.md` of AllThePlaces.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::Serialize;
use signpost_locator::Country;
use signpost_locator::import::FormatChoice;
use url::Url;

use super::feed::Feed;

/// Maximum number of feeds that are added at once.
pub(super) const MAX_FEEDS_AT_ONCE: usize = 50;
/// Maximum length of the name of a spider, so that the name of its feed is the name of a source.
const MAX_SPIDER_CHARS: usize = 50;
/// Placeholder for an area or a spider.
const PLACEHOLDER: &str = "{}";

/// The members that the importer reads, with marks of deleted places, so that later fetches are lists of changes.
const BTC_MAP_URL: &str = "https://api.btcmap.org/v4/places?fields=id,lat,lon,icon,name,address,opening_hours,phone,\
                           website,email,image,created_at,updated_at,verified_at,deleted_at,osm:operator,osm:brand,\
                           osm:brand:wikidata,osm:network,osm:located_in,osm:level,osm:addr:housenumber,\
                           osm:addr:street,osm:addr:city,osm:addr:state,osm:addr:postcode,osm:addr:country,\
                           osm:cash_in,osm:cash_out,osm:charge,osm:indoor,osm:wheelchair,osm:payment:lightning,\
                           osm:currency:ETH,osm:currency:LTC,osm:currency:BCH,osm:description&include_deleted=true&\
                           updated_since={updated_since}";

/// Selects by exact keys first: they are indexed, so that the query of a large country takes seconds. Its timeout is
/// below that of a request, so that the server reports it.
const OSM_QUERY: &str = "[out:json][timeout:50];area[\"ISO3166-1\"=\"{}\"]->.a;(\
                         nwr[\"currency:XBT\"][\"amenity\"~\"atm|bureau_de_change|payment_terminal\"](area.a);\
                         nwr[\"currency:BTC\"][\"amenity\"~\"atm|bureau_de_change|payment_terminal\"](area.a);\
                         nwr[\"currency:XBT\"][\"disused:amenity\"=\"atm\"](area.a);\
                         nwr[\"vending\"~\"bitcoin\"](area.a);\
                         );out meta center;";

/// A preset of a feed.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name in `feeds add`.
    pub name: &'static str,
    /// The name of the source for people.
    pub title: &'static str,
    /// The part of the source that a feed fetches.
    pub part: PresetPart,
    /// The URL, with [`PLACEHOLDER`] for the part.
    url: &'static str,
    /// The value of the parameter `data` of the URL, with [`PLACEHOLDER`] for the part.
    query: Option<&'static str>,
    /// The name of the format.
    pub format: &'static str,
    /// The default interval of fetches in hours.
    pub every_hours: u32,
    /// Minimum interval of fetches in hours, out of consideration for the public server.
    pub min_every_hours: u32,
    /// The licence of the data.
    pub licence: &'static str,
    /// The attribution in responses.
    pub attribution: &'static str,
    /// The page about the source and its terms.
    pub about: &'static str,
}

/// The part of a source that a feed of a preset fetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PresetPart {
    /// All of it.
    Whole,
    /// A country, selected by `--area`.
    Area,
    /// The output of a spider, selected by `--spider`.
    Spider,
}

/// The built-in presets.
pub const PRESETS: [Preset; 3] = [
    Preset {
        name: "btcmap",
        title: "BTC Map",
        part: PresetPart::Whole,
        url: BTC_MAP_URL,
        query: None,
        format: "btcmap",
        every_hours: 24,
        min_every_hours: 1,
        licence: "ODbL 1.0",
        attribution: "BTC Map, © OpenStreetMap contributors, ODbL",
        about: "https://btcmap.org",
    },
    Preset {
        name: "osm",
        title: "OpenStreetMap (Overpass API)",
        part: PresetPart::Area,
        url: "https://overpass-api.de/api/interpreter",
        query: Some(OSM_QUERY),
        format: "overpass",
        every_hours: 24,
        min_every_hours: 24,
        licence: "ODbL 1.0",
        attribution: "© OpenStreetMap contributors, ODbL",
        about: "https://www.openstreetmap.org/copyright",
    },
    Preset {
        name: "alltheplaces",
        title: "AllThePlaces",
        part: PresetPart::Spider,
        url: "https://data.alltheplaces.xyz/runs/latest/output/{}.geojson",
        query: None,
        format: "atp",
        // The spiders run once a week.
        every_hours: 24 * 7,
        min_every_hours: 24,
        licence: "CC0 1.0",
        attribution: "AllThePlaces, CC0",
        about: "https://www.alltheplaces.xyz",
    },
];

/// A country by its ISO 3166-1 alpha-2 code. Unlike [`Country::parse`], names and other codes are rejected: the code
/// becomes a part of a feed's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AreaCode(Country);

/// The name of a spider: 1 to 50 of a-z, 0-9 and `_`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpiderName(String);

/// The selected parts of a source, in the order of the arguments, without duplicates.
#[derive(Clone, Debug, Default)]
pub struct PresetArguments {
    /// The countries of `--area`.
    pub areas: Vec<AreaCode>,
    /// The spiders of `--spider`.
    pub spiders: Vec<SpiderName>,
    /// The hours of `--every`.
    pub every_hours: Option<u32>,
}

/// An invalid argument of a preset.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPreset {
    /// The name of no preset.
    #[error(
        "no preset is named '{0}'; presets are {names}, and any other feed needs its URL: \
         'signpost atms feeds add NAME URL'",
        names = PRESETS.map(|preset| preset.name).join(", ")
    )]
    UnknownName(String),
    /// Not an area code.
    #[error("'{text}' is not an ISO 3166-1 alpha-2 code, such as US or CA{suggestion}")]
    Area {
        /// The value.
        text: String,
        /// The code of the country with this name, in words.
        suggestion: String,
    },
    /// Not the name of a spider.
    #[error(
        "'{0}' is not the name of a spider: 1 to {max} of a-z, 0-9 and _, such as coin_flip_us; \
         https://www.alltheplaces.xyz/spiders.html lists them",
        max = MAX_SPIDER_CHARS
    )]
    Spider(String),
    /// The argument that selects the part is missing.
    #[error("{name} needs {argument}, such as '{argument} {example}'")]
    MissingArgument {
        /// The name of the preset.
        name: &'static str,
        /// The flag.
        argument: &'static str,
        /// An example of its value.
        example: &'static str,
    },
    /// An argument of another preset.
    #[error("{name} has no {argument}, which is an argument of {other}")]
    ForeignArgument {
        /// The name of the preset.
        name: &'static str,
        /// The flag.
        argument: &'static str,
        /// The preset with this argument.
        other: &'static str,
    },
    /// Too many parts.
    #[error("{0} feeds are too many for a command; at most {max} can be added at once", max = MAX_FEEDS_AT_ONCE)]
    TooMany(usize),
    /// The interval is too short.
    #[error("--every {hours} is too often for {name}, a public server; allowed are {min} to 8760 hours")]
    TooOften {
        /// The name of the preset.
        name: &'static str,
        /// The requested interval.
        hours: u32,
        /// The minimum.
        min: u32,
    },
}

impl Preset {
    /// Returns the preset with this name.
    ///
    /// # Errors
    /// [`InvalidPreset::UnknownName`].
    pub fn find(name: &str) -> Result<&'static Self, InvalidPreset> {
        let found = PRESETS.iter().find(|preset| preset.name == name);
        found.ok_or_else(|| InvalidPreset::UnknownName(name.to_owned()))
    }

    /// Returns the feeds for the selected parts of the source, as they are before their first fetch.
    ///
    /// # Errors
    /// If an argument is missing, belongs to another preset, or is out of range.
    pub fn feeds(&self, arguments: &PresetArguments) -> Result<Vec<Feed>, InvalidPreset> {
        let parts = self.selected_parts(arguments)?;
        if parts.len() > MAX_FEEDS_AT_ONCE {
            return Err(InvalidPreset::TooMany(parts.len()));
        }
        let hours = arguments.every_hours.unwrap_or(self.every_hours);
        if hours < self.min_every_hours {
            return Err(InvalidPreset::TooOften { name: self.name, hours, min: self.min_every_hours });
        }
        Ok(parts.iter().map(|part| self.feed(part.as_deref(), hours)).collect())
    }

    /// Returns the name of the feeds, with a placeholder for the part.
    #[must_use]
    pub fn feed_name(&self) -> String {
        match self.part {
            PresetPart::Whole => self.name.to_owned(),
            PresetPart::Area => format!("{}-AREA", self.name),
            PresetPart::Spider => format!("{}-SPIDER", self.name),
        }
    }

    /// Returns the URL for people, with the word `AREA` or `SPIDER` for the part.
    #[must_use]
    pub fn url_pattern(&self) -> String {
        let word = match self.part {
            PresetPart::Whole => return self.url.to_owned(),
            PresetPart::Area => "AREA",
            PresetPart::Spider => "SPIDER",
        };
        let url = self.url.replace(PLACEHOLDER, word);
        match self.query {
            Some(query) => format!("{url}?data={}", query.replace(PLACEHOLDER, word)),
            None => url,
        }
    }

    fn selected_parts(&self, arguments: &PresetArguments) -> Result<Vec<Option<String>>, InvalidPreset> {
        let PresetArguments { areas, spiders, .. } = arguments;
        if self.part != PresetPart::Area && !areas.is_empty() {
            return Err(InvalidPreset::ForeignArgument { name: self.name, argument: "--area", other: "osm" });
        }
        if self.part != PresetPart::Spider && !spiders.is_empty() {
            return Err(InvalidPreset::ForeignArgument {
                name: self.name,
                argument: "--spider",
                other: "alltheplaces",
            });
        }
        let (parts, argument, example) = match self.part {
            PresetPart::Whole => return Ok(vec![None]),
            PresetPart::Area => (distinct(areas), "--area", "US,CA"),
            PresetPart::Spider => (distinct(spiders), "--spider", "coin_flip_us"),
        };
        if parts.is_empty() {
            return Err(InvalidPreset::MissingArgument { name: self.name, argument, example });
        }
        Ok(parts.into_iter().map(Some).collect())
    }

    fn feed(&self, part: Option<&str>, hours: u32) -> Feed {
        let name = match part {
            Some(part) => format!("{}-{part}", self.name),
            None => self.name.to_owned(),
        };
        let format: FormatChoice = self.format.parse().expect("the presets have known formats, which a test checks");
        let every = Some(Duration::from_hours(hours.into()));
        Feed::new(name, self.feed_url(part.unwrap_or_default()), format, self.attribution.to_owned(), every)
    }

    fn feed_url(&self, part: &str) -> String {
        let url = self.url.replace(PLACEHOLDER, part);
        match self.query {
            Some(query) => Url::parse_with_params(&url, [("data", query.replace(PLACEHOLDER, part))])
                .expect("the presets have valid URLs, which a test checks")
                .into(),
            None => url,
        }
    }
}

/// Returns the texts of the parts without duplicates, in their order.
fn distinct(parts: &[impl fmt::Display]) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for part in parts {
        let text = part.to_string();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

impl FromStr for AreaCode {
    type Err = InvalidPreset;

    fn from_str(text: &str) -> Result<Self, InvalidPreset> {
        let text = text.trim();
        let country = Country::parse(text);
        match country {
            Some(country) if country.code().eq_ignore_ascii_case(text) => Ok(Self(country)),
            _ => Err(InvalidPreset::Area {
                text: text.to_owned(),
                suggestion: country.map(|country| format!("; did you mean {}?", country.code())).unwrap_or_default(),
            }),
        }
    }
}

impl FromStr for SpiderName {
    type Err = InvalidPreset;

    fn from_str(text: &str) -> Result<Self, InvalidPreset> {
        let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if (1..=MAX_SPIDER_CHARS).contains(&text.len()) && text.bytes().all(is_name) {
            return Ok(Self(text.to_owned()));
        }
        Err(InvalidPreset::Spider(text.to_owned()))
    }
}

impl fmt::Display for AreaCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.code())
    }
}

impl fmt::Display for SpiderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
