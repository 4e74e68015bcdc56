//! The locator's web pages: search, states, cities, ATMs, reports, and the page about the data. No page requires
//! scripts. `view.rs` selects the properties of an ATM that pages and tools show.

mod about_data;
mod addresses;
mod atlas;
mod atm;
mod city;
mod context;
mod country;
mod crumbs;
mod data_date;
mod document;
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
mod rows;
pub mod sitemap;
mod sources;
mod status;
mod unlisted;
mod week;
mod words;

use axum::Router;
use axum::routing::get;
use signpost_platform::pages::Asset;

use crate::service::AtmService;
use context::{remove_trailing_slash, remove_trailing_slash_of_search};

pub use context::PageContext;

/// The stylesheet of the locator's pages, in addition to the common stylesheet.
pub const LOCATOR_STYLES: Asset =
    Asset::new("locator", "css", "text/css; charset=utf-8", include_bytes!("../../assets/locator.css"));

/// The preview image of links to a page, 1,200 by 630 pixels.
pub const LOCATOR_PREVIEW: Asset =
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
