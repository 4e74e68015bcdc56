//! Deserialization and validation of a row of the advisories file.

use jiff::civil::Date;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use signpost_locator::{Country, Region, fold};
use toml::value::Datetime;
use url::Url;

use super::{Advisory, AdvisoryArea, AdvisoryKind, AdvisorySource, AdvisoryStatus, AdvisoryValues, SourceClass};

/// Maximum number of words in the text of an advisory: half of the limit for all advisories of a reply.
pub const MAX_WORDS: usize = 60;
/// Maximum length of a text, a name or a URL, in characters.
const MAX_TEXT_CHARS: usize = 400;
/// Default number of days until the source of an advisory must be reviewed.
const REVIEW_DAYS: u16 = 180;

/// The deserialized fields of a row, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RowFields {
    id: String,
    kind: AdvisoryKind,
    #[serde(default, rename = "where")]
    area: AreaFields,
    status: AdvisoryStatus,
    #[serde(default, deserialize_with = "optional_date")]
    effective: Option<Date>,
    #[serde(default, deserialize_with = "optional_date")]
    until: Option<Date>,
    text: String,
    #[serde(default)]
    text_es: Option<String>,
    #[serde(default)]
    values: AdvisoryValues,
    source: SourceFields,
    #[serde(deserialize_with = "date")]
    checked: Date,
    #[serde(default)]
    review_days: Option<u16>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct AreaFields {
    country: Option<String>,
    region: Option<String>,
    city: Option<String>,
    operator: Option<String>,
    bbox: Option<[f64; 4]>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceFields {
    url: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    class: Option<SourceClass>,
}

impl RowFields {
    /// Validates the fields and converts them to an advisory, or returns the reason why the row is invalid.
    pub(super) fn check(self) -> Result<Advisory, String> {
        let id = self.id.clone();
        let is_valid = (1..=80).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if !is_valid {
            return Err(format!("id '{id}' is not 1 to 80 of a to z, 0 to 9 and '-'"));
        }
        self.check_fields().map_err(|reason| format!("{id}: {reason}"))
    }

    fn check_fields(self) -> Result<Advisory, String> {
        let Self { id, kind, area, status, effective, until, text, text_es, values, source, checked, review_days } =
            self;
        if status == AdvisoryStatus::Enacted && effective.is_none() {
            return Err("a law that is enacted needs effective, the day on which it takes effect".to_owned());
        }
        if until.zip(effective).is_some_and(|(until, effective)| until <= effective) {
            return Err("until is not after effective".to_owned());
        }
        let review_days = review_days.unwrap_or(REVIEW_DAYS);
        if !(1..=3_650).contains(&review_days) {
            return Err("review_days is not 1 to 3650".to_owned());
        }
        let text = plain(&text).ok_or("text is empty, or longer than 400 characters")?;
        let words = text.split_whitespace().count();
        if words > MAX_WORDS {
            return Err(format!("text has {words} words; at most {MAX_WORDS} are told"));
        }
        let text_es = match text_es {
            Some(text) => Some(plain(&text).ok_or("text_es is empty, or longer than 400 characters")?),
            None => None,
        };
        let url = http_url(&source.url).ok_or("source.url is not an http or https address")?;
        let title = plain(source.title.as_deref().unwrap_or(&url)).ok_or("source.title is empty, or too long")?;
        let area = area.check()?;
        let source = AdvisorySource { url, title, class: source.class.unwrap_or(SourceClass::News) };
        Ok(Advisory { id, kind, area, status, effective, until, text, text_es, values, source, checked, review_days })
    }
}

impl AreaFields {
    fn check(self) -> Result<AdvisoryArea, String> {
        let city = optional_name(self.city, "where.city")?;
        let operator = optional_name(self.operator, "where.operator")?;
        let country = self.country.as_deref().map(country_by_code).transpose()?;
        let region = self.region.as_deref().map(region_by_code).transpose()?;
        if let Some((region, country)) = region.zip(country)
            && region.country() != country
        {
            return Err(format!("where.region {region} is not in {}", country.name()));
        }
        if city.is_some() && region.is_none() && country.is_none() {
            return Err("where.city needs the region or country that it is in".to_owned());
        }
        if self.bbox.is_some_and(|bbox| !is_on_earth(bbox)) {
            return Err("where.bbox is not [west, south, east, north] in degrees".to_owned());
        }
        let country = country.or_else(|| region.map(Region::country));
        Ok(AdvisoryArea { country, region, city, operator, bbox: self.bbox })
    }
}

fn optional_name(text: Option<String>, field: &str) -> Result<Option<String>, String> {
    let Some(text) = text else { return Ok(None) };
    match plain(&text) {
        Some(name) if !fold(&name).is_empty() => Ok(Some(name)),
        _ => Err(format!("{field} is empty")),
    }
}

fn country_by_code(code: &str) -> Result<Country, String> {
    match Country::parse(code) {
        Some(country) if country.code() == code => Ok(country),
        _ => Err(format!("where.country '{code}' is not a code of a country, such as US")),
    }
}

fn region_by_code(code: &str) -> Result<Region, String> {
    match Region::parse(code) {
        Some(region) if region.code() == code => Ok(region),
        _ => Err(format!("where.region '{code}' is not a code of a US state or Canadian province, such as MN")),
    }
}

fn is_on_earth([west, south, east, north]: [f64; 4]) -> bool {
    [west, east].iter().all(|lon| (-180.0..=180.0).contains(lon))
        && [south, north].iter().all(|lat| (-90.0..=90.0).contains(lat))
        && south <= north
}

/// Returns the URL if it is an HTTP or HTTPS URL without credentials.
fn http_url(text: &str) -> Option<String> {
    if text.len() > MAX_TEXT_CHARS {
        return None;
    }
    let url = Url::parse(text).ok()?;
    let is_http = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
    let has_credentials = !url.username().is_empty() || url.password().is_some();
    (is_http && !has_credentials).then(|| url.into())
}

/// Removes line breaks and invisible characters from a text. Returns `None` if the result is empty or too long.
fn plain(text: &str) -> Option<String> {
    let text = signpost_text::clean_line(text).trim().to_owned();
    (1..=MAX_TEXT_CHARS).contains(&text.chars().count()).then_some(text)
}

fn date<'de, D: Deserializer<'de>>(from: D) -> Result<Date, D::Error> {
    let written = Datetime::deserialize(from)?;
    civil_date(&written).ok_or_else(|| D::Error::custom("a date without a time is needed, such as 2026-08-01"))
}

/// Converts a TOML date without a time.
fn civil_date(written: &Datetime) -> Option<Date> {
    if written.time.is_some() || written.offset.is_some() {
        return None;
    }
    let date = written.date?;
    Date::new(i16::try_from(date.year).ok()?, i8::try_from(date.month).ok()?, i8::try_from(date.day).ok()?).ok()
}

/// Deserializes the date of an optional field that is present.
pub(super) fn optional_date<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Date>, D::Error> {
    date(from).map(Some)
}
