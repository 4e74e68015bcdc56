//! A row of the file as it is written, and what it may say.

use jiff::civil::Date;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use signpost_locator::{Country, Region, fold};
use url::Url;

use super::{Advisory, AdvisoryArea, AdvisoryKind, AdvisorySource, AdvisoryStatus, AdvisoryValues, SourceClass};

/// Most words of a text: half of what a reply has for all of them.
pub const MAX_WORDS: usize = 60;
/// Most characters of a text, a name or an address.
const MAX_TEXT_CHARS: usize = 400;
/// For how many days a row is not doubted, where it does not say.
const REVIEW_DAYS: u16 = 180;

/// A row as it is written.
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
    /// The row, where what it says can be.
    pub(super) fn check(self) -> Result<Advisory, String> {
        let Self { id, kind, area, status, effective, until, text, text_es, values, source, checked, review_days } =
            self;
        let told = |reason: &str| format!("{id}: {reason}");
        let is_id = (1..=80).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if !is_id {
            return Err(format!("id '{id}' is not 1 to 80 of a to z, 0 to 9 and '-'"));
        }
        if status == AdvisoryStatus::Enacted && effective.is_none() {
            return Err(told("a law that is enacted needs effective, the day on which it takes effect"));
        }
        if until.zip(effective).is_some_and(|(until, effective)| until <= effective) {
            return Err(told("until is not after effective"));
        }
        let review_days = review_days.unwrap_or(REVIEW_DAYS);
        if !(1..=3_650).contains(&review_days) {
            return Err(told("review_days is not 1 to 3650"));
        }
        let text = plain(&text).ok_or_else(|| told("text is empty, or longer than 400 characters"))?;
        let words = text.split_whitespace().count();
        if words > MAX_WORDS {
            return Err(told(&format!("text has {words} words; at most {MAX_WORDS} are told")));
        }
        let text_es =
            text_es.map(|text| plain(&text).ok_or_else(|| told("text_es is empty, or longer than 400 characters")));
        let text_es = text_es.transpose()?;
        let is_http = |url: &Url| {
            matches!(url.scheme(), "http" | "https")
                && url.host_str().is_some()
                && url.username().is_empty()
                && url.password().is_none()
        };
        let url = Url::parse(&source.url).ok().filter(is_http);
        let url = url.filter(|_| source.url.len() <= MAX_TEXT_CHARS);
        let url = url.ok_or_else(|| told("source.url is not an http or https address"))?.to_string();
        let title =
            plain(source.title.as_deref().unwrap_or(&url)).ok_or_else(|| told("source.title is empty, or too long"))?;
        let area = area.check().map_err(|reason| told(&reason))?;
        let source = AdvisorySource { url, title, class: source.class.unwrap_or(SourceClass::News) };
        Ok(Advisory { id, kind, area, status, effective, until, text, text_es, values, source, checked, review_days })
    }
}

impl AreaFields {
    pub(super) fn check(self) -> Result<AdvisoryArea, String> {
        let named = |text: Option<String>, what: &str| match text {
            None => Ok(None),
            Some(text) => {
                plain(&text).filter(|text| !fold(text).is_empty()).map(Some).ok_or(format!("{what} is empty"))
            }
        };
        let (city, operator) = (named(self.city, "where.city")?, named(self.operator, "where.operator")?);
        let country = self.country.map(|text| {
            let code = Country::parse(&text).filter(|country| country.code() == text);
            code.ok_or(format!("where.country '{text}' is not a code of a country, such as US"))
        });
        let country = country.transpose()?;
        let region = self.region.map(|text| {
            let code = Region::parse(&text).filter(|region| region.code() == text);
            code.ok_or(format!("where.region '{text}' is not a code of a US state or Canadian province, such as MN"))
        });
        let region = region.transpose()?;
        if let Some((region, country)) = region.zip(country)
            && region.country() != country
        {
            return Err(format!("where.region {region} is not in {}", country.name()));
        }
        if city.is_some() && region.is_none() && country.is_none() {
            return Err("where.city needs the region or country that it is in".to_owned());
        }
        let is_on_earth = |[west, south, east, north]: [f64; 4]| {
            let is_in = |number: f64, most: f64| (-most..=most).contains(&number);
            is_in(west, 180.0) && is_in(east, 180.0) && is_in(south, 90.0) && is_in(north, 90.0) && south <= north
        };
        if self.bbox.is_some_and(|bbox| !is_on_earth(bbox)) {
            return Err("where.bbox is not [west, south, east, north] in degrees".to_owned());
        }
        let country = country.or_else(|| region.map(Region::country));
        Ok(AdvisoryArea { country, region, city, operator, bbox: self.bbox })
    }
}

/// A text on one line, without what cannot be seen; none where it is empty or too long.
fn plain(text: &str) -> Option<String> {
    let text = signpost_text::line(text).trim().to_owned();
    (1..=MAX_TEXT_CHARS).contains(&text.chars().count()).then_some(text)
}

fn date<'de, D: Deserializer<'de>>(from: D) -> Result<Date, D::Error> {
    let written = toml::value::Datetime::deserialize(from)?;
    let whole = written.date.filter(|_| written.time.is_none() && written.offset.is_none());
    let date = whole.and_then(|date| {
        let (month, day) = (i8::try_from(date.month).ok()?, i8::try_from(date.day).ok()?);
        Date::new(i16::try_from(date.year).ok()?, month, day).ok()
    });
    date.ok_or_else(|| D::Error::custom("a date without a time is needed, such as 2026-08-01"))
}

/// A date, where there is one.
pub(super) fn optional_date<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Date>, D::Error> {
    date(from).map(Some)
}
