//! How somebody becomes an operator: by a link that works once, for half an hour, in the browser that opens it first.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::html;
use serde_json::json;
use signpost_login::account::login_form_token;
use signpost_login::flows::sign_in::{SignedInUser, sign_out_steps};
use signpost_platform::accounts::audit::Action;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::pages::cookie::{CookieName, CookieSecret};
use signpost_platform::pages::form::PostedForm;
use signpost_platform::pages::icons::Sign;
use signpost_store::{WriteError, random};

use super::Console;
use super::door::{draw_door, headed, login_button};
use super::operators::{self, LINK_LASTS, add_by_link, has_link, open_link};
use super::visit::{DoorVisitor, OperatorVisit, failed, refuse, to};

/// Which browser opened a link. The token itself is in no cookie and no address that a server sees.
const SETUP_COOKIE: CookieName = CookieName::new("signpost_setup");

/// `GET /console/setup`
pub(super) async fn show(visitor: DoorVisitor, headers: HeaderMap) -> Result<Response, Response> {
    let browser = find_browser(&visitor, &headers).await?;
    Ok(match (browser, &visitor.who) {
        (None, _) => visitor.page(render_question(&visitor, false)).into_response(),
        (Some(_), None) => visitor.page(render_login(&visitor)).into_response(),
        (Some(_), Some(who)) => {
            if operators::find(&visitor.console.store, &who.user.id).await.map_err(failed)?.is_some() {
                return Ok(to(&visitor.console, "/console"));
            }
            visitor.page(render_confirmation(&visitor, who)).into_response()
        }
    })
}

/// `POST /console/setup`: `token`, from the fragment by the script, or the whole link by hand. What guards it is the token,
/// which no other page knows; still it must come from a page of this server.
pub(super) async fn open(visitor: DoorVisitor, request: Request) -> Result<Response, Response> {
    let (console, now) = (&visitor.console, visitor.now);
    let form = PostedForm::receive(&console.origin, request).await;
    let form = form.map_err(|refusal| refuse(console, refusal))?;
    let typed = form.text("link").unwrap_or_default().trim();
    let token = CookieSecret::parse(typed.rsplit('#').next().unwrap_or_default());
    let browser = CookieSecret::from_bytes(random());
    let opened = match &token {
        Some(token) => open_link(&console.store, token, &browser, now).await,
        None => Err(WriteError::Conflict),
    };
    match opened {
        Ok(()) => {
            Ok(with_cookie(to(console, "/console/setup"), SETUP_COOKIE.set(&console.origin, &browser, LINK_LASTS)))
        }
        Err(WriteError::Conflict) => Ok(refuse_link(&visitor)),
        Err(WriteError::Internal(error)) => Err(failed(error)),
    }
}

/// `POST /console/setup/confirm`: whoever is signed in becomes an operator.
pub(super) async fn confirm(
    State(console): State<Console>,
    visitor: DoorVisitor,
    request: Request,
) -> Result<Response, Response> {
    let browser = SETUP_COOKIE.read(&console.origin, request.headers());
    visitor.receive(request, "setup").await?;
    let (Some(browser), Some(who)) = (browser, &visitor.who) else { return Ok(to(&console, "/console/setup")) };
    match add_by_link(&console.store, &browser, &who.user.id, visitor.now).await {
        Ok(()) => {
            tracing::info!(user = %who.user.id, "an operator was added");
            Ok(with_cookie(to(&console, "/console"), SETUP_COOKIE.clear(&console.origin)))
        }
        Err(WriteError::Conflict) => Ok(refuse_link(&visitor)),
        Err(WriteError::Internal(error)) => Err(failed(error)),
    }
}

/// Returns the page that asks for the link, with the error that this link does not work.
fn refuse_link(visitor: &DoorVisitor) -> Response {
    visitor.page(render_question(visitor, true)).with_status(StatusCode::FORBIDDEN).into_response()
}

/// `POST /console/sign-out`: of the server's own domain, in this browser.
pub(super) async fn sign_out(visit: OperatorVisit, request: Request) -> Result<Response, Response> {
    visit.receive(request, "sign-out").await?;
    let user = &visit.who.user.id;
    let entry = insert_entry(&visit.actor(), None, Action::UserSignedOut, user.as_str(), &json!({}), visit.now);
    let [out, links] = sign_out_steps(&visit.who, visit.now);
    visit.console.store.write([out, links, entry]).await.map_err(failed)?;
    Ok(to(&visit.console, "/console"))
}

async fn find_browser(visitor: &DoorVisitor, headers: &HeaderMap) -> Result<Option<CookieSecret>, Response> {
    let Some(browser) = SETUP_COOKIE.read(&visitor.console.origin, headers) else { return Ok(None) };
    let is_open = has_link(&visitor.console.store, &browser, visitor.now).await.map_err(failed)?;
    Ok(is_open.then_some(browser))
}

fn with_cookie(mut response: Response, cookie: HeaderValue) -> Response {
    response.headers_mut().append(header::SET_COOKIE, cookie);
    response
}

fn render_question(visitor: &DoorVisitor, is_refused: bool) -> String {
    let console = &visitor.console;
    let body = html! {
        (headed(Sign::Key, "Set up the console", "You need a link from this server. It works once, for 30 minutes."))
        @if is_refused {
            div.notice.danger role="alert" {
                (Sign::Stop.draw(20))
                div {
                    p { b { "This link does not work." } }
                    p.sm { "It was used, is older than 30 minutes, or another browser opened it. " code { "signpost console link" }
                        " prints a new one." }
                }
            }
        }
        form id="setup" class="stack" method="post" action=(console.origin.link("/console/setup")) {
            div.field {
                label for="link" { "The link" }
                input #link name="link" required autocomplete="off" spellcheck="false" autocapitalize="off";
                p.hint { "The server printed it when it started; " code { "signpost console link" } " prints another." }
            }
            button.btn.primary.wide { "Go on" }
        }
    };
    draw_door(console, "Set up", if is_refused { "refused" } else { "setup" }, &body)
}

fn render_login(visitor: &DoorVisitor) -> String {
    let (console, domain) = (&visitor.console, &visitor.domain);
    let token = login_form_token(&visitor.cookie, &domain.id);
    let body = html! {
        (headed(Sign::Key, "Now log in", "The wallet or passkey that you log in with becomes an operator of this server."))
        (login_button(console, domain, &token, ("/console/setup", "Log in")))
    };
    draw_door(console, "Log in", "setup-login", &body)
}

fn render_confirmation(visitor: &DoorVisitor, who: &SignedInUser) -> String {
    let console = &visitor.console;
    let (name, key) = (who.user.petname.as_str(), &who.proof.public_key);
    let ends = key.get(key.len().saturating_sub(8)..).unwrap_or(key);
    let body = html! {
        (headed(Sign::Key, "Become an operator?", "An operator sees and changes everything that this server keeps."))
        dl.facts {
            dt { "You are" } dd { (name) }
            dt { "Your key ends in" } dd { code { (ends) } }
        }
        form #confirm method="post" action=(console.origin.link("/console/setup/confirm")) {
            (visitor.token("setup"))
            button.btn.primary.wide { "Yes, make me an operator" }
        }
        (login_button(console, &visitor.domain, &login_form_token(&visitor.cookie, &visitor.domain.id),
            ("/console/setup", "Log in with another key")))
    };
    draw_door(console, "Become an operator", "confirm", &body)
}
