//! The form of ATMs and results in replies.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use serde::Serialize;
use signpost_locator::{AtmId, AtmStatus, DataDates, Distance};
use signpost_mcp::{CallError, Fragment, Structured, StructuredWriter, fragment};

use super::resolved_location::ResolvedLocation;
use super::units::Units;
use crate::advisories::AdvisoryItem;
use crate::catalogue::{CatalogueEntry, Moment, NextOpening, Snapshot};
use crate::view::AtmView;

/// The notice while the catalogue contains only sample ATMs.
const SAMPLE_NOTICE: &str = "These are fictional sample machines: no real ATM data was imported into this server yet. \
                             Do not send anybody there.";

/// Maximum size of the ATMs of a reply, in bytes. With its other members, a reply has less than 32 KiB.
const MAX_LISTED_BYTES: usize = 28 * 1024;
/// Maximum ATMs of a short list.
const SHORT_LIST: usize = 10;
/// Size above which a reply with a short list omits advisories, in bytes: 650 tokens of four.
const SHORT_REPLY_BYTES: usize = 650 * 4;
/// Size above which another reply omits advisories, in bytes: 2,800 tokens of four.
const LONG_REPLY_BYTES: usize = 2_800 * 4;
/// Maximum length of a source's text in a list, in characters.
const MAX_TEXT_CHARS: usize = 200;

/// Maximum ATMs of a list with a reason for each banned ATM. A longer list has it in its notice only.
const MAX_REASONED: usize = 20;

/// An ATM in a list of results.
pub(crate) struct Item<'a> {
    id: AtmId,
    name: &'a str,
    operator: Option<&'a str>,
    /// In meters.
    distance: u64,
    units: Units,
    status: AtmStatus,
    status_reason: Option<&'a str>,
    status_as_of: Option<Timestamp>,
    address: Cow<'a, str>,
    lat: f64,
    lon: f64,
    hours: Option<&'a str>,
    opens_at: Option<&'a str>,
    closes_at: Option<&'a str>,
    /// The summary of the reports, if it is not the reason of the status.
    reports: Option<&'a str>,
}

/// A list of results.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AtmPage<'a> {
    /// Written separately, before the other members.
    #[serde(skip)]
    pub(crate) atms: Vec<Item<'a>>,
    /// Number of ATMs, listed or not.
    pub(crate) total: usize,
    pub(crate) truncated: bool,
    #[serde(flatten)]
    pub(crate) dates: PageDates,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resolved_location: Option<ResolvedLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notice: Option<String>,
    /// The advisories about the law and fraud.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) advisories: Vec<AdvisoryItem<'a>>,
    pub(crate) attribution: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}

/// The dates of the data of a page.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageDates {
    /// The newest date of the listed ATMs.
    #[serde(skip_serializing_if = "Option::is_none")]
    data_as_of: Option<Timestamp>,
    /// The oldest date, if it is more than a year before the newest.
    #[serde(skip_serializing_if = "Option::is_none")]
    oldest_data_as_of: Option<Timestamp>,
}

impl PageDates {
    /// Returns the dates of the listed ATMs; without ATMs, those of the catalogue.
    pub(crate) fn of(snapshot: &Snapshot, listed: &[&CatalogueEntry]) -> Self {
        let dates = if listed.is_empty() {
            snapshot.dates()
        } else {
            listed.iter().map(|entry| entry.atm.known_at()).collect()
        };
        dates.into()
    }
}

impl From<DataDates> for PageDates {
    fn from(dates: DataDates) -> Self {
        Self { data_as_of: dates.newest, oldest_data_as_of: dates.oldest_if_distant() }
    }
}

/// Renders a page of results.
pub(crate) fn render(page: AtmPage<'_>) -> Result<Structured, CallError> {
    let mut writer = StructuredWriter::default();
    writer.fragment(fragment!("{"));
    write_page(writer, page)
}

/// Renders a page of results after the members of `head`.
pub(crate) fn render_with_head(head: &impl Serialize, page: AtmPage<'_>) -> Result<Structured, CallError> {
    let mut writer = StructuredWriter::default();
    writer.fragment(fragment!("{"));
    writer.json(members(&object(head)?));
    writer.fragment(fragment!(","));
    write_page(writer, page)
}

/// Writes a page. At least the most important advisory is included; the others are left out if the reply would be too
/// long for a model. The details of each ATM contain all of them.
fn write_page(mut writer: StructuredWriter, mut page: AtmPage<'_>) -> Result<Structured, CallError> {
    writer.fragment(fragment!(r#""atms":["#));
    for (at, item) in page.atms.iter().enumerate() {
        if at > 0 {
            writer.fragment(fragment!(","));
        }
        item.write(&mut writer)?;
    }
    writer.fragment(fragment!("],"));
    let mut others = object(&page)?;
    let bound = if page.atms.len() <= SHORT_LIST { SHORT_REPLY_BYTES } else { LONG_REPLY_BYTES };
    let all = page.advisories.len();
    let mut length = writer.written() + members(&others).len() + 1;
    while length > bound && page.advisories.len() > 1 {
        length -= page.advisories.pop().map_or(0, |last| last.size());
    }
    if page.advisories.len() < all {
        others = object(&page)?;
    }
    writer.json(members(&others));
    writer.fragment(fragment!("}"));
    writer.finish()
}

/// Serializes an object.
fn object(value: &impl Serialize) -> Result<String, CallError> {
    // The other members of a page mostly fit.
    let mut json = Vec::with_capacity(1024);
    serde_json::to_writer(&mut json, value).map_err(CallError::internal)?;
    String::from_utf8(json).map_err(CallError::internal)
}

/// Returns the text between the braces of an object.
fn members(object: &str) -> &str {
    object.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(object)
}

/// Returns the first ATMs that fit into a reply. Texts of sources have no limit of their own.
pub(crate) fn fit_into_reply<'a>(items: impl Iterator<Item = Item<'a>>) -> Vec<Item<'a>> {
    let mut listed = Vec::with_capacity(items.size_hint().1.unwrap_or_default());
    let mut bytes = 0;
    for item in items {
        bytes += item.size();
        if bytes > MAX_LISTED_BYTES {
            break;
        }
        listed.push(item);
    }
    listed
}

/// Removes the reasons of banned ATMs from a long list. `listed` are the entries of `atms`.
pub(crate) fn omit_ban_reasons(atms: &mut [Item<'_>], listed: &[&CatalogueEntry], moment: &Moment<'_>) {
    if atms.len() <= MAX_REASONED {
        return;
    }
    for (item, entry) in atms.iter_mut().zip(listed) {
        if moment.is_banned(entry) {
            item.status_reason = None;
        }
    }
}

impl<'a> Item<'a> {
    pub(crate) fn new(moment: &Moment<'a>, entry: &'a CatalogueEntry, distance: Distance, units: Units) -> Self {
        let view = AtmView::of(moment, entry);
        let record = view.record;
        let metres = distance.in_metres().round();
        let [lat, lon] = view.degrees();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most half the way around")]
        Self {
            id: entry.atm.id,
            name: clipped(record.title()),
            operator: record.operator.as_deref().map(clipped),
            distance: metres as u64,
            units,
            status: view.status.status,
            status_reason: view.reason(),
            status_as_of: view.status.as_of,
            address: clipped_cow(view.address()),
            lat,
            lon,
            hours: record.hours.as_ref().map(|hours| clipped(hours.text())),
            opens_at: None,
            closes_at: None,
            reports: view.reports.map(|reports| &*reports.summary).filter(|reports| view.reason() != Some(*reports)),
        }
    }

    /// Adds the time of the ATM's next opening or closing.
    pub(crate) fn with_change(self, moment: &'a Moment<'_>, entry: &CatalogueEntry) -> Self {
        match moment.next_opening(entry, self.status) {
            Some(NextOpening::OpensAt(at)) => Self { opens_at: Some(at), ..self },
            Some(NextOpening::ClosesAt(at)) => Self { closes_at: Some(at), ..self },
            None => self,
        }
    }

    /// Returns the approximate size in a reply, in bytes.
    fn size(&self) -> usize {
        let texts = [Some(self.name), self.operator, self.hours, self.status_reason, Some(&self.address), self.reports];
        // The names of the members, the numbers and the times.
        let mut size = 350;
        for text in texts.into_iter().flatten() {
            let quotes = text.bytes().filter(|byte| *byte == b'"').count();
            size += text.len() + quotes;
        }
        size
    }

    /// Writes the ATM without serde, as ATMs are most of the output of a search.
    fn write(&self, writer: &mut StructuredWriter) -> Result<(), CallError> {
        writer.fragment(fragment!(r#"{"id":"#));
        writer.number(self.id.get());
        write_text(writer, fragment!(r#","name":"#), Some(self.name));
        write_text(writer, fragment!(r#","operator":"#), self.operator);
        writer.fragment(fragment!(r#","distance":""#));
        // From whole meters, so that both members are equal.
        #[expect(clippy::cast_precision_loss, reason = "at most half the way around")]
        self.units.write(writer, Distance::metres(self.distance as f64));
        writer.fragment(fragment!(r#"","distanceMeters":"#));
        writer.number(self.distance);
        write_text(writer, fragment!(r#","status":"#), Some(self.status.as_str()));
        write_text(writer, fragment!(r#","statusReason":"#), self.status_reason);
        if let Some(at) = self.status_as_of {
            writer.fragment(fragment!(r#","statusAsOf":"#));
            writer.text(&written(at)?);
        }
        write_text(writer, fragment!(r#","address":"#), Some(&self.address));
        writer.fragment(fragment!(r#","lat":"#));
        writer.float(self.lat);
        writer.fragment(fragment!(r#","lon":"#));
        writer.float(self.lon);
        write_text(writer, fragment!(r#","hours":"#), self.hours);
        write_text(writer, fragment!(r#","opensAt":"#), self.opens_at);
        write_text(writer, fragment!(r#","closesAt":"#), self.closes_at);
        write_text(writer, fragment!(r#","reports":"#), self.reports);
        writer.fragment(fragment!("}"));
        Ok(())
    }
}

/// Writes a member if it has a value.
fn write_text(writer: &mut StructuredWriter, name: Fragment, text: Option<&str>) {
    if let Some(text) = text {
        writer.fragment(name);
        writer.text(text);
    }
}

/// Formats a time like serde, but without a formatter.
fn written(at: Timestamp) -> Result<String, CallError> {
    const PRINTER: DateTimePrinter = DateTimePrinter::new();
    let mut text = String::with_capacity(32);
    PRINTER.print_timestamp(&at, &mut text).map_err(CallError::internal)?;
    Ok(text)
}

/// Returns the beginning of a long text. `get_atm_details` returns all of it.
fn clipped(text: &str) -> &str {
    if text.len() <= MAX_TEXT_CHARS {
        return text;
    }
    text.char_indices().nth(MAX_TEXT_CHARS).map_or(text, |(end, _)| &text[..end])
}

fn clipped_cow(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(clipped(text)),
        Cow::Owned(text) => Cow::Owned(clipped(&text).to_owned()),
    }
}

/// Returns the sentences of a notice, if any: first the bans.
pub(crate) fn notice(
    snapshot: &Snapshot,
    bans: Option<String>,
    others: impl IntoIterator<Item = Option<String>>,
) -> Option<String> {
    let sample = snapshot.is_sample().then(|| SAMPLE_NOTICE.to_owned());
    let all: Vec<_> = [bans, sample].into_iter().chain(others).flatten().collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// Returns the attribution of the sources, and of the source of the place.
pub(crate) fn attribution<'a>(snapshot: &'a Snapshot, of_place: Option<&'a str>) -> Vec<&'a str> {
    snapshot.attribution().chain(of_place).collect()
}
