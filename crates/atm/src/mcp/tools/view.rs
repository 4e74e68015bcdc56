//! How machines and results look in replies.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Serialize;
use signpost_locator::gazetteer::ATTRIBUTION;
use signpost_locator::{AtmId, AtmStatus, Distance, Record};
use signpost_mcp::{CallError, Structured};

use super::place::Center;
use super::understood::Understood;
use super::units::{Units, degrees};
use crate::advisories::AdvisoryItem;
use crate::catalogue::{CatalogueEntry, Moment, NextOpening, Snapshot};

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
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Item<'a> {
    id: AtmId,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    operator: Option<&'a str>,
    distance: String,
    distance_meters: u64,
    status: AtmStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_as_of: Option<Timestamp>,
    address: Cow<'a, str>,
    lat: f64,
    lon: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    hours: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    opens_at: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closes_at: Option<&'a str>,
}

/// A list of results.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AtmPage<'a> {
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

/// A reply with a page of results. Of the advisories at least the weightiest is told; the others give way where the reply
/// would be longer than a model should have to read, and stay in the details of each machine.
pub(crate) fn render<'a, R: Serialize>(
    mut reply: R,
    page: impl Fn(&mut R) -> &mut AtmPage<'a>,
) -> Result<Structured, CallError> {
    let rendered = Structured::render(&reply)?;
    let listed = page(&mut reply);
    let bound = if listed.atms.len() <= SHORT_LIST { SHORT_REPLY_BYTES } else { LONG_REPLY_BYTES };
    let told = listed.advisories.len();
    let mut length = rendered.json().len();
    while length > bound && listed.advisories.len() > 1 {
        length -= listed.advisories.pop().map_or(0, |last| last.size());
    }
    if listed.advisories.len() == told { Ok(rendered) } else { Structured::render(&reply) }
}

/// As many machines as a model should have to read at once: what a source writes has no bound of its own.
pub(crate) fn fit_into_reply<'a>(items: impl Iterator<Item = Item<'a>>) -> Vec<Item<'a>> {
    let mut left = MAX_LISTED_BYTES;
    let fits = |item: Item<'a>| {
        left = left.checked_sub(item.size())?;
        Some(item)
    };
    items.map_while(fits).collect()
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
        let record = &entry.machine.record;
        let report = moment.status(entry);
        let metres = distance.in_metres().round();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most half the way around")]
        let distance_meters = metres as u64;
        let [lat, lon] = degrees(record.point);
        Self {
            id: entry.machine.id,
            name: clipped(record.title()),
            operator: record.operator.as_deref().map(clipped),
            // Of whole metres, so that both members say the same.
            distance: units.text(Distance::metres(metres)),
            distance_meters,
            status: report.status,
            status_reason: report.is_reasoned().then_some(report.reason),
            status_as_of: report.as_of,
            address: clipped_cow(address(record)),
            lat,
            lon,
            hours: record.hours.as_ref().map(|hours| clipped(hours.text())),
            opens_at: None,
            closes_at: None,
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
        let texts = [Some(self.name), self.operator, self.hours, self.status_reason, Some(&self.address)];
        // The names of the members, the numbers and the times.
        350 + texts.into_iter().flatten().map(|text| text.len() + text.matches('"').count()).sum::<usize>()
    }
}

/// The beginning of a text that a source wrote at length; `get_atm_details` has all of it.
fn clipped(text: &str) -> &str {
    text.char_indices().nth(MAX_TEXT_CHARS).map_or(text, |(end, _)| &text[..end])
}

fn clipped_cow(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(clipped(text)),
        Cow::Owned(text) => Cow::Owned(clipped(&text).to_owned()),
    }
}

/// A machine's address on one line.
pub(crate) fn address(record: &Record) -> Cow<'_, str> {
    record.address.one_line().unwrap_or(Cow::Borrowed("address not known"))
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
