//! The page of an ATM that its source no longer lists.

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use signpost_locator::AtmStatus;

use super::addresses::atm_path;
use super::context::PageContext;
use super::document::LocatorDocument;
use super::facts::facts;
use super::parts::search_form;
use super::sources::sources;
use super::status::status_shape;
use super::words::utc_date;
use crate::catalogue::{StoredAtm, UnlistedAtm};
use crate::map::StatusShape;
use crate::view::AtmView;

/// Returns the page of a removed row, with the day on which its source removed it. `None` after 90 days, and if the
/// source was deleted: then the ATM was removed by the operator, not by the source.
pub(super) fn show_unlisted(context: &PageContext, row: &StoredAtm) -> Option<Response> {
    let atm = UnlistedAtm::of_row(&context.snapshot, row, context.now)?;
    Some(draw(context, &atm))
}

fn draw(context: &PageContext, atm: &UnlistedAtm) -> Response {
    let words = context.words();
    let view = AtmView::of_unlisted(atm);
    let record = view.record;
    let unlisted = (words.unlisted)(&atm.source, &(words.date)(utc_date(atm.removed_at)));
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
    let path = atm_path(atm.entry.atm.id);
    let document = LocatorDocument::new(&path, title, format!("{}: {unlisted}.", words.unknown), main);
    let dates = Some([atm.entry.atm.known_at()].into_iter().collect());
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
