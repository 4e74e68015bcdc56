//! From the cells of a row to what they say.

use sha2::{Digest, Sha256};

use super::columns::Field;
use crate::address::{Address, parse_postcode};
use crate::atm::{Hours, Record, Reported};
use crate::country::Country;
use crate::point::Point;
use crate::region::Region;

/// Most characters in a cell that is kept.
const LONGEST_TEXT: usize = 500;

/// A field that is unknown, the cell because of which it is, and what is wrong with it.
pub(super) type Doubtful = (Field, String, &'static str);

/// The cells of a row, and what could not be understood of them.
struct Reading<'a> {
    cell: &'a dyn Fn(Field) -> &'a str,
    doubts: Vec<Doubtful>,
}

/// What the row says, or why it cannot be a machine.
pub(super) fn record<'a>(
    cell: &'a dyn Fn(Field) -> &'a str,
    country: Option<Country>,
) -> Result<(Record, Vec<Doubtful>), String> {
    let mut record = Record::at(point(cell(Field::Lat), cell(Field::Lon))?);
    let mut read = Reading { cell, doubts: Vec::new() };
    record.source_ref = read.text(Field::Ref);
    record.name = read.text(Field::Name);
    record.operator = read.text(Field::Operator);
    record.address = read.address(country);
    record.hours = read.text(Field::Hours).as_deref().and_then(Hours::parse);
    record.reported = read.as_one_of(Field::Status, reported, "not a known state of a machine").unwrap_or_default();
    record.phone = read.as_one_of(Field::Phone, phone, "not a telephone number");
    record.website = read.as_one_of(Field::Website, website, "not an http or https address");
    Ok((record, read.doubts))
}

/// What tells a machine without an identifier from others: its name, address and coordinates, hashed.
pub(super) fn hash(record: &Record) -> String {
    let (lat, lon) = (record.point.lat(), record.point.lon());
    let name = record.name.clone().unwrap_or_default();
    let address = record.address.one_line().unwrap_or_default();
    let digest = Sha256::digest(format!("{lat:.6}\n{lon:.6}\n{name}\n{address}"));
    let half: [u8; 16] = digest[..16].try_into().expect("SHA-256 has 32 bytes");
    format!("{:032x}", u128::from_be_bytes(half))
}

fn point(lat: &str, lon: &str) -> Result<Point, String> {
    if lat.trim().is_empty() || lon.trim().is_empty() {
        return Err("no coordinates".to_owned());
    }
    let degrees = |text: &str| text.trim().replace(',', ".").parse::<f64>().ok();
    let (Some(north), Some(east)) = (degrees(lat), degrees(lon)) else {
        return Err(format!("coordinates are not numbers: {}", shown(lat, lon)));
    };
    if north == 0.0 && east == 0.0 {
        return Err("coordinates are 0, 0".to_owned());
    }
    Point::new(north, east).ok_or_else(|| {
        format!("coordinates out of range (latitude -90 to 90, longitude -180 to 180): {}", shown(lat, lon))
    })
}

/// Two cells in a message, however long they are.
fn shown(lat: &str, lon: &str) -> String {
    [lat, lon].map(|text| text.trim().chars().take(40).collect::<String>()).join(", ")
}

impl Reading<'_> {
    /// A cell on one line, without control characters.
    fn text(&mut self, field: Field) -> Option<String> {
        let cell = (self.cell)(field);
        let spaced: String = cell.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
        let text = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.chars().count() > LONGEST_TEXT {
            self.doubt(field, "longer than 500 characters");
            return None;
        }
        Some(text).filter(|text| !text.is_empty())
    }

    fn as_one_of<T>(&mut self, field: Field, parse: fn(&str) -> Option<T>, wrong: &'static str) -> Option<T> {
        let text = self.text(field)?;
        let value = parse(&text);
        if value.is_none() {
            self.doubt(field, wrong);
        }
        value
    }

    fn doubt(&mut self, field: Field, reason: &'static str) {
        self.doubts.push((field, (self.cell)(field).to_owned(), reason));
    }

    /// The address from its own columns; what they lack, from the address on one line.
    fn address(&mut self, default: Option<Country>) -> Address {
        let formatted = self.text(Field::Address);
        let line = formatted.as_deref().and_then(Address::parse).unwrap_or_default();
        let country = self.as_one_of(Field::Country, Country::parse, "not a country");
        let mut country = country.or(line.country).or(default);
        let mut region = self.text(Field::Region).or(line.region);
        // A territory of the United States has a country code of its own, which some sources use.
        if let Some(territory) = country.and_then(territory) {
            (country, region) = (Some(Country::UNITED_STATES), Some(territory.code().to_owned()));
        }
        let here = country.is_none_or(|country| [Country::UNITED_STATES, Country::CANADA].contains(&country));
        if let Some(text) = region.as_deref().filter(|_| here) {
            let known = Region::parse(text).filter(|region| country.is_none_or(|country| country == region.country()));
            match known {
                Some(known) => (country, region) = (Some(known.country()), Some(known.code().to_owned())),
                None if country.is_some() => {
                    self.doubt(Field::Region, "not a state, province or territory of the country");
                    region = None;
                }
                None => {}
            }
        }
        let postcode = self.postcode(country).or(line.postcode);
        let street = self.text(Field::Street).or(line.street);
        let city = self.text(Field::City).or(line.city);
        Address { street, city, region, postcode, country, formatted }
    }

    fn postcode(&mut self, country: Option<Country>) -> Option<String> {
        let text = self.text(Field::Postcode)?;
        match (parse_postcode(&text), country) {
            (Some((postcode, its)), Some(country)) if its == country => Some(postcode),
            (_, Some(Country::UNITED_STATES)) => {
                self.doubt(Field::Postcode, "not a ZIP code of 5 or 9 digits");
                None
            }
            (_, Some(Country::CANADA)) => {
                self.doubt(Field::Postcode, "not a Canadian postal code, such as M5V 2T6");
                None
            }
            _ => Some(text),
        }
    }
}

/// The territory of the United States that has this country code.
fn territory(country: Country) -> Option<Region> {
    ["AS", "GU", "MP", "PR", "VI"].contains(&country.code()).then(|| Region::parse(country.code()))?
}

/// The words in which sources report a state.
fn reported(text: &str) -> Option<Reported> {
    const WORDS: [(Reported, &[&str]); 5] = [
        (
            Reported::InService,
            &[
                "in service",
                "active",
                "enabled",
                "online",
                "open",
                "operational",
                "available",
                "working",
                "live",
                "true",
            ],
        ),
        (
            Reported::OutOfService,
            &[
                "out of service",
                "inactive",
                "disabled",
                "offline",
                "out of order",
                "broken",
                "down",
                "unavailable",
                "not working",
                "false",
            ],
        ),
        (
            Reported::TemporarilyClosed,
            &["temporarily closed", "closed temporarily", "maintenance", "under maintenance"],
        ),
        (
            Reported::PermanentlyClosed,
            &["permanently closed", "closed permanently", "removed", "deleted", "decommissioned"],
        ),
        (Reported::Unknown, &["unknown", "not reported", "n/a"]),
    ];
    let words = text.to_ascii_lowercase().replace(['_', '-'], " ");
    WORDS.iter().find(|(_, known)| known.contains(&words.as_str())).map(|(reported, _)| *reported)
}

fn phone(text: &str) -> Option<String> {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let extension = |letter: char| "extEXT".contains(letter);
    let usual = |letter: char| letter.is_ascii_digit() || " +-().,/#:;".contains(letter) || extension(letter);
    ((5..=20).contains(&digits) && text.chars().all(usual)).then(|| text.to_owned())
}

/// An address of the web; without a scheme it is taken for `https`.
fn website(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let bare = lower.strip_prefix("https://").or_else(|| lower.strip_prefix("http://"));
    let host = bare.unwrap_or(&lower).split(['/', '?', '#']).next().unwrap_or_default();
    let usual = |byte: u8| byte.is_ascii_alphanumeric() || b".-:".contains(&byte) || !byte.is_ascii();
    let plausible = host.contains('.') && !host.starts_with('.') && host.bytes().all(usual) && !text.contains(' ');
    plausible.then(|| if bare.is_some() { text.to_owned() } else { format!("https://{text}") })
}
