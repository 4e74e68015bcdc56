//! An ATM in a list of results.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use signpost_locator::{AtmId, AtmStatus, CashLimits, Currency, Decimal, Distance, Fees};
use signpost_mcp::{CallError, Fragment, StructuredWriter, fragment};

use super::links::{PageLinks, directions};
use super::units::Units;
use crate::catalogue::{CatalogueEntry, Moment, NextOpening};
use crate::view::AtmView;

/// Maximum length of a source's text in a list, in characters.
const MAX_TEXT_CHARS: usize = 200;
/// Maximum length of name and address in a shortened row, in characters.
const MAX_SHORT_TEXT_CHARS: usize = 80;

/// Maximum size of the members that every row has, without their texts, in bytes.
const REQUIRED_SIZE: usize = 170;
/// Maximum size of the name and the quotes of a member, in bytes.
const MEMBER_SIZE: usize = 18;
/// Maximum size of a member with a time, in bytes.
const TIME_SIZE: usize = 50;
/// Maximum size of the member with directions, in bytes.
const DIRECTIONS_SIZE: usize = 75;

/// The format of rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowFormat<'a> {
    pub(super) units: Units,
    pub(super) pages: PageLinks<'a>,
}

/// An ATM in a list of results. Unknown members are left out.
pub(super) struct Item<'a> {
    id: AtmId,
    name: &'a str,
    operator: Option<&'a str>,
    /// In meters.
    distance: u64,
    format: RowFormat<'a>,
    status: AtmStatus,
    pub(super) status_reason: Option<&'a str>,
    status_as_of: Option<Timestamp>,
    /// When the ATM was last checked or reported.
    last_confirmed: Option<Timestamp>,
    address: Cow<'a, str>,
    lat: f64,
    lon: f64,
    has_directions: bool,
    phone: Option<&'a str>,
    hours: Option<&'a str>,
    opens_at: Option<&'a str>,
    closes_at: Option<&'a str>,
    fees: Option<&'a Fees>,
    limits: Option<&'a CashLimits>,
    /// The summary of the reports, if it is not the reason of the status.
    reports: Option<&'a str>,
}

/// Amounts with the names of their members, and their currency.
struct Amounts<'a> {
    amounts: [(&'static str, Option<&'a Decimal>); 4],
    currency: Option<Currency>,
}

impl<'a> Item<'a> {
    pub(super) fn new(
        moment: &Moment<'a>,
        entry: &'a CatalogueEntry,
        distance: Distance,
        format: RowFormat<'a>,
    ) -> Self {
        let view = AtmView::of(moment, entry);
        let record = view.record;
        let more = record.more.as_deref();
        let metres = distance.in_metres().round();
        let [lat, lon] = view.degrees();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most half the way around")]
        Self {
            id: entry.atm.id,
            name: clipped(record.title(), MAX_TEXT_CHARS),
            operator: record.operator.as_deref().map(|operator| clipped(operator, MAX_TEXT_CHARS)),
            distance: metres as u64,
            format,
            status: view.status.status,
            status_reason: view.reason(),
            status_as_of: view.status.as_of,
            last_confirmed: view.verified_at(),
            address: clipped_cow(view.address(), MAX_TEXT_CHARS),
            lat,
            lon,
            has_directions: false,
            phone: record.phone.as_deref().map(|phone| clipped(phone, MAX_TEXT_CHARS)),
            hours: record.hours.as_ref().map(|hours| clipped(hours.text(), MAX_TEXT_CHARS)),
            opens_at: None,
            closes_at: None,
            fees: more.map(|more| &more.fees).filter(|fees| !fees.is_empty()),
            limits: more.map(|more| &more.limits).filter(|limits| !limits.is_empty()),
            reports: view.reports.map(|reports| &*reports.summary).filter(|reports| view.reason() != Some(*reports)),
        }
    }

    /// Adds the time of the ATM's next opening or closing.
    pub(super) fn with_change(self, moment: &'a Moment<'_>, entry: &CatalogueEntry) -> Self {
        match moment.next_opening(entry, self.status) {
            Some(NextOpening::OpensAt(at)) => Self { opens_at: Some(at), ..self },
            Some(NextOpening::ClosesAt(at)) => Self { closes_at: Some(at), ..self },
            None => self,
        }
    }

    /// Adds directions, unless the ATM is permanently closed.
    pub(super) fn with_directions(self) -> Self {
        Self { has_directions: self.status != AtmStatus::PermanentlyClosed, ..self }
    }

    /// Returns the maximum size in a reply, in bytes.
    pub(super) fn size(&self) -> usize {
        let times = [self.status_as_of, self.last_confirmed].into_iter().flatten().count();
        let mut size = REQUIRED_SIZE + quoted_size(self.name) + quoted_size(&self.address) + times * TIME_SIZE;
        for text in self.optional_texts().into_iter().flatten() {
            size += MEMBER_SIZE + quoted_size(text);
        }
        size += MEMBER_SIZE + self.format.pages.max_atm_url();
        size += if self.has_directions { DIRECTIONS_SIZE } else { 0 };
        size + self.fees.map_or(0, |fees| MEMBER_SIZE + Amounts::from(fees).size())
            + self.limits.map_or(0, |limits| MEMBER_SIZE + Amounts::from(limits).size())
    }

    fn optional_texts(&self) -> [Option<&'a str>; 7] {
        [self.operator, self.status_reason, self.phone, self.hours, self.opens_at, self.closes_at, self.reports]
    }

    /// Removes the date of the status if it repeats the date of the last confirmation. Returns the number of bytes saved.
    pub(super) fn omit_repeated_date(&mut self) -> usize {
        const SAVED: usize = r#","statusAsOf":"2026-10-07T08:00:00Z""#.len();
        if self.status_as_of.is_none() || self.status_as_of != self.last_confirmed {
            return 0;
        }
        self.status_as_of = None;
        SAVED
    }

    /// Removes the reason for the status of an ATM that is open or closed, which its hours imply. Returns the number of
    /// bytes saved, or fewer.
    pub(super) fn omit_usual_reason(&mut self) -> usize {
        if !matches!(self.status, AtmStatus::Open | AtmStatus::Closed) {
            return 0;
        }
        omit_text(&mut self.status_reason)
    }

    /// Removes the time of the next opening or closing. Returns the number of bytes saved, or fewer.
    pub(super) fn omit_change(&mut self) -> usize {
        omit_text(&mut self.opens_at) + omit_text(&mut self.closes_at)
    }

    /// Removes the directions. Returns the number of bytes saved, or fewer.
    pub(super) fn omit_directions(&mut self) -> usize {
        const SAVED: usize = r#","directions":"https://www.google.com/maps/dir//1,1""#.len();
        if !self.has_directions {
            return 0;
        }
        self.has_directions = false;
        SAVED
    }

    /// Removes the members that only help to choose between ATMs, and cuts name and address. Returns the number of bytes
    /// saved, or fewer.
    pub(super) fn omit_details(&mut self) -> usize {
        let mut saved = self.name.len() + self.address.len();
        self.name = clipped(self.name, MAX_SHORT_TEXT_CHARS);
        self.address = clipped_cow(std::mem::take(&mut self.address), MAX_SHORT_TEXT_CHARS);
        saved -= self.name.len() + self.address.len();
        for member in [&mut self.operator, &mut self.phone, &mut self.hours, &mut self.reports] {
            saved += omit_text(member);
        }
        saved += self.fees.take().map_or(0, |fees| r#","fees":"#.len() + Amounts::from(fees).size());
        saved + self.limits.take().map_or(0, |limits| r#","limits":"#.len() + Amounts::from(limits).size())
    }

    /// Writes the ATM without serde, as ATMs are most of the output of a search.
    pub(super) fn write(&self, writer: &mut StructuredWriter) -> Result<(), CallError> {
        writer.fragment(fragment!(r#"{"id":"#));
        writer.number(self.id.get());
        write_text(writer, fragment!(r#","name":"#), Some(self.name));
        write_text(writer, fragment!(r#","operator":"#), self.operator);
        writer.fragment(fragment!(r#","distance":""#));
        // From whole meters, so that both members are equal.
        #[expect(clippy::cast_precision_loss, reason = "at most half the way around")]
        self.format.units.write(writer, Distance::metres(self.distance as f64));
        writer.fragment(fragment!(r#"","distanceMeters":"#));
        writer.number(self.distance);
        write_text(writer, fragment!(r#","status":"#), Some(self.status.as_str()));
        write_text(writer, fragment!(r#","statusReason":"#), self.status_reason);
        write_time(writer, fragment!(r#","statusAsOf":"#), self.status_as_of)?;
        write_time(writer, fragment!(r#","lastConfirmed":"#), self.last_confirmed)?;
        write_text(writer, fragment!(r#","address":"#), Some(&self.address));
        writer.fragment(fragment!(r#","lat":"#));
        writer.float(self.lat);
        writer.fragment(fragment!(r#","lon":"#));
        writer.float(self.lon);
        write_text(writer, fragment!(r#","url":"#), self.format.pages.atm(self.id).as_deref());
        if self.has_directions {
            write_text(writer, fragment!(r#","directions":"#), Some(&directions([self.lat, self.lon])));
        }
        write_text(writer, fragment!(r#","phone":"#), self.phone);
        write_text(writer, fragment!(r#","hours":"#), self.hours);
        write_text(writer, fragment!(r#","opensAt":"#), self.opens_at);
        write_text(writer, fragment!(r#","closesAt":"#), self.closes_at);
        if let Some(fees) = self.fees {
            writer.fragment(fragment!(r#","fees":"#));
            Amounts::from(fees).write(writer);
        }
        if let Some(limits) = self.limits {
            writer.fragment(fragment!(r#","limits":"#));
            Amounts::from(limits).write(writer);
        }
        write_text(writer, fragment!(r#","reports":"#), self.reports);
        writer.fragment(fragment!("}"));
        Ok(())
    }
}

impl<'a> From<&'a Fees> for Amounts<'a> {
    fn from(fees: &'a Fees) -> Self {
        let amounts = [
            ("buyPercent", fees.buy_percent.as_ref()),
            ("buyFixed", fees.buy_fixed.as_ref()),
            ("sellPercent", fees.sell_percent.as_ref()),
            ("sellFixed", fees.sell_fixed.as_ref()),
        ];
        Self { amounts, currency: fees.currency }
    }
}

impl<'a> From<&'a CashLimits> for Amounts<'a> {
    fn from(limits: &'a CashLimits) -> Self {
        let amounts = [
            ("min", limits.min.as_ref()),
            ("max", limits.max.as_ref()),
            ("maxDay", limits.max_day.as_ref()),
            ("kycAbove", limits.kyc_above.as_ref()),
        ];
        Self { amounts, currency: limits.currency }
    }
}

impl Amounts<'_> {
    /// Returns the size in JSON, in bytes.
    fn size(&self) -> usize {
        let mut size = if self.currency.is_some() { r#","currency":"USD""#.len() } else { 0 };
        for (name, amount) in &self.amounts {
            if let Some(amount) = amount {
                size += r#","":"""#.len() + name.len() + amount.as_str().len();
            }
        }
        // Two braces, and a comma less than members.
        size + 1
    }

    /// Writes an object with the known amounts.
    fn write(&self, writer: &mut StructuredWriter) {
        let mut separator = fragment!("{");
        for (name, amount) in &self.amounts {
            let Some(amount) = amount else { continue };
            writer.fragment(separator);
            writer.text(name);
            writer.fragment(fragment!(":"));
            writer.text(amount.as_str());
            separator = fragment!(",");
        }
        if let Some(currency) = self.currency {
            writer.fragment(separator);
            writer.fragment(fragment!(r#""currency":"#));
            writer.text(&currency.to_string());
        }
        writer.fragment(fragment!("}"));
    }
}

/// Removes a text. Returns the number of bytes saved, or fewer.
fn omit_text(text: &mut Option<&str>) -> usize {
    text.take().map_or(0, |text| r#","hours":"""#.len() + text.len())
}

/// Writes a member if it has a value.
fn write_text(writer: &mut StructuredWriter, name: Fragment, text: Option<&str>) {
    if let Some(text) = text {
        writer.fragment(name);
        writer.text(text);
    }
}

/// Writes a time like serde, but without a formatter.
fn write_time(writer: &mut StructuredWriter, name: Fragment, at: Option<Timestamp>) -> Result<(), CallError> {
    const PRINTER: DateTimePrinter = DateTimePrinter::new();
    let Some(at) = at else { return Ok(()) };
    let mut text = String::with_capacity(32);
    PRINTER.print_timestamp(&at, &mut text).map_err(CallError::internal)?;
    write_text(writer, name, Some(&text));
    Ok(())
}

/// Returns the size of a text in JSON without its outer quotes, in bytes. Texts of sources have no control characters.
fn quoted_size(text: &str) -> usize {
    text.len() + text.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count()
}

/// Returns the beginning of a long text. `get_atm_details` returns all of it.
fn clipped(text: &str, max_chars: usize) -> &str {
    if text.len() <= max_chars {
        return text;
    }
    text.char_indices().nth(max_chars).map_or(text, |(end, _)| &text[..end])
}

fn clipped_cow(text: Cow<'_, str>, max_chars: usize) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(clipped(text, max_chars)),
        Cow::Owned(text) => Cow::Owned(clipped(&text, max_chars).to_owned()),
    }
}
