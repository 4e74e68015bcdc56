//! Where the data come from, and how a status is decided.

use std::collections::BTreeMap;

use axum::response::Response;
use maud::{Markup, html};
use signpost_locator::gazetteer::ATTRIBUTION;

use super::crumbs::crumbs;
use super::document::{LocatorDocument, find_kept};
use super::ground::Ground;
use super::paging::ListPage;
use super::parts::missing_page;
use super::status::status_shape;
use super::visit::LocatorVisit;
use crate::catalogue::Source;
use crate::map::StatusShape;

const PATH: &str = "/about/data";
/// Maximum sources on a page.
const MAX_SOURCES: usize = 200;

pub(super) async fn show(visit: LocatorVisit) -> Response {
    let ground = visit.ground().await;
    if let Some(kept) = find_kept(&visit, &ground) {
        return kept;
    }
    let words = visit.words();
    let sources: Vec<&Source> = ground.snapshot.sources().collect();
    let Some(page) = ListPage::new(&visit, PATH, MAX_SOURCES, sources.len()) else {
        return missing_page(&visit, &ground, None);
    };
    let steps = [(words.start.to_owned(), Some("/".to_owned())), (words.about_data.to_owned(), None)];
    let main = html! {
        main #main .wrap.stack {
            (crumbs(&visit, &steps))
            h1 { (words.about_data) }
            p.lead { (words.about_lead) }
            (source_table(&visit, &ground, &sources[page.range()]))
            (page.links(&visit))
            section #status .card.stack {
                h2 { (words.how_status) }
                p { (words.status_lead) }
                dl.facts {
                    @for (status, name, text) in (words.statuses) {
                        dt { span.chip.(StatusShape::of(status).class()) { (status_shape(status, 12)) (name) } }
                        dd.sm { (text) }
                    }
                }
                p { (words.status_end) }
            }
            section.card.stack {
                h2 { (words.advisories) }
                p { (words.advisories_text) }
            }
            section.card.stack {
                h2 { (words.your_searches) }
                p { (words.your_searches_text) }
                @if let Some(geocoder) = &visit.service.catalogue.geocoder {
                    p { ((words.asks_geocoder)(geocoder.name())) }
                }
            }
        }
    };
    let (title, description) = (page.title(words.about_data.to_owned()), page.title(words.about_lead.to_owned()));
    let (address, kept_query) = (page.address(), page.kept_query());
    let document = LocatorDocument::new(&address, title, description, main);
    LocatorDocument { kept_query, ..document }.public(&visit, &ground)
}

fn source_table(visit: &LocatorVisit, ground: &Ground, shown: &[&Source]) -> Markup {
    let words = visit.words();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for claim in ground.snapshot.entries().iter().flat_map(|entry| &entry.machine.claims) {
        *counts.entry(&claim.source).or_default() += 1;
    }
    html! {
        section.card {
            h2 { (words.sources) }
            div.scroll tabindex="0" role="region" aria-label=(words.sources) {
                table.table {
                    thead { tr {
                        th scope="col" { (words.source) }
                        th scope="col" { (words.licence) }
                        th scope="col" { (words.machines_head) }
                        th scope="col" { (words.taken_on) }
                    } }
                    tbody {
                        @for source in shown {
                            tr {
                                td { bdi { (source.name) } }
                                td { bdi { (source.attribution) } }
                                td { ((words.number)(counts.get(&*source.name).copied().unwrap_or_default())) }
                                td { ((words.date)(words.day_of(source.imported_at))) }
                            }
                        }
                    }
                }
            }
            p.sm.soft.gap { (words.places_from) " " (ATTRIBUTION) "." }
        }
    }
}
