//! Pages that add an operator by a single-use link. A link is valid for half an hour, in the first
//! browser that opens it.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::html;
use serde_json::json;
use signpost_login::flows::sign_in::{SignedInUser, sign_out_statements};
use signpost_platform::accounts::audit::Action;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::pages::cookie::{CookieName, CookieSecret};
use signpost_platform::pages::icons::PageIcon;
use signpost_store::{WriteError, random};

use super::context::{ConsoleError, OperatorContext};
use super::entry::{entry_header, login_button, render_entry};
use super::operators::{self, LINK_LIFETIME, add_by_link, has_link, open_link};
use super::visitor_context::VisitorContext;

/// Name of the cookie that identifies the browser that opened a link. The token itself is in no
/// cookie, and in no URL that a server receives.
const SETUP_COOKIE: CookieName = CookieName::new("signpost_setup");

/// `GET /console/setup`: shows the page that a link leads to.
pub(super) async fn show(visitor: VisitorContext, headers: HeaderMap) -> Result<Response, ConsoleError> {
    if !has_open_link(&visitor, &headers).await? {
        return Ok(visitor.page(render_question(&visitor, false)).into_response());
    }
    let Some(signed_in) = &visitor.signed_in else {
        return Ok(visitor.page(render_login(&visitor)).into_response());
    };
    if operators::find(&visitor.store, &signed_in.user.id).await?.is_some() {
        return Ok(visitor.redirect_to("/console"));
    }
    Ok(visitor.page(render_confirmation(&visitor, signed_in)).into_response())
}

/// `POST /console/setup`: opens the link in the form field `link`, which the page's script fills
/// from the fragment. The form has no CSRF token, because the token of the link is a secret, but it
/// must come from a page of this server.
pub(super) async fn open(visitor: VisitorContext, request: Request) -> Result<Response, ConsoleError> {
    let form = visitor.receive_unchecked(request).await?;
    let link = form.text("link").unwrap_or_default().trim();
    let Some(token) = CookieSecret::parse(link.rsplit('#').next().unwrap_or_default()) else {
        return Ok(refuse_link(&visitor));
    };
    let browser = CookieSecret::from_bytes(random());
    match open_link(&visitor.store, &token, &browser, visitor.now).await {
        Ok(()) => {
            let cookie = SETUP_COOKIE.set(&visitor.origin, &browser, LINK_LIFETIME);
            Ok(with_cookie(visitor.redirect_to("/console/setup"), cookie))
        }
        Err(WriteError::Conflict) => Ok(refuse_link(&visitor)),
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}

/// `POST /console/setup/confirm`: adds the signed-in user to the operators.
pub(super) async fn confirm(visitor: VisitorContext, request: Request) -> Result<Response, ConsoleError> {
    let browser = SETUP_COOKIE.read(&visitor.origin, request.headers());
    visitor.receive(request, "setup").await?;
    let (Some(browser), Some(signed_in)) = (browser, &visitor.signed_in) else {
        return Ok(visitor.redirect_to("/console/setup"));
    };
    match add_by_link(&visitor.store, &browser, &signed_in.user.id, visitor.now).await {
        Ok(()) => {
            tracing::info!(user = %signed_in.user.id, "an operator was added");
            Ok(with_cookie(visitor.redirect_to("/console"), SETUP_COOKIE.clear(&visitor.origin)))
        }
        Err(WriteError::Conflict) => Ok(refuse_link(&visitor)),
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}

/// Returns the page that requests the link, with the error that this link is invalid.
fn refuse_link(visitor: &VisitorContext) -> Response {
    visitor.page(render_question(visitor, true)).with_status(StatusCode::FORBIDDEN).into_response()
}

/// `POST /console/sign-out`: signs out at the system domain, in this browser.
pub(super) async fn sign_out(context: OperatorContext, request: Request) -> Result<Response, ConsoleError> {
    context.receive(request, "sign-out").await?;
    let user = &context.signed_in.user.id;
    let entry = insert_entry(&context.actor(), None, Action::UserSignedOut, user.as_str(), &json!({}), context.now);
    let mut statements = sign_out_statements(&context.signed_in, None, context.now);
    statements.push(entry);
    context.store.write(statements).await?;
    Ok(context.redirect_to("/console"))
}

/// Returns true if this browser has opened a link that is still valid.
async fn has_open_link(visitor: &VisitorContext, headers: &HeaderMap) -> anyhow::Result<bool> {
    match SETUP_COOKIE.read(&visitor.origin, headers) {
        Some(browser) => has_link(&visitor.store, &browser, visitor.now).await,
        None => Ok(false),
    }
}

fn with_cookie(mut response: Response, cookie: HeaderValue) -> Response {
    response.headers_mut().append(header::SET_COOKIE, cookie);
    response
}

fn render_question(visitor: &VisitorContext, is_refused: bool) -> String {
    let body = html! {
        (entry_header(PageIcon::Key, "Set up the console", "You need a link from this server. It works once, for 30 minutes."))
        @if is_refused {
            div.notice.danger role="alert" {
                (PageIcon::Stop.draw(20))
                div {
                    p { b { "This link does not work." } }
                    p.sm { "It was used, is older than 30 minutes, or another browser opened it. " code { "signpost console link" }
                        " prints a new one." }
                }
            }
        }
        form id="setup" class="stack" method="post" action=(visitor.origin.link("/console/setup")) {
            div.field {
                label for="link" { "The link" }
                input #link name="link" required autocomplete="off" spellcheck="false" autocapitalize="off";
                p.hint { "The server printed it when it started; " code { "signpost console link" } " prints another." }
            }
            button.btn.primary.wide { "Go on" }
        }
    };
    render_entry(visitor, "Set up", if is_refused { "refused" } else { "setup" }, &body)
}

fn render_login(visitor: &VisitorContext) -> String {
    let body = html! {
        (entry_header(PageIcon::Key, "Now log in", "The wallet or passkey that you log in with becomes an operator of this server."))
        (login_button(visitor, "/console/setup", "Log in"))
    };
    render_entry(visitor, "Log in", "setup-login", &body)
}

fn render_confirmation(visitor: &VisitorContext, signed_in: &SignedInUser) -> String {
    let key = &signed_in.proof.public_key;
    let ends = key.get(key.len().saturating_sub(8)..).unwrap_or(key);
    let body = html! {
        (entry_header(PageIcon::Key, "Become an operator?", "An operator sees and changes everything that this server keeps."))
        dl.facts {
            dt { "You are" } dd { (signed_in.user.username()) }
            dt { "Your key ends in" } dd { code { (ends) } }
        }
        form #confirm method="post" action=(visitor.origin.link("/console/setup/confirm")) {
            (visitor.token("setup"))
            button.btn.primary.wide { "Yes, make me an operator" }
        }
        (login_button(visitor, "/console/setup", "Log in with another key"))
    };
    render_entry(visitor, "Become an operator", "confirm", &body)
}
