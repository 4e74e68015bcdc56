//! Renders pages that end a request: errors, expired requests, refused forms, and redirects after a
//! form.

use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::frame::refresh_to;
use signpost_platform::pages::icons::PageIcon;
use url::Url;

use super::context::{IssuerContext, internal_error};
use super::document::{headed, name};
use super::words::DomainText;
use crate::authorizations::host_of;
use crate::flows::{ClientFault, LogoutFault, UnavailableIssuer};

/// Renders the page for an error that must not be reported to the redirect URI.
pub(super) fn render_client_fault(context: &IssuerContext, fault: &ClientFault) -> String {
    let words = context.words();
    let (message, detail) = match fault {
        ClientFault::UnknownClient => (&words.unknown_client, html! { (words.unknown_client_detail) }),
        ClientFault::NoRedirectUri => (&words.unknown_redirect_uri, html! { (words.no_redirect_uri_detail) }),
        ClientFault::UnknownRedirectUri(uri) => {
            (&words.unknown_redirect_uri, html! { (words.unknown_redirect_uri_detail) " " code { bdi { (uri) } } })
        }
    };
    fault_page(context, "client-fault", message, &html! {}, &detail)
}

/// Renders the page for an issuer that accepts no logins, with the reason and the link back to the client.
pub(super) fn render_unavailable(context: &IssuerContext, unavailable: &UnavailableIssuer) -> String {
    let words = context.words();
    let host = name(&host_of(&unavailable.request.target.redirect_uri));
    let next_step = html! {
        div.stack-sm { a #back .btn.primary.wide href=(unavailable.error_redirect) { span { ((words.back_to)(&host)) } } }
    };
    let detail = html! { (words.unavailable_detail) " " code { bdi lang="en" { (unavailable.reason) } } };
    fault_page(context, "unable", &words.unavailable, &next_step, &detail)
}

/// Renders the page for an invalid logout request.
pub(super) fn render_logout_fault(context: &IssuerContext, fault: LogoutFault) -> String {
    let words = context.words();
    let (message, detail) = match fault {
        LogoutFault::ForeignHint => (&words.invalid_logout, words.foreign_hint_detail),
        LogoutFault::UnknownClient => (&words.invalid_logout, words.unknown_client_detail),
        LogoutFault::UnknownRedirectUri => (&words.invalid_logout, words.unknown_logout_redirect_uri_detail),
    };
    let next_step = html! {
        div.stack-sm {
            a #log-out .btn.primary.wide href=(context.link_in_language("logout")) { (words.log_out_here) }
        }
    };
    fault_page(context, "logout-fault", message, &next_step, &html! { (detail) })
}

fn fault_page(
    context: &IssuerContext,
    state: &str,
    message: &DomainText,
    next_step: &Markup,
    detail: &Markup,
) -> String {
    let words = context.words();
    let body = html! {
        (headed(PageIcon::Stop, &html! { (message.head) }, &(message.text)(&name(context.domain.name.as_str()))))
        (next_step)
        div.notice { (PageIcon::Info.draw(20)) div { p { b { (words.for_developers) } } p.sm { (detail) } } }
    };
    context.draw(message.head, state, &body, false)
}

/// Renders the page for an authorization that has ended, or belongs to another browser.
pub(super) fn render_expired(context: &IssuerContext) -> String {
    let message = &context.words().expired;
    let text = (message.text)(&name(context.domain.name.as_str()));
    context.draw(message.head, "over", &headed(PageIcon::Clock, &html! { (message.head) }, &text), false)
}

/// Renders the page for a refused form. `path` is the page, below the issuer, that has a new form.
pub(super) fn render_stale(context: &IssuerContext, path: &str) -> String {
    let words = context.words();
    let body = html! {
        (headed(PageIcon::Stop, &html! { (words.stale.head) }, &(words.stale.text)(&name(context.domain.name.as_str()))))
        div.stack-sm {
            a.btn.primary.wide href=(context.link_in_language(path)) { (words.show_again) }
        }
    };
    context.draw(words.stale.head, "stale", &body, false)
}

/// Sends the browser to another site after a form was posted: by a link and a refresh, because the policy `form-action`
/// blocks a redirect.
pub(super) fn redirect_after_form(context: &IssuerContext, url: &str) -> Response {
    let words = context.words();
    let url = match Url::parse(url) {
        Ok(url) => url,
        Err(error) => return internal_error(error.into()),
    };
    let host = host_of(url.as_str());
    let body = html! {
        (headed(PageIcon::Tick, &html! { (words.done) }, &(words.returning_to)(&name(&host))))
        div.stack-sm {
            a #continue .btn.primary.wide href=(url) { span { ((words.continue_to)(&name(&host))) } }
        }
    };
    HtmlPage::personal(context.draw_with_head(words.done, "leaving", &body, false, refresh_to(&url))).into_response()
}

/// Renders the page after a logout.
pub(super) fn render_logged_out(context: &IssuerContext) -> String {
    let message = &context.words().logged_out;
    let text = (message.text)(&name(context.domain.name.as_str()));
    context.draw(message.head, "logged-out", &headed(PageIcon::Tick, &html! { (message.head) }, &text), false)
}
