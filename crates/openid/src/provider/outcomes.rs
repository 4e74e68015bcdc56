//! Pages that say what became of a request: its client is unknown, it is over, a form was refused, the browser leaves.

use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::frame::refresh_to;
use signpost_platform::pages::icons::Sign;
use url::Url;

use super::document::{headed, name};
use super::visit::{RealmVisit, failed};
use super::words::DomainText;
use crate::authorizations::host_of;
use crate::flows::{ClientFault, LogoutFault, UnableRealm};

/// The application sent the browser in a way that must not be answered to wherever it says.
pub(super) fn render_client_fault(visit: &RealmVisit, fault: &ClientFault) -> String {
    let words = visit.words();
    let (told, detail) = match fault {
        ClientFault::UnknownClient => (&words.unknown_client, html! { (words.unknown_client_detail) }),
        ClientFault::NoRedirectUri => (&words.unknown_return, html! { (words.no_return_detail) }),
        ClientFault::UnknownRedirectUri(uri) => {
            (&words.unknown_return, html! { (words.unknown_return_detail) " " code { bdi { (uri) } } })
        }
    };
    fault_page(visit, "client-fault", told, &html! {}, &detail)
}

/// Nobody can log in here. Whoever runs the server reads why; the application learns it from who goes back.
pub(super) fn render_unable(visit: &RealmVisit, unable: &UnableRealm) -> String {
    let words = visit.words();
    let host = name(&host_of(&unable.asked.address.redirect_uri));
    let way_on = html! {
        div.stack-sm { a #back .btn.primary.wide href=(unable.way_back) { span { ((words.back_to)(&host)) } } }
    };
    let detail = html! { (words.unable_detail) " " code { bdi lang="en" { (unable.reason) } } };
    fault_page(visit, "unable", &words.unable, &way_on, &detail)
}

/// A logout that must not be done as it was asked for.
pub(super) fn render_logout_fault(visit: &RealmVisit, fault: LogoutFault) -> String {
    let words = visit.words();
    let (told, detail) = match fault {
        LogoutFault::ForeignHint => (&words.no_logout, words.foreign_hint_detail),
        LogoutFault::UnknownClient => (&words.no_logout, words.unknown_client_detail),
        LogoutFault::UnknownAddress => (&words.no_logout, words.unknown_logout_return_detail),
    };
    let way_on = html! {
        div.stack-sm {
            a #log-out .btn.primary.wide href=(visit.link_in_language("logout")) { (words.log_out_here) }
        }
    };
    fault_page(visit, "logout-fault", told, &way_on, &html! { (detail) })
}

fn fault_page(visit: &RealmVisit, state: &str, told: &DomainText, way_on: &Markup, detail: &Markup) -> String {
    let words = visit.words();
    let body = html! {
        (headed(Sign::Stop, &html! { (told.head) }, &(told.text)(&name(visit.realm.name.as_str()))))
        (way_on)
        div.notice { (Sign::Info.draw(20)) div { p { b { (words.for_builders) } } p.sm { (detail) } } }
    };
    visit.draw(told.head, state, &body, false)
}

/// The request is over, or of another browser.
pub(super) fn render_over(visit: &RealmVisit) -> String {
    let told = &visit.words().over;
    let text = (told.text)(&name(visit.realm.name.as_str()));
    visit.draw(told.head, "over", &headed(Sign::Clock, &html! { (told.head) }, &text), false)
}

/// A form was refused, and nothing was done; `path`, below the issuer, is the page that has a good one.
pub(super) fn render_stale(visit: &RealmVisit, path: &str) -> String {
    let words = visit.words();
    let body = html! {
        (headed(Sign::Stop, &html! { (words.stale.head) }, &(words.stale.text)(&name(visit.realm.name.as_str()))))
        div.stack-sm {
            a.btn.primary.wide href=(visit.link_in_language(path)) { (words.show_again) }
        }
    };
    visit.draw(words.stale.head, "stale", &body, false)
}

/// The browser goes to another site after a button was pressed: by a link and a refresh, for a redirect would be held
/// against `form-action`.
pub(super) fn leave(visit: &RealmVisit, url: &str) -> Response {
    let words = visit.words();
    let url = match Url::parse(url) {
        Ok(url) => url,
        Err(error) => return failed(error.into()),
    };
    let host = host_of(url.as_str());
    let body = html! {
        (headed(Sign::Tick, &html! { (words.done) }, &(words.going_back)(&name(&host))))
        div.stack-sm {
            a #continue .btn.primary.wide href=(url) { span { ((words.continue_to)(&name(&host))) } }
        }
    };
    HtmlPage::personal(visit.draw_with_head(words.done, "leaving", &body, false, refresh_to(&url))).into_response()
}

/// Nobody is signed in here any more.
pub(super) fn render_logged_out(visit: &RealmVisit) -> String {
    let told = &visit.words().logged_out;
    let text = (told.text)(&name(visit.realm.name.as_str()));
    visit.draw(told.head, "logged-out", &headed(Sign::Tick, &html! { (told.head) }, &text), false)
}
