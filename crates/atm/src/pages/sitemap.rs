//! The sitemap for search engines (sitemaps.org), split into files of at most [`MAX_URLS`].

use std::collections::BTreeMap;
use std::fmt::Write;

use axum::extract::FromRequestParts;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use jiff::civil::Date;
use maud::html;
use signpost_platform::web::PathParams;
use signpost_platform::web::problem::Problem;

use super::addresses::{area_path, atm_path, town_path};
use super::city::MIN_LISTED;
use super::context::PageContext;
use super::document::draw_apart;
use crate::catalogue::TownArea;
use crate::service::AtmService;

/// Maximum number of URLs in a file.
const MAX_URLS: usize = 50_000;
const START: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const NAMES: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// An entry of the sitemap: the path of a page, and the day on which its data last changed.
type ListedPage = (String, Option<Date>);

/// Serves the sitemap of all pages, or a sitemap index if it is split into parts.
///
/// # Errors
/// [`Problem::RateLimited`] if the client has sent too many requests.
pub async fn show(parts: &mut Parts, service: &AtmService) -> Result<Response, Problem> {
    let context = PageContext::from_request_parts(parts, service).await?;
    let drawn =
        draw_apart(context, |context| reply(write_whole(&context.service.public_address, &pages(context), MAX_URLS)));
    Ok(drawn.await)
}

/// Serves a part of a sitemap that is too long for a single file.
pub(super) async fn show_part(context: PageContext, PathParams(name): PathParams<String>) -> Response {
    draw_apart(context, move |context| {
        match write_part(&context.service.public_address, &pages(context), MAX_URLS, &name) {
            Some(part) => reply(part),
            None => Problem::NotFound.into_response(),
        }
    })
    .await
}

/// Writes a sitemap of all pages, or a sitemap index if there are more than `max` pages.
fn write_whole(public_address: &str, pages: &[ListedPage], max: usize) -> String {
    if pages.len() <= max {
        return urlset(public_address, pages);
    }
    let mut text = format!("{START}<sitemapindex xmlns=\"{NAMES}\">");
    for part in 1..=pages.len().div_ceil(max) {
        let address = format!("{public_address}/sitemaps/{part}.xml");
        write!(text, "<sitemap><loc>{}</loc></sitemap>", html! { (address) }.into_string()).expect("a text");
    }
    text + "</sitemapindex>"
}

/// Writes the part of the sitemap with this file name, or returns `None` if it does not exist.
fn write_part(public_address: &str, pages: &[ListedPage], max: usize, name: &str) -> Option<String> {
    let mut parts = (1..).zip(pages.chunks(max));
    let (_, listed) = parts.find(|(part, _): &(usize, _)| name == format!("{part}.xml"))?;
    Some(urlset(public_address, listed))
}

fn reply(text: String) -> Response {
    ([(CONTENT_TYPE, "application/xml"), (CACHE_CONTROL, "public, max-age=3600")], text).into_response()
}

fn urlset(public_address: &str, pages: &[ListedPage]) -> String {
    let address = html! { (public_address) }.into_string();
    let mut text = String::with_capacity(START.len() + 100 * (pages.len() + 1));
    write!(text, "{START}<urlset xmlns=\"{NAMES}\">").expect("a text");
    for (path, changed) in pages {
        // Paths contain only letters, digits, hyphens, slashes and percent-encoded characters, so they need no XML
        // escaping.
        write!(text, "<url><loc>{address}{path}</loc>").expect("a text");
        if let Some(day) = changed {
            write!(text, "<lastmod>{day}</lastmod>").expect("a text");
        }
        text.push_str("</url>");
    }
    text + "</urlset>"
}

/// Returns the home page, the countries, the states, the towns with several ATMs, and the ATMs that are not gone.
fn pages(context: &PageContext) -> Vec<ListedPage> {
    let entries = context.snapshot.entries();
    let mut newest = None;
    let mut countries: BTreeMap<TownArea, Option<Date>> = BTreeMap::new();
    let mut areas: BTreeMap<TownArea, Option<Date>> = BTreeMap::new();
    let mut towns = Vec::new();
    for town in context.towns().all() {
        let changed = town.machines().iter().filter_map(|at| entries[*at as usize].changed).max();
        newest = newest.max(changed);
        let country = countries.entry(TownArea { region: None, ..town.area }).or_default();
        *country = changed.max(*country);
        let area = areas.entry(town.area).or_default();
        *area = changed.max(*area);
        if town.len() >= MIN_LISTED {
            towns.push((town_path(town), changed));
        }
    }
    countries.retain(|country, _| !areas.contains_key(country));
    let mut pages = vec![("/".to_owned(), newest), ("/map".to_owned(), newest), ("/about/data".to_owned(), None)];
    pages.extend(countries.into_iter().chain(areas).map(|(area, changed)| (area_path(area), changed)));
    pages.extend(towns);
    let present = entries.iter().filter(|entry| !context.snapshot.is_gone(entry));
    pages.extend(present.map(|entry| (atm_path(entry.atm.id), entry.changed)));
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_sitemap_is_split_into_disjoint_parts() {
        let all: Vec<ListedPage> = (1..=5).map(|id| (format!("/atm/{id}"), None)).collect();
        let addresses = |text: &str| -> Vec<String> {
            let found = text.split("<loc>").skip(1).filter_map(|rest| rest.split("</loc>").next());
            found.map(|address| address.trim_start_matches("https://a.example").to_owned()).collect()
        };
        let public = "https://a.example";
        let whole = write_whole(public, &all, 5);
        assert!(whole.contains("<urlset ") && addresses(&whole).len() == 5, "{whole}");
        let index = write_whole(public, &all, 2);
        assert!(index.contains("<sitemapindex ") && index.ends_with("</sitemapindex>"), "{index}");
        let parts = addresses(&index);
        assert_eq!(parts, ["/sitemaps/1.xml", "/sitemaps/2.xml", "/sitemaps/3.xml"]);
        let of_part =
            |path: &String| write_part(public, &all, 2, path.trim_start_matches("/sitemaps/")).expect("a part");
        let listed: Vec<_> = parts.iter().flat_map(|path| addresses(&of_part(path))).collect();
        assert_eq!(listed, all.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>());
        for name in ["0.xml", "4.xml", "01.xml", "1"] {
            assert_eq!(write_part(public, &all, 2, name), None, "{name}");
        }
    }
}
