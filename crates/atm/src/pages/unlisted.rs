//! The page of an ATM that its source no longer lists.

use axum::http::StatusCode;
use axum::response::Response;
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};
use signpost_locator::{Atm, AtmStatus, Record, StatusReason, StatusReport};

use super::addresses::atm_path;
use super::context::PageContext;
use super::document::LocatorDocument;
use super::facts::facts;
use super::parts::search_form;
use super::sources::sources;
use super::status::status_shape;
use super::words::utc_date;
use crate::catalogue::{CatalogueEntry, StoredAtm};
use crate::map::StatusShape;
use crate::view::AtmView;

/// Time for which the page of an ATM is shown after its source removed it.
const SHOWN: SignedDuration = SignedDuration::from_hours(90 * 24);

/// Returns the page of a removed row, with the day on which its source removed it. `None` after 90 days, and if the
/// source was deleted: then the ATM was removed by the operator, not by the source.
pub(super) fn show_unlisted(context: &PageContext, row: &StoredAtm) -> Option<Response> {
    let removed_at = row.removed_at.filter(|at| context.now.duration_since(*at) <= SHOWN)?;
    let source = context.snapshot.source(&row.source)?;
    let record: Record = serde_json::from_str(&row.record).ok()?;
    let source_name = source.name.as_str().into();
    let entry = CatalogueEntry::of_row(Atm { id: row.id, source: source_name, record: record.into() })?;
    Some(draw(context, &entry, &source.name, removed_at))
}

fn draw(context: &PageContext, entry: &CatalogueEntry, source: &str, removed_at: Timestamp) -> Response {
    let words = context.words();
    let record = &*entry.atm.record;
    let status = StatusReport { status: AtmStatus::Unknown, reason: StatusReason::NothingReported, as_of: None };
    let view = AtmView { entry, record, status, reports: None };
    let unlisted = (words.unlisted)(&signpost_text::clean_line(source), &(words.date)(utc_date(removed_at)));
    let main = html! {
        main #main .wrap {
            h1 { bdi { (record.title()) } }
            p.lead {
                (words.machine_kind) ", "
                bdi #address { @if record.address.is_empty() { (words.no_address) } @else { (view.address()) } }
            }
            div.split {
                div.stack {
                    (verdict(context, &unlisted))
                    (facts(context, &view))
                    (sources(context, &view))
                }
                div.stack { (search_form(context, "")) }
            }
        }
    };
    let title = (words.machine_title)(record.title(), "");
    let path = atm_path(entry.atm.id);
    let document = LocatorDocument::new(&path, title, format!("{}: {unlisted}.", words.unknown), main);
    let dates = Some([entry.atm.known_at()].into_iter().collect());
    LocatorDocument { dates, ..document }.personal(context, StatusCode::OK)
}

fn verdict(context: &PageContext, unlisted: &str) -> Markup {
    let words = context.words();
    let status = AtmStatus::Unknown;
    html! {
        section.verdict aria-label=(words.status) {
            span.mark.(StatusShape::of(status).class()) { (status_shape(status, 24)) }
            div {
                p { (words.unknown) ": " (unlisted) }
                p.soft { (words.unlisted_text) }
            }
        }
    }
}
