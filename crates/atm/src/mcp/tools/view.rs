//! How machines and results look in replies.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use serde::Serialize;
use signpost_locator::gazetteer::ATTRIBUTION;
use signpost_locator::{AtmId, AtmStatus, Distance};
use signpost_mcp::{CallError, Fragment, Structured, StructuredWriter, fragment};

use super::place::Center;
use super::understood::Understood;
use super::units::Units;
use crate::advisories::AdvisoryItem;
use crate::catalogue::{CatalogueEntry, Moment, NextOpening, Snapshot};
use crate::view::MachineView;

/// Said as long as no real machine was imported.
const SAMPLE_NOTICE: &str = "These are fictional sample machines: no real ATM data was imported into this server yet. \
                             Do not send anybody there.";

/// How many bytes the machines of a reply may take: with what stands around them, less than 32 KiB.
const MAX_LISTED_BYTES: usize = 28 * 1024;
/// How many bytes a reply should take that lists so few machines, or more: 650 and 2,800 tokens of four.
const SHORT_LIST: usize = 10;
const SHORT_REPLY_BYTES: usize = 650 * 4;
const LONG_REPLY_BYTES: usize = 2_800 * 4;
/// How much of a text that a source wrote is shown in a list.
const MAX_TEXT_CHARS: usize = 200;

/// In a longer list the law is told once, in its notice, and not of each machine again.
const MAX_REASONED: usize = 20;

/// A machine in a list of results.
pub(crate) struct Item<'a> {
    id: AtmId,
    name: &'a str,
    operator: Option<&'a str>,
    /// In whole metres.
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
    /// What people report of it, where its status does not say so already.
    reports: Option<&'a str>,
}

/// A list of results.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AtmPage<'a> {
    /// They stand before the other members, and are written by hand.
    #[serde(skip)]
    pub(crate) atms: Vec<Item<'a>>,
    /// How many there are, listed or not.
    pub(crate) total: usize,
    pub(crate) truncated: bool,
    /// Of when the newest of all that is known is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data_as_of: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resolved_location: Option<Understood>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notice: Option<String>,
    /// What people should be told of the law and of fraud.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) advisories: Vec<AdvisoryItem<'a>>,
    pub(crate) attribution: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}

/// A reply that is a page of results.
pub(crate) fn render(page: AtmPage<'_>) -> Result<Structured, CallError> {
    let mut writer = StructuredWriter::default();
    writer.fragment(fragment!("{"));
    write_page(writer, page)
}

/// A reply with a page of results behind the members of `head`.
pub(crate) fn render_behind(head: &impl Serialize, page: AtmPage<'_>) -> Result<Structured, CallError> {
    let mut writer = StructuredWriter::default();
    writer.fragment(fragment!("{"));
    writer.json(members(&object(head)?));
    writer.fragment(fragment!(","));
    write_page(writer, page)
}

/// Of the advisories at least the weightiest is told; the others give way where the reply would be longer than a model
/// should have to read, and stay in the details of each machine.
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
    let told = page.advisories.len();
    let mut length = writer.written() + members(&others).len() + 1;
    while length > bound && page.advisories.len() > 1 {
        length -= page.advisories.pop().map_or(0, |last| last.size());
    }
    if page.advisories.len() < told {
        others = object(&page)?;
    }
    writer.json(members(&others));
    writer.fragment(fragment!("}"));
    writer.finish()
}

/// An object as JSON.
fn object(value: &impl Serialize) -> Result<String, CallError> {
    // What stands around the machines mostly fits.
    let mut json = Vec::with_capacity(1024);
    serde_json::to_writer(&mut json, value).map_err(CallError::internal)?;
    String::from_utf8(json).map_err(CallError::internal)
}

/// What is between the braces of an object.
fn members(object: &str) -> &str {
    object.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(object)
}

/// As many machines as a model should have to read at once: what a source writes has no bound of its own.
pub(crate) fn fit_into_reply<'a>(items: impl Iterator<Item = Item<'a>>) -> Vec<Item<'a>> {
    let mut left = MAX_LISTED_BYTES;
    let fits = |item: Item<'a>| {
        left = left.checked_sub(item.size())?;
        Some(item)
    };
    let mut listed = Vec::with_capacity(items.size_hint().1.unwrap_or_default());
    listed.extend(items.map_while(fits));
    listed
}

/// Leaves out of a long list why its machines are under a ban; `listed` are the same machines.
pub(crate) fn tell_bans_once(atms: &mut [Item<'_>], listed: &[&CatalogueEntry], moment: &Moment<'_>) {
    if atms.len() > MAX_REASONED {
        let banned = atms.iter_mut().zip(listed).filter(|(_, entry)| moment.is_banned(entry));
        banned.for_each(|(item, _)| item.status_reason = None);
    }
}

impl<'a> Item<'a> {
    pub(crate) fn new(moment: &Moment<'a>, entry: &'a CatalogueEntry, distance: Distance, units: Units) -> Self {
        let view = MachineView::of(moment, entry);
        let record = view.record;
        let metres = distance.in_metres().round();
        let [lat, lon] = view.degrees();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most half the way around")]
        Self {
            id: entry.machine.id,
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

    /// The same, with when it opens or closes next.
    pub(crate) fn with_change(self, moment: &'a Moment<'_>, entry: &CatalogueEntry) -> Self {
        match moment.next_opening(entry, self.status) {
            Some(NextOpening::OpensAt(at)) => Self { opens_at: Some(at), ..self },
            Some(NextOpening::ClosesAt(at)) => Self { closes_at: Some(at), ..self },
            None => self,
        }
    }

    /// About how many bytes it is in a reply.
    fn size(&self) -> usize {
        let texts = [Some(self.name), self.operator, self.hours, self.status_reason, Some(&self.address), self.reports];
        let quotes = |text: &str| text.bytes().filter(|byte| *byte == b'"').count();
        // The names of the members, the numbers and the times.
        350 + texts.into_iter().flatten().map(|text| text.len() + quotes(text)).sum::<usize>()
    }

    /// Writes it by hand: the machines of a list are most of what a search writes.
    fn write(&self, writer: &mut StructuredWriter) -> Result<(), CallError> {
        writer.fragment(fragment!(r#"{"id":"#));
        writer.number(self.id.get());
        write_text(writer, fragment!(r#","name":"#), Some(self.name));
        write_text(writer, fragment!(r#","operator":"#), self.operator);
        writer.fragment(fragment!(r#","distance":""#));
        // Of whole metres, so that both members say the same.
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

/// Writes a member where it has a value.
fn write_text(writer: &mut StructuredWriter, name: Fragment, text: Option<&str>) {
    if let Some(text) = text {
        writer.fragment(name);
        writer.text(text);
    }
}

/// A moment as serde writes it, without the detour through a formatter.
fn written(at: Timestamp) -> Result<String, CallError> {
    const PRINTER: DateTimePrinter = DateTimePrinter::new();
    let mut text = String::with_capacity(32);
    PRINTER.print_timestamp(&at, &mut text).map_err(CallError::internal)?;
    Ok(text)
}

/// The beginning of a text that a source wrote at length; `get_atm_details` has all of it.
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

/// The sentences that a reply begins with, if any: first what the law forbids.
pub(crate) fn notice(
    snapshot: &Snapshot,
    bans: Option<String>,
    said: impl IntoIterator<Item = Option<String>>,
) -> Option<String> {
    let sample = snapshot.is_sample().then(|| SAMPLE_NOTICE.to_owned());
    let all: Vec<_> = [bans, sample].into_iter().chain(said).flatten().collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// Whom to thank for what the reply says.
pub(crate) fn attribution<'a>(snapshot: &'a Snapshot, center: &Center) -> Vec<&'a str> {
    snapshot.attribution().chain(center.attribution).collect()
}

/// The same for a result that names a city.
pub(crate) fn attribution_of_city(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.attribution().chain([ATTRIBUTION]).collect()
}
