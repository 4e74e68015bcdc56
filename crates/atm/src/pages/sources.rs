//! Who says what of a machine, and where it can be corrected.

use maud::{Markup, html};
use signpost_locator::SourceClaim;
use signpost_platform::pages::href::href;

use super::visit::LocatorVisit;
use crate::catalogue::Snapshot;
use crate::report_form::ask;
use crate::view::MachineView;

/// The card of the sources.
pub(super) fn sources(visit: &LocatorVisit, snapshot: &Snapshot, view: &MachineView<'_>) -> Markup {
    let words = visit.words();
    html! {
        section.card {
            h2 { (words.where_from) }
            div.scroll tabindex="0" role="region" aria-label=(words.sources) {
                table.table {
                    thead { tr {
                        th scope="col" { (words.source) }
                        th scope="col" { (words.says) }
                        th scope="col" { (words.taken_on) }
                    } }
                    tbody { @for claim in &view.entry.machine.claims { (source_row(visit, snapshot, claim)) } }
                }
            }
        }
    }
}

fn source_row(visit: &LocatorVisit, snapshot: &Snapshot, claim: &SourceClaim) -> Markup {
    let words = visit.words();
    let source = snapshot.source(&claim.source);
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
            td { @if let Some(source) = source { ((words.date)(words.day_of(source.imported_at))) } }
        }
    }
}

/// Where somebody who knows better can say so: here, and at the machine's pages at its sources.
pub(super) fn correct_it(visit: &LocatorVisit, view: &MachineView<'_>) -> Markup {
    let words = visit.words();
    let links: Vec<_> = view.entry.machine.claims.iter().filter_map(|claim| href(claim.url.as_deref()?)).collect();
    html! {
        section #right .card.stack {
            h2 { (words.is_this_right) }
            (ask(view.entry.machine.id, visit.language, &visit.service.origin))
            @if !links.is_empty() {
                div.stack-sm {
                    p { (words.correct_at_source) }
                    ul.list { @for link in links { li { a href=(link) rel="nofollow noopener ugc" { bdi { (link) } } } } }
                }
            }
        }
    }
}
