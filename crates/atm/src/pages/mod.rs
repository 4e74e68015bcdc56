//! The locator's pages: search, states, cities, machines, and what is said of the data. All of them are read without a
//! script. What they say of a machine is decided in `view.rs`, as for the tools.

mod about_data;
mod addresses;
mod atlas;
mod city;
mod country;
mod crumbs;
mod document;
mod facts;
mod filters;
mod ground;
pub mod home;
pub mod install;
mod linked_data;
mod machine;
mod near;
mod notices;
mod paging;
mod parts;
mod rows;
pub mod sitemap;
mod sources;
mod status;
mod visit;
mod week;
mod words;

use axum::Router;
use axum::routing::get;
use signpost_platform::pages::Asset;

use crate::service::AtmService;

pub use visit::LocatorVisit;

/// What these pages have beside the stylesheet of all.
pub const LOCATOR_STYLES: Asset =
    Asset::new("locator", "css", "text/css; charset=utf-8", include_bytes!("../../assets/locator.css"));

/// The picture beside a link to a page: the sign of the house, 1,200 by 630 pixels.
pub const LOCATOR_SIGN: Asset =
    Asset::new("locator-sign", "png", "image/png", include_bytes!("../../assets/locator-sign.png"));

/// The addresses of the pages; the first page is the program's, for it is of both services.
pub(crate) fn router() -> Router<AtmService> {
    Router::new()
        .route("/atm/{id}", get(machine::show))
        .route("/atms/{country}", get(country::show))
        .route("/atms/{country}/{area}", get(country::show_area))
        .route("/atms/{country}/{region}/{city}", get(city::show))
        .route("/near", get(near::show))
        .route("/about/data", get(about_data::show))
        .route("/sitemaps/{part}", get(sitemap::show_part))
        .route("/atm/{id}/", get(visit::leave_out_slash))
        .route("/atms/{country}/", get(visit::leave_out_slash))
        .route("/atms/{country}/{area}/", get(visit::leave_out_slash))
        .route("/atms/{country}/{region}/{city}/", get(visit::leave_out_slash))
        .route("/near/", get(visit::leave_out_slash_of_search))
        .route("/map/", get(visit::leave_out_slash))
        .route("/about/data/", get(visit::leave_out_slash))
        .merge(atlas::router())
}
