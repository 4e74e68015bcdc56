//! `<issuer>/logout` (OpenID Connect RP-Initiated Logout).

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::html;
use signpost_login::flows::sign_in::SignedInUser;
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::form::{FormRefusal, FormToken, PostedForm};
use signpost_platform::pages::icons::Sign;

use super::document::{application_of, headed, name};
use super::outcomes;
use super::visit::{PostedRequest, RealmVisit, failed, query_of, to};
use crate::flows::{
    AskedLogout, FlowError, LogoutFault, LogoutParameters, end_session, is_own_hint, read_hint, read_logout,
};

/// The fields of the form, beside its token.
const FIELDS: [&str; 3] = ["client_id", "post_logout_redirect_uri", "state"];

/// `GET <issuer>/logout`: done at once where the application shows whom it speaks of, else the person is asked.
pub(super) async fn ask(visit: RealmVisit, request: Request) -> Result<Response, Response> {
    let sent = LogoutParameters::read(query_of(request.uri()).map_err(IntoResponse::into_response)?);
    let asked = read(&visit, &sent).await?;
    let who = visit.find_signed_in().await?;
    if let Some(who) = &who
        && !is_own_hint(&asked, who)
    {
        return Ok(HtmlPage::personal(draw(&visit, &sent, &asked, who)).into_response());
    }
    end(&visit, &asked, who.as_ref()).await?;
    Ok(match &asked.onward {
        Some(url) => to(url),
        None => HtmlPage::personal(outcomes::render_logged_out(&visit)).into_response(),
    })
}

/// `POST <issuer>/logout`, from a page of the application's.
pub(super) async fn ask_by_form(visit: RealmVisit, request: Request) -> Result<Response, Response> {
    let posted = PostedRequest::receive(request).await?;
    let hint = match &posted.id_token_hint {
        Some(token) => {
            let hint = read_hint(&visit.service, &visit.realm, token).await.map_err(failed)?;
            Some(hint.ok_or_else(|| refuse_fault(&visit, LogoutFault::ForeignHint))?)
        }
        None => None,
    };
    Ok(visit.repeat_with_get("logout", posted, hint.as_ref()))
}

/// `POST <issuer>/logout/confirm`: the person pressed the button.
pub(super) async fn confirm(visit: RealmVisit, request: Request) -> Result<Response, Response> {
    let form = PostedForm::receive(&visit.service.origin, request).await;
    let form = form.map_err(|refusal| refuse(&visit, refusal))?;
    form.check(visit.browser.login_cookie.as_ref(), &purpose(&visit)).map_err(|refusal| refuse(&visit, refusal))?;
    let [client_id, post_logout_redirect_uri, state] =
        FIELDS.map(|field| form.text(field).filter(|text| !text.is_empty()).map(str::to_owned));
    let sent = LogoutParameters { client_id, post_logout_redirect_uri, state, ..LogoutParameters::default() };
    let asked = read(&visit, &sent).await?;
    let who = visit.find_signed_in().await?;
    end(&visit, &asked, who.as_ref()).await?;
    match &asked.onward {
        Some(url) => Ok(outcomes::leave(&visit, url)),
        None => Ok(HtmlPage::personal(outcomes::render_logged_out(&visit)).into_response()),
    }
}

async fn read(visit: &RealmVisit, sent: &LogoutParameters) -> Result<AskedLogout, Response> {
    let cookie = visit.browser.hint_cookie.as_ref();
    read_logout(&visit.service, &visit.realm, sent, cookie).await.map_err(|error| match error {
        FlowError::Refused(fault) => refuse_fault(visit, fault),
        FlowError::Internal(error) => failed(error),
    })
}

fn refuse_fault(visit: &RealmVisit, fault: LogoutFault) -> Response {
    let page = HtmlPage::personal(outcomes::render_logout_fault(visit, fault));
    page.with_status(StatusCode::BAD_REQUEST).into_response()
}

async fn end(visit: &RealmVisit, asked: &AskedLogout, who: Option<&SignedInUser>) -> Result<(), Response> {
    let cookie = visit.browser.login_cookie.as_ref();
    end_session(&visit.service, &visit.realm, asked, cookie, who).await.map_err(failed)
}

fn purpose(visit: &RealmVisit) -> String {
    format!("logout {}", visit.realm.id)
}

fn refuse(visit: &RealmVisit, refusal: FormRefusal) -> Response {
    let page = HtmlPage::personal(outcomes::render_stale(visit, "logout"));
    page.with_status(refusal.status()).into_response()
}

fn draw(visit: &RealmVisit, sent: &LogoutParameters, asked: &AskedLogout, who: &SignedInUser) -> String {
    let (words, domain) = (visit.words(), name(visit.realm.name.as_str()));
    let client_id = asked.client.as_ref().map(|client| client.id.as_str());
    let fields = [client_id, sent.post_logout_redirect_uri.as_deref(), sent.state.as_deref()];
    let token = visit.browser.login_cookie.as_ref().map(|cookie| FormToken::new(cookie, &purpose(visit)));
    let body = html! {
        (headed(Sign::Key, &(words.logout_question)(&domain), &(words.logout_you_are)(&name(who.user.petname.as_str()))))
        @if let Some(client) = &asked.client {
            @let uri = client.settings.redirect_uris.as_slice().first().map(ToString::to_string).unwrap_or_default();
            p { ((words.logout_asked_by)(&name(&application_of(client, &uri)))) }
        }
        form #logout method="post" action=(visit.link_in_language("logout/confirm")) {
            @if let Some(token) = &token { (token) }
            @for (field, value) in FIELDS.into_iter().zip(fields) {
                @if let Some(value) = value { input type="hidden" name=(field) value=(value); }
            }
            button.btn.primary.wide { (words.log_out) }
        }
        p.sm.soft { (words.stay) }
    };
    visit.draw(words.tab_logout, "logout", &body, false)
}
