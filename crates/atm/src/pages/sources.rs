//! The cards on an ATM's page with its sources, and with links to correct its data.

use jiff::Timestamp;
use maud::{Markup, html};
use signpost_locator::SourceClaim;
use signpost_platform::pages::href::href;

use super::context::PageContext;
use super::report_form::ask;
use super::words::{LocatorWords, utc_date};
use crate::view::AtmView;

/// Renders the card of the sources.
pub(super) fn sources(context: &PageContext, view: &AtmView<'_>) -> Markup {
    let words = context.words();
    html! {
        section.card {
            h2 { (words.where_from) }
            div.scroll tabindex="0" role="region" aria-label=(words.sources) {
                table.table {
                    thead { tr {
                        th scope="col" { (words.source) }
                        th scope="col" { (words.says) }
                        th scope="col" { (words.dated) }
                        th scope="col" { (words.taken_on) }
                    } }
                    tbody { @for claim in &view.entry.atm.claims { (source_row(context, claim)) } }
                }
            }
        }
    }
}

fn source_row(context: &PageContext, claim: &SourceClaim) -> Markup {
    let words = context.words();
    let source = context.snapshot.source(&claim.source);
    let name = source.map_or(&*claim.source, |source| source.attribution.as_str());
    let parts: Vec<_> = claim.parts.names().map(words.part).collect();
    html! {
        tr {
            td {
                @match claim.url.as_deref().and_then(href) {
                    Some(link) => a href=(link) rel="nofollow noopener ugc" { bdi { (name) } },
                    None => bdi { (name) },
                }
            }
            td { (parts.join(", ")) }
            td { (known_on(words, claim.known_at)) }
            td { @if let Some(source) = source { ((words.date)(utc_date(source.imported_at))) } }
        }
    }
}

/// Formats the date of a record, or the text for a record without a date.
fn known_on(words: &LocatorWords, known_at: Option<Timestamp>) -> String {
    known_at.map_or_else(|| words.no_date.to_owned(), |at| (words.date)(utc_date(at)))
}

/// Renders the card for corrections, with the report form and links to the ATM at its sources.
pub(super) fn corrections_card(context: &PageContext, view: &AtmView<'_>) -> Markup {
    let words = context.words();
    let links: Vec<_> = view.entry.atm.claims.iter().filter_map(|claim| href(claim.url.as_deref()?)).collect();
    html! {
        section #right .card.stack {
            h2 { (words.is_this_right) }
            (ask(view.entry.atm.id, context.language, &context.service.origin))
            @if !links.is_empty() {
                div.stack-sm {
                    p { (words.correct_at_source) }
                    ul.list { @for link in links { li { a href=(link) rel="nofollow noopener ugc" { bdi { (link) } } } } }
                }
            }
        }
    }
}
