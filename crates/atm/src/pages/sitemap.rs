//! Which pages there are, for search engines (sitemaps.org): no file has more addresses than they read.

use std::collections::BTreeSet;
use std::fmt::Write;

use axum::extract::FromRequestParts;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use jiff::civil::Date;
use maud::html;
use signpost_platform::web::path_id::PathId;
use signpost_platform::web::problem::Problem;

use super::addresses::{area_path, machine_path, town_path};
use super::city::WORTH_LISTING;
use super::ground::Ground;
use super::visit::LocatorVisit;
use crate::catalogue::TownArea;
use crate::service::AtmService;

/// Most addresses of a file.
const MOST_ADDRESSES: usize = 50_000;
const START: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const NAMES: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// A page, and on which day what it shows changed last.
type ListedPage = (String, Option<Date>);

/// All of them, or where the parts of the list are.
///
/// # Errors
/// Where the caller asked too often.
pub async fn show(parts: &mut Parts, service: &AtmService) -> Result<Response, Problem> {
    let visit = LocatorVisit::from_request_parts(parts, service).await?;
    let pages = pages(&visit.ground().await);
    if pages.len() <= MOST_ADDRESSES {
        return Ok(reply(urlset(&visit, &pages)));
    }
    let mut text = format!("{START}<sitemapindex xmlns=\"{NAMES}\">");
    for part in 1..=pages.len().div_ceil(MOST_ADDRESSES) {
        let address = format!("{}/sitemaps/{part}.xml", visit.service.public_address);
        write!(text, "<sitemap><loc>{}</loc></sitemap>", html! { (address) }.into_string()).expect("a text");
    }
    Ok(reply(text + "</sitemapindex>"))
}

/// A part of a list that is too long for one file.
pub(super) async fn show_part(visit: LocatorVisit, PathId(name): PathId) -> Result<Response, Problem> {
    let pages = pages(&visit.ground().await);
    let mut parts = (1..).zip(pages.chunks(MOST_ADDRESSES));
    let (_, listed) = parts.find(|(part, _): &(usize, _)| name == format!("{part}.xml")).ok_or(Problem::NotFound)?;
    Ok(reply(urlset(&visit, listed)))
}

fn reply(text: String) -> Response {
    ([(CONTENT_TYPE, "application/xml"), (CACHE_CONTROL, "public, max-age=3600")], text).into_response()
}

fn urlset(visit: &LocatorVisit, pages: &[ListedPage]) -> String {
    let address = html! { (visit.service.public_address) }.into_string();
    let mut text = String::with_capacity(START.len() + 100 * (pages.len() + 1));
    write!(text, "{START}<urlset xmlns=\"{NAMES}\">").expect("a text");
    for (path, changed) in pages {
        // Letters, digits, hyphens and what stands between them: nothing to escape.
        write!(text, "<url><loc>{address}{path}</loc>").expect("a text");
        if let Some(day) = changed {
            write!(text, "<lastmod>{day}</lastmod>").expect("a text");
        }
        text.push_str("</url>");
    }
    text + "</urlset>"
}

/// The first page, countries, states, towns with more than one machine, and machines that are not gone.
fn pages(ground: &Ground) -> Vec<ListedPage> {
    let (entries, towns) = (ground.snapshot.entries(), ground.towns());
    let of_towns = towns.all().iter().map(|town| {
        let changed = town.machines().iter().filter_map(|at| entries[*at as usize].changed).max();
        (town, changed)
    });
    let of_towns: Vec<_> = of_towns.collect();
    let of_area =
        |area| of_towns.iter().filter(|(town, _)| town.area == area).filter_map(|(_, changed)| *changed).max();
    let present = entries.iter().filter(|entry| !ground.snapshot.is_gone(entry));
    let newest = of_towns.iter().filter_map(|(_, changed)| *changed).max();
    let mut pages = vec![("/".to_owned(), newest), ("/map".to_owned(), newest), ("/about/data".to_owned(), None)];
    let areas: Vec<_> = towns.areas().into_iter().map(|(area, _)| area).collect();
    let countries: BTreeSet<_> = areas.iter().map(|area| area.country).collect();
    let countries = countries.into_iter().map(|country| TownArea { country, region: None });
    let of_regions = countries.filter(|country| !areas.contains(country)).map(|country| {
        let inside = of_towns.iter().filter(|(town, _)| town.area.country == country.country);
        (area_path(country), inside.filter_map(|(_, changed)| *changed).max())
    });
    pages.extend(of_regions);
    pages.extend(areas.iter().map(|area| (area_path(*area), of_area(*area))));
    let listed = of_towns.iter().filter(|(town, _)| town.len() >= WORTH_LISTING);
    pages.extend(listed.map(|(town, changed)| (town_path(town), *changed)));
    pages.extend(present.map(|entry| (machine_path(entry.machine.id), entry.changed)));
    pages
}
