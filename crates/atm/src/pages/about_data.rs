//! The page `/about/data` about the data sources and about how the status of an ATM is determined.

use std::collections::BTreeMap;

use axum::response::Response;
use maud::{Markup, html};
use signpost_locator::gazetteer::ATTRIBUTION;

use super::context::PageContext;
use super::crumbs::crumbs;
use super::document::{LocatorDocument, cached_or_drawn};
use super::paging::ListPage;
use super::parts::missing_page;
use super::status::status_shape;
use super::words::utc_date;
use crate::catalogue::Source;
use crate::map::StatusShape;

const PATH: &str = "/about/data";
/// Maximum number of sources on the page.
const MAX_SOURCES: usize = 200;

pub(super) async fn show(context: PageContext) -> Response {
    cached_or_drawn(context, draw).await
}

fn draw(context: &PageContext) -> Response {
    let words = context.words();
    let sources: Vec<&Source> = context.snapshot.sources().collect();
    let Some(page) = ListPage::new(context, PATH, "", MAX_SOURCES, sources.len()) else {
        return missing_page(context, None);
    };
    let steps = [(words.start.to_owned(), Some("/".to_owned())), (words.about_data.to_owned(), None)];
    let main = html! {
        main #main .wrap.stack {
            (crumbs(context, &steps))
            h1 { (words.about_data) }
            p.lead { (words.about_lead) }
            (source_table(context, &sources[page.range()]))
            (page.links(context))
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
                @if let Some(geocoder) = &context.service.catalogue.geocoder {
                    p { ((words.asks_geocoder)(geocoder.name())) }
                }
            }
        }
    };
    let title = page.title(words.about_data.to_owned());
    let description = page.title(words.about_lead.to_owned());
    let path = page.path();
    let document = LocatorDocument::new(&path, title, description, main);
    LocatorDocument { query_prefix: page.query_prefix(), ..document }.public(context)
}

fn source_table(context: &PageContext, shown: &[&Source]) -> Markup {
    let words = context.words();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for claim in context.snapshot.entries().iter().flat_map(|entry| &entry.atm.claims) {
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
                        th scope="col" { (words.dated) }
                        th scope="col" { (words.taken_on) }
                    } }
                    tbody {
                        @for source in shown {
                            tr {
                                td { bdi { (source.name) } }
                                td { bdi { (source.attribution) } }
                                td { ((words.number)(counts.get(&*source.name).copied().unwrap_or_default())) }
                                td { (dates_of_source(context, source)) }
                                td { ((words.date)(utc_date(source.imported_at))) }
                            }
                        }
                    }
                }
            }
            p.sm.soft.gap { (words.places_from) " " (ATTRIBUTION) "." }
        }
    }
}

/// Formats the newest date of a source's data, with the oldest date if it is more than a year earlier.
fn dates_of_source(context: &PageContext, source: &Source) -> String {
    let words = context.words();
    let dates = context.snapshot.dates_of_source(&source.name);
    let Some(newest) = dates.newest else { return words.no_date.to_owned() };
    let newest = (words.date)(utc_date(newest));
    match dates.oldest_if_distant() {
        Some(oldest) => (words.from_to)(&(words.date)(utc_date(oldest)), &newest),
        None => newest,
    }
}
