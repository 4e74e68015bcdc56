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
use super::document::draw_apart;
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
    let ground = visit.ground().await;
    let write = |visit: &LocatorVisit, ground: &Ground| {
        reply(write_whole(&visit.service.public_address, &pages(ground), MOST_ADDRESSES))
    };
    Ok(draw_apart(visit, ground, write).await)
}

/// A part of a list that is too long for one file.
pub(super) async fn show_part(visit: LocatorVisit, PathId(name): PathId) -> Result<Response, Problem> {
    let ground = visit.ground().await;
    let write = move |visit: &LocatorVisit, ground: &Ground| {
        let part = write_part(&visit.service.public_address, &pages(ground), MOST_ADDRESSES, &name);
        part.map_or_else(|| Problem::NotFound.into_response(), reply)
    };
    Ok(draw_apart(visit, ground, write).await)
}

/// All pages, or where the parts of the list are that have `most` each.
fn write_whole(public_address: &str, pages: &[ListedPage], most: usize) -> String {
    if pages.len() <= most {
        return urlset(public_address, pages);
    }
    let mut text = format!("{START}<sitemapindex xmlns=\"{NAMES}\">");
    for part in 1..=pages.len().div_ceil(most) {
        let address = format!("{public_address}/sitemaps/{part}.xml");
        write!(text, "<sitemap><loc>{}</loc></sitemap>", html! { (address) }.into_string()).expect("a text");
    }
    text + "</sitemapindex>"
}

/// The part of the list that a file name stands for.
fn write_part(public_address: &str, pages: &[ListedPage], most: usize, name: &str) -> Option<String> {
    let mut parts = (1..).zip(pages.chunks(most));
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
    let of_towns = towns.all().map(|town| {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_beyond_its_bound_names_its_parts_and_each_page_is_in_one_of_them() {
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
