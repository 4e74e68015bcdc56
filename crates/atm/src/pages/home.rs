//! The locator's part of the first page of a deployment.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use maud::{Markup, html};
use signpost_locator::Country;

use super::country::{countries, regions};
use super::document::{LocatorDocument, draw_apart, find_kept};
use super::ground::Ground;
use super::notices::Notices;
use super::parts::search_form;
use super::visit::LocatorVisit;
use crate::advisories::Spot;
use crate::catalogue::TownArea;
use crate::service::AtmService;

/// Renders the other services of a deployment.
pub type OtherServices = Box<dyn FnOnce() -> Markup + Send>;

/// Returns the first page: the search, the states, the advisories on fraud, and the other services of the deployment. They
/// are rendered only if the page is not cached.
///
/// The future is boxed because rustc generates the code of an `async fn` in the crate that awaits it, and this page shall be
/// optimized as this crate is.
pub fn show(mut head: Parts, service: AtmService, others: OtherServices) -> BoxFuture<'static, Response> {
    let response = async move {
        let visit = match LocatorVisit::from_request_parts(&mut head, &service).await {
            Ok(visit) => visit,
            Err(problem) => return problem.into_response(),
        };
        let ground = visit.ground().await;
        if let Some(cached) = find_kept(&visit, &ground) {
            return cached;
        }
        draw_apart(visit, ground, move |visit, ground| draw(visit, ground, &others())).await
    };
    response.boxed()
}

fn draw(visit: &LocatorVisit, ground: &Ground, others: &Markup) -> Response {
    let words = visit.words();
    let moment = ground.snapshot.at(visit.now);
    let country = ground.towns().all().any(|town| town.area.country == Country::UNITED_STATES);
    let country = country.then_some(Country::UNITED_STATES);
    let told = moment.told_at(&Spot::default(), None).into_iter();
    let notices = Notices::of(visit, country, told.map(|(advisory, standing)| (advisory, standing, 0)).collect());
    let count = ground.towns().areas().iter().map(|(_, count)| count).sum();
    let here = TownArea { country: Country::UNITED_STATES, region: None };
    let main = html! {
        main #main .wrap {
            h1 { (words.home_title) }
            p.figures {
                span { ((words.machines)(count)) }
                @if let Some(at) = ground.snapshot.data_as_of() {
                    span { ((words.data_of)(&(words.long_date)(words.day_of(at)))) }
                }
            }
            (search_form(visit, ""))
            div.stack.gap { (notices.scam) }
            @if count == 0 { div.empty { h2 { (words.no_machines) } } }
            (regions(visit, ground.towns(), here))
            (countries(visit, ground.towns(), here.country))
            (others)
        }
    };
    let title = words.home_title.to_owned();
    LocatorDocument::new("/", title, words.home_description.to_owned(), main).public(visit, ground)
}
