//! The home page of a deployment with the locator.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use maud::{Markup, html};
use signpost_locator::Country;

use super::SAVED_SCRIPT;
use super::context::PageContext;
use super::country::{countries, regions};
use super::data_date::data_date;
use super::document::{LocatorDocument, cached_or_drawn};
use super::notices::Notices;
use super::parts::search_form;
use crate::advisories::Location;
use crate::catalogue::TownArea;
use crate::service::AtmService;

/// A function that renders the home page section about the other services of a deployment.
pub type OtherServices = Box<dyn FnOnce() -> Markup + Send>;

/// Serves the home page: the search, the states, the fraud warning, and the other services of the deployment. `others`
/// is called only if the page is not cached.
///
/// The future is boxed because rustc generates the code of an `async fn` in the crate that awaits it, but this page
/// must be compiled with the optimization level of this crate.
pub fn show(mut head: Parts, service: AtmService, others: OtherServices) -> BoxFuture<'static, Response> {
    let response = async move {
        match PageContext::from_request_parts(&mut head, &service).await {
            Ok(context) => cached_or_drawn(context, move |context| draw(context, &others())).await,
            Err(problem) => problem.into_response(),
        }
    };
    response.boxed()
}

fn draw(context: &PageContext, others: &Markup) -> Response {
    let words = context.words();
    let here = TownArea { country: Country::UNITED_STATES, region: None };
    let areas = context.towns().areas();
    let count: usize = areas.iter().map(|(_, count)| count).sum();
    let has_atms_here = areas.iter().any(|(area, _)| area.country == here.country);
    let notices = Notices::at(context, has_atms_here.then_some(here.country), &Location::default(), None, 0);
    let main = html! {
        main #main .wrap {
            h1 { (words.home_title) }
            p.figures {
                span { ((words.machines)(count)) }
                @if let Some(sentence) = data_date(context, context.snapshot.dates()) { span { (sentence) } }
            }
            (search_form(context, ""))
            div.gap { (notices.folded) }
            (saved_list(context))
            @if count == 0 { div.empty { h2 { (words.no_machines) } } }
            (regions(context, here))
            (countries(context, here.country))
            (others)
        }
    };
    let title = words.home_title.to_owned();
    let document = LocatorDocument::new("/", title, words.home_description.to_owned(), main);
    let head = html! { script type="module" src=(SAVED_SCRIPT.link(&context.service.origin)) {} };
    LocatorDocument { head, ..document }.public(context)
}

/// Renders the section for the ATMs that the user saved. A script fills it from the storage of the browser.
fn saved_list(context: &PageContext) -> Markup {
    let words = context.words();
    let link = context.service.origin.link("/atm/");
    let query = context.named_language.map_or_else(String::new, |language| format!("?lang={}", language.tag()));
    html! {
        section #saved .card.gap hidden aria-labelledby="saved-title" data-link=(link) data-query=(query)
            data-remove=(words.saved_remove) {
            h2 #saved-title tabindex="-1" { (words.saved_list) }
            ul.saved {}
            p.sm.soft { (words.saved_note) }
        }
    }
}
