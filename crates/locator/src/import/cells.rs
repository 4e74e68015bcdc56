//! Parses the cells of a row.

use std::collections::BTreeMap;
use std::sync::Arc;

use arcstr::ArcStr;
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::amount;
use super::contacts;
use super::coordinates;
use super::field::Field;
use super::local_date::{DayOrders, LocalDateError};
use super::markup::{join_lines, plain_text};
use super::options::Options;
use super::placeholders::is_placeholder;
use super::time::{DateError, End, is_in_future, parse_end, parse_time};
use super::words;
use crate::atm::{Coin, MoreFields, Record, ReportedState};
use crate::gazetteer::Gazetteer;
use crate::hours::Hours;
use crate::point::Point;
use crate::terms::{CashLimits, Currency, Decimal, Fees};
use crate::tri::Tri;

/// Maximum characters of a cell.
const MAX_CELL_CHARS: usize = 500;

/// A field that is unknown because of an invalid cell, the cell, and the reason.
pub(super) type CellProblem = (Field, String, &'static str);

/// The rules for all rows of a file.
#[derive(Clone, Copy)]
pub(super) struct RowContext<'a> {
    pub(super) options: &'a Options,
    /// The places for addresses on one line.
    pub(super) gazetteer: Option<&'a Gazetteer>,
    /// The order of day and month in the columns of dates.
    pub(super) day_orders: &'a DayOrders,
}

/// A row that is an ATM.
pub(super) struct ParsedRow {
    pub(super) record: Record,
    /// `ref:` and the source's identifier, else `row:` and a hash, which other rows may have too.
    pub(super) key: String,
    pub(super) problems: Vec<CellProblem>,
}

/// The dates of a row that are in no cell.
#[derive(Clone, Copy, Default)]
pub(super) struct OtherDates<'a> {
    /// More dates of a field, used in this order if the cell of the field has no readable date.
    pub(super) of_fields: &'a [(Field, String)],
    /// The date of the whole document, for records without a date.
    pub(super) of_document: Option<&'a str>,
}

/// The cells of a row, and the problems in them.
pub(super) struct RowReader<'a> {
    cell: &'a dyn Fn(Field) -> &'a str,
    dates: OtherDates<'a>,
    now: Option<Timestamp>,
    is_strict: bool,
    pub(super) point: Point,
    pub(super) gazetteer: Option<&'a Gazetteer>,
    day_orders: &'a DayOrders,
    problems: Vec<CellProblem>,
}

/// Parses a row, or returns the reason why it is not an ATM.
pub(super) fn parse<'a>(
    cell: &'a dyn Fn(Field) -> &'a str,
    dates: OtherDates<'a>,
    context: RowContext<'a>,
) -> Result<ParsedRow, String> {
    let RowContext { options, gazetteer, day_orders } = context;
    let point = coordinates::point(cell(Field::Lat), cell(Field::Lon), cell(Field::Coordinates))?;
    let mut record = Record::at(point);
    let mut read = RowReader {
        cell,
        dates,
        now: options.now,
        is_strict: options.strict,
        point,
        gazetteer,
        day_orders,
        problems: Vec::new(),
    };
    record.source_ref = read.identifier();
    record.name = read.text(Field::Name);
    record.operator = read.text(Field::Operator);
    record.brand = read.text(Field::Brand);
    record.address = read.address(options.country);
    record.hours = read.hours();
    record.time_zone = read.as_one_of(Field::TimeZone, words::time_zone, "not the IANA name of a time zone");
    let state = read.as_one_of(Field::Status, words::parse_reported_state, "not a known state of an ATM");
    record.reported = state.unwrap_or_default();
    record.verified_at = read.date(Field::VerifiedAt);
    record.reported_at = read.reported_at(record.verified_at).or(options.as_of);
    let end = read.end();
    if end == Some(End::Passed) {
        record.reported = ReportedState::PermanentlyClosed;
    }
    (record.buy, record.sell) = read.services();
    record.coins = Arc::new(read.coins().into_iter().map(|coin| (coin, Tri::Yes)).collect());
    record.phone = read.as_one_of(Field::Phone, contacts::phone, "not a telephone number");
    record.website = read.as_one_of(Field::Website, contacts::website, "not an http or https address");
    let mut more = read.more();
    if let Some(End::On(date)) = end {
        more.end_date = Some(date);
    }
    record.more = (more != MoreFields::default()).then(|| Box::new(more));
    let key = match &record.source_ref {
        Some(own) => format!("ref:{own}"),
        None => format!("row:{}", hash(&record, cell)),
    };
    Ok(ParsedRow { record, key, problems: read.problems })
}

/// Returns the text on one line, without invisible characters and with single spaces.
pub(super) fn text(written: &str) -> String {
    signpost_text::clean_line(written).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the plain text of a cell on one line. Line breaks separate rules of hours and parts of addresses.
fn plain_line(field: Field, cell: &str) -> String {
    let separator = match field {
        // Another identifier would be another ATM.
        Field::Ref => return text(cell),
        Field::Hours | Field::SupportHours | Field::Phone | Field::Email => "; ",
        Field::Address | Field::Street | Field::City | Field::Region | Field::Coins | Field::Fiat => ", ",
        _ => " ",
    };
    let plain = plain_text(cell);
    // In other fields, a line break is a space.
    if separator == " " || !plain.contains('\n') {
        return text(&plain);
    }
    let lines: Vec<String> = plain.split('\n').map(text).collect();
    join_lines(&lines, separator)
}

/// Checks for a number such as `1.23457E+11`.
fn is_rounded(text: &str) -> bool {
    let Some((number, exponent)) = text.split_once("E+") else { return false };
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((whole, fraction)) = number.split_once(['.', ',']) else { return false };
    are_digits(whole) && are_digits(fraction) && are_digits(exponent)
}

/// Returns the hash of name, address and coordinates, as a substitute for an identifier of the source. The name and the
/// address on one line are those of the cells, so that better reading of them does not change the key of an ATM.
fn hash<'a>(record: &Record, cell: &dyn Fn(Field) -> &'a str) -> String {
    let lat = record.point.lat();
    let lon = record.point.lon();
    let [name, line] = [Field::Name, Field::Address].map(|field| {
        let text = text(cell(field));
        if text.chars().count() > MAX_CELL_CHARS { String::new() } else { text }
    });
    let address = if line.is_empty() { record.address.one_line().unwrap_or_default() } else { line.into() };
    let digest = Sha256::digest(format!("{lat:.6}\n{lon:.6}\n{name}\n{address}"));
    let half: [u8; 16] = digest[..16].try_into().expect("SHA-256 has 32 bytes");
    format!("{:032x}", u128::from_be_bytes(half))
}

impl RowReader<'_> {
    /// Returns the text of a cell.
    pub(super) fn text(&mut self, field: Field) -> Option<ArcStr> {
        let text = plain_line(field, (self.cell)(field));
        if text.chars().count() > MAX_CELL_CHARS {
            self.report(field, "longer than 500 characters");
            return None;
        }
        if text.is_empty() || is_placeholder(field, &text) { None } else { Some(text.into()) }
    }

    /// Returns the source's identifier. A number that a spreadsheet has rounded is none: others would have it, too.
    fn identifier(&mut self) -> Option<ArcStr> {
        let text = self.text(Field::Ref)?;
        if is_rounded(&text) {
            self.report(Field::Ref, "a number that a spreadsheet has rounded: format the column as text");
            return None;
        }
        Some(text)
    }

    /// Parses a cell. A cell that is not blank and cannot be parsed is reported.
    pub(super) fn as_one_of<T>(
        &mut self,
        field: Field,
        parse: fn(&str) -> Option<T>,
        wrong: &'static str,
    ) -> Option<T> {
        let text = self.text(field)?;
        let value = parse(&text);
        if value.is_none() {
            self.report(field, wrong);
        }
        value
    }

    pub(super) fn report(&mut self, field: Field, reason: &'static str) {
        self.problems.push((field, text((self.cell)(field)), reason));
    }

    fn hours(&mut self) -> Option<Hours> {
        let (hours, is_understood) = Hours::parse_checked(&self.text(Field::Hours)?)?;
        if !is_understood {
            self.report(Field::Hours, "not hours that can be evaluated, such as Mo-Fr 09:00-17:00; kept as text");
        }
        Some(hours)
    }

    /// Returns the date of the record: the first readable date of the report, the last verification, the last change
    /// and the creation, else the date of the document.
    fn reported_at(&mut self, verified_at: Option<Timestamp>) -> Option<Timestamp> {
        let reported_at = self.date(Field::ReportedAt);
        let updated_at = self.date(Field::UpdatedAt);
        let created_at = self.date(Field::CreatedAt);
        let own = reported_at.or(verified_at).or(updated_at).or(created_at);
        match self.dates.of_document {
            Some(text) if own.is_none() => self.time(Field::ReportedAt, text),
            _ => own,
        }
    }

    /// Returns the first readable date of a field. Dates that cannot be read are problems.
    fn date(&mut self, field: Field) -> Option<Timestamp> {
        let mut date = self.time(field, (self.cell)(field));
        for (of, text) in self.dates.of_fields {
            if *of == field {
                date = date.or(self.time(field, text));
            }
        }
        date
    }

    /// Parses the date of data. A text that is not blank and is no such date is a problem.
    fn time(&mut self, field: Field, written: &str) -> Option<Timestamp> {
        let written = plain_line(field, written);
        if written.is_empty() || is_placeholder(field, &written) {
            return None;
        }
        let parsed = match parse_time(&written) {
            Some(time) => Ok(time),
            None => self.day_orders.parse_time(field, &written).map_err(LocalDateError::reason),
        };
        match parsed {
            Ok(time) if !is_in_future(time, self.now) => return Some(time),
            Ok(_) => self.problems.push((field, written, DateError::Future.reason())),
            Err(reason) => self.problems.push((field, written, reason)),
        }
        None
    }

    /// Returns the statement about the closure of the ATM.
    fn end(&mut self) -> Option<End> {
        let text = self.text(Field::EndDate)?;
        if let Some(end) = parse_end(&text) {
            return Some(end);
        }
        match self.day_orders.parse_day(Field::EndDate, &text) {
            Ok(day) => return Some(End::On(day)),
            Err(LocalDateError::Unreadable) => {
                self.report(Field::EndDate, "neither a date, such as 2027-06-30, nor yes or no");
            }
            Err(error) => self.report(Field::EndDate, error.reason()),
        }
        None
    }

    fn services(&mut self) -> (Tri, Tri) {
        let services = self.as_one_of(Field::Services, words::services, "not a way to trade, such as 'buy and sell'");
        let services = services.unwrap_or_default();
        let buys = self.tri(Field::Buy).unwrap_or(services.0);
        (buys, self.tri(Field::Sell).unwrap_or(services.1))
    }

    fn tri(&mut self, field: Field) -> Option<Tri> {
        self.as_one_of(field, words::parse_tri, "neither yes nor no")
    }

    fn percent(&mut self, field: Field) -> Option<Decimal> {
        let parse = if self.is_strict { Decimal::parse } else { amount::parse_percent };
        self.as_one_of(field, parse, "not a number, such as 12.5")
    }

    fn amount(&mut self, field: Field) -> Option<Decimal> {
        let parse = if self.is_strict { Decimal::parse } else { amount::parse_amount };
        self.as_one_of(field, parse, "not an amount, such as 1,000.50 or 1.000,50")
    }

    fn coins(&mut self) -> Vec<Coin> {
        let Some(text) = self.text(Field::Coins) else { return Vec::new() };
        let (coins, are_all_known) = words::coins(&text);
        if !are_all_known {
            self.report(Field::Coins, "names something that is not a coin");
        }
        coins
    }

    /// Parses the rare fields.
    fn more(&mut self) -> MoreFields {
        let code = "not a currency, such as USD";
        let [buy_percent, sell_percent] = [Field::BuyFee, Field::SellFee].map(|field| self.percent(field));
        let [buy_fixed, sell_fixed, min, max, max_day, kyc_above] =
            [Field::BuyFeeFixed, Field::SellFeeFixed, Field::Min, Field::Max, Field::MaxDay, Field::KycAbove]
                .map(|field| self.amount(field));
        let currency = self.as_one_of(Field::Currency, Currency::parse, code);
        let fiat = self.as_one_of(Field::Fiat, |text| text.split([',', ';']).map(Currency::parse).collect(), code);
        let mut fees = Fees { buy_percent, buy_fixed, sell_percent, sell_fixed, currency: None };
        let mut limits = CashLimits { min, max, max_day, kyc_above, currency: None };
        fees.currency = currency.filter(|_| !fees.is_empty());
        limits.currency = currency.filter(|_| !limits.is_empty());
        let image = self.as_one_of(Field::Image, contacts::website, "not an http or https address");
        MoreFields {
            fees,
            limits,
            kyc: self.as_one_of(Field::Kyc, words::kyc, "not one of none, phone and id").unwrap_or_default(),
            trades: BTreeMap::new(),
            fiat: fiat.unwrap_or_default(),
            brand_wikidata: self.as_one_of(Field::BrandWikidata, words::wikidata, "not an item of Wikidata"),
            network: self.text(Field::Network),
            located_in: self.text(Field::LocatedIn),
            indoor: self.tri(Field::Indoor).unwrap_or_default(),
            level: self.text(Field::Level),
            note: self.text(Field::Note),
            wheelchair: self.tri(Field::Wheelchair).unwrap_or_default(),
            manufacturer: self.text(Field::Manufacturer),
            model: self.text(Field::Model),
            email: self.as_one_of(Field::Email, contacts::email, "not an e-mail address"),
            support_hours: self.text(Field::SupportHours),
            notice: self.text(Field::Notice),
            images: image.into_iter().collect(),
            source_url: self.as_one_of(Field::SourceUrl, contacts::website, "not an http or https address"),
            machine_ref: self.text(Field::MachineRef),
            end_date: None,
        }
    }
}
