//! Pages of results in replies.

use jiff::Timestamp;
use serde::Serialize;
use signpost_locator::DataDates;
use signpost_mcp::{CallError, Structured, StructuredWriter, fragment};

use super::item::Item;
use super::resolved_location::ResolvedLocation;
use super::shorten::{NOTICE, shorten};
use crate::advisories::AdvisoryItem;
use crate::catalogue::{CatalogueEntry, Moment, Snapshot};

/// The notice while the catalogue contains only sample ATMs.
const SAMPLE_NOTICE: &str = "These are fictional sample machines: no real ATM data was imported into this server yet. \
                             Do not send anybody there.";

/// Maximum size of the ATMs of a reply, in bytes. With its other members, a reply has less than 48 kB.
const MAX_LISTED_BYTES: usize = 43 * 1024;
/// Number of ATMs with directions, the first of a list.
const WITH_DIRECTIONS: usize = 10;
/// Maximum ATMs of a short list.
const SHORT_LIST: usize = 10;
/// Size above which a reply with a short list omits advisories and members of rows, in bytes: 1,100 tokens of four.
const SHORT_REPLY_BYTES: usize = 1_100 * 4;
/// Size above which another reply omits advisories, in bytes: 3,500 tokens of four.
const LONG_REPLY_BYTES: usize = 3_500 * 4;

/// Maximum ATMs of a list with a reason for each banned ATM. A longer list has it in its notice only.
const MAX_REASONED: usize = 20;

/// A list of results.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AtmPage<'a> {
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) how_to_report: Option<&'static str>,
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
pub(super) fn render(page: AtmPage<'_>) -> Result<Structured, CallError> {
    write_page("", page)
}

/// Renders a page of results after the members of `head`.
pub(super) fn render_with_head(head: &impl Serialize, page: AtmPage<'_>) -> Result<Structured, CallError> {
    write_page(members(&object(head)?), page)
}

/// Writes the members of `head`, then a page. At least the most important advisory is included; the others are left out
/// if the reply would be too long for a model, and then members of rows. The details of each ATM contain all of them.
fn write_page(head: &str, mut page: AtmPage<'_>) -> Result<Structured, CallError> {
    let mut writer = write_rows(head, &page.atms)?;
    let mut others = object(&page)?;
    let is_short = page.atms.len() <= SHORT_LIST;
    let bound = if is_short { SHORT_REPLY_BYTES } else { LONG_REPLY_BYTES };
    let all = page.advisories.len();
    let mut length = writer.written() + members(&others).len() + 1;
    while length > bound && page.advisories.len() > 1 {
        length -= page.advisories.pop().map_or(0, |last| last.size());
    }
    let mut is_changed = page.advisories.len() < all;
    if is_short && length > bound {
        if shorten(&mut page.atms, length - bound) {
            page.notice = Some(page.notice.map_or_else(|| NOTICE.to_owned(), |notice| format!("{notice} {NOTICE}")));
            is_changed = true;
        }
        writer = write_rows(head, &page.atms)?;
    }
    if is_changed {
        others = object(&page)?;
    }
    writer.json(members(&others));
    writer.fragment(fragment!("}"));
    writer.finish()
}

/// Writes the beginning of a page: the members of `head`, and the rows.
fn write_rows(head: &str, rows: &[Item<'_>]) -> Result<StructuredWriter, CallError> {
    let mut writer = StructuredWriter::default();
    writer.fragment(fragment!("{"));
    if !head.is_empty() {
        writer.json(head);
        writer.fragment(fragment!(","));
    }
    writer.fragment(fragment!(r#""atms":["#));
    for (at, row) in rows.iter().enumerate() {
        if at > 0 {
            writer.fragment(fragment!(","));
        }
        row.write(&mut writer)?;
    }
    writer.fragment(fragment!("],"));
    Ok(writer)
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

/// Returns the first ATMs that fit into a reply, the nearest with directions. Texts of sources have no limit of their own.
pub(super) fn fit_into_reply<'a>(items: impl Iterator<Item = Item<'a>>) -> Vec<Item<'a>> {
    let mut listed = Vec::with_capacity(items.size_hint().1.unwrap_or_default());
    let mut bytes = 0;
    for item in items {
        let item = if listed.len() < WITH_DIRECTIONS { item.with_directions() } else { item };
        bytes += item.size();
        if bytes > MAX_LISTED_BYTES {
            break;
        }
        listed.push(item);
    }
    listed
}

/// Removes the reasons of banned ATMs from a long list. `listed` are the entries of `atms`.
pub(super) fn omit_ban_reasons(atms: &mut [Item<'_>], listed: &[&CatalogueEntry], moment: &Moment<'_>) {
    if atms.len() <= MAX_REASONED {
        return;
    }
    for (item, entry) in atms.iter_mut().zip(listed) {
        if moment.is_banned(entry) {
            item.status_reason = None;
        }
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
