//! The locator's web pages: search, states, cities, ATMs, reports, and the page about the data. No page requires
//! scripts. `view.rs` selects the properties of an ATM that pages and tools show.

mod about_data;
mod addresses;
mod atlas;
mod atm;
mod city;
mod confirmation;
mod context;
mod country;
mod crumbs;
mod data_date;
mod document;
mod fact;
mod facts;
mod filters;
pub mod home;
pub mod install;
mod likely_country;
mod linked_data;
mod near;
mod notices;
mod paging;
mod parts;
mod report_form;
mod row;
mod rows;
pub mod sitemap;
mod sources;
mod status;
mod unknown_facts;
mod unlisted;
mod ways;
mod week;
mod words;

use axum::Router;
use axum::routing::get;
use signpost_platform::pages::Asset;

use crate::service::AtmService;
use context::{remove_trailing_slash, remove_trailing_slash_of_search};

pub use context::PageContext;

/// The stylesheet of the locator's pages, in addition to the common stylesheet.
const LOCATOR_STYLES: Asset =
    Asset::new("locator", "css", "text/css; charset=utf-8", include_bytes!("../../assets/locator.css"));

/// The script of the button that searches near the user.
const NEAR_SCRIPT: Asset = script("near", include_bytes!("../../assets/pages/near.js"));
/// The script of an ATM's page: directions for the device, sharing and saving.
const MACHINE_SCRIPT: Asset = script("machine", include_bytes!("../../assets/pages/machine.js"));
/// The script of the list of saved ATMs.
const SAVED_SCRIPT: Asset = script("saved", include_bytes!("../../assets/pages/saved.js"));

/// The files of the locator's pages, except for those of the map.
pub const LOCATOR_ASSETS: [Asset; 5] = [LOCATOR_STYLES, LOCATOR_PREVIEW, NEAR_SCRIPT, MACHINE_SCRIPT, SAVED_SCRIPT];

const fn script(stem: &'static str, bytes: &'static [u8]) -> Asset {
    Asset::new(stem, "js", "text/javascript; charset=utf-8", bytes)
}

/// The preview image of links to a page, 1,200 by 630 pixels.
const LOCATOR_PREVIEW: Asset =
    Asset::new("locator-sign", "png", "image/png", include_bytes!("../../assets/locator-sign.png"));

/// Returns the routes of the locator's pages, except for the home page. The program routes the home page, because both
/// services share it.
pub(crate) fn router() -> Router<AtmService> {
    Router::new()
        .route("/atm/{id}", get(atm::show))
        .route("/atms/{country}", get(country::show))
        .route("/atms/{country}/{area}", get(country::show_area))
        .route("/atms/{country}/{region}/{city}", get(city::show))
        .route("/near", get(near::show))
        .route("/about/data", get(about_data::show))
        .route("/sitemaps/{part}", get(sitemap::show_part))
        .route("/atm/{id}/", get(remove_trailing_slash))
        .route("/atms/{country}/", get(remove_trailing_slash))
        .route("/atms/{country}/{area}/", get(remove_trailing_slash))
        .route("/atms/{country}/{region}/{city}/", get(remove_trailing_slash))
        .route("/near/", get(remove_trailing_slash_of_search))
        .route("/map/", get(remove_trailing_slash))
        .route("/about/data/", get(remove_trailing_slash))
        .merge(atlas::router())
        .merge(report_form::router())
}
