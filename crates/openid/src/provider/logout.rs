//! Handlers of `<issuer>/logout` (OpenID Connect RP-Initiated Logout).

use axum::extract::Request;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use maud::html;
use signpost_login::flows::sign_in::SignedInUser;
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::form::{CsrfToken, PostedForm, PostedFormError};
use signpost_platform::pages::icons::PageIcon;

use super::context::{IssuerContext, PostedRequest, internal_error, query_of, redirect_to};
use super::document::{application_of, headed, name};
use super::outcomes;
use crate::flows::{
    FlowError, LogoutFault, LogoutParameters, LogoutRequest, end_session, is_own_hint, read_hint, read_logout,
};

/// The fields of the form, apart from its CSRF token.
const FIELDS: [&str; 3] = ["client_id", "post_logout_redirect_uri", "state"];

/// `GET <issuer>/logout`: signs out at once if the request has an ID token of the user, else asks for confirmation.
pub(super) async fn log_out(context: IssuerContext, uri: Uri) -> Result<Response, Response> {
    let query = query_of(&uri).map_err(IntoResponse::into_response)?;
    let sent = LogoutParameters::read(query);
    let request = read(&context, &sent).await?;
    let signed_in = context.find_signed_in().await?;
    if let Some(signed_in) = &signed_in
        && !is_own_hint(&request, signed_in)
    {
        return Ok(HtmlPage::personal(draw(&context, &sent, &request, signed_in)).into_response());
    }
    end(&context, &request, signed_in.as_ref()).await?;
    Ok(match &request.redirect {
        Some(url) => redirect_to(url),
        None => HtmlPage::personal(outcomes::render_logged_out(&context)).into_response(),
    })
}

/// `POST <issuer>/logout`: accepts a logout request that a page of the client posted.
pub(super) async fn log_out_by_form(context: IssuerContext, request: Request) -> Result<Response, Response> {
    let posted = PostedRequest::receive(request).await?;
    let hint = match &posted.id_token_hint {
        Some(token) => {
            let hint = read_hint(&context.service, &context.domain, token).await.map_err(internal_error)?;
            Some(hint.ok_or_else(|| refuse_fault(&context, LogoutFault::ForeignHint))?)
        }
        None => None,
    };
    Ok(context.repeat_with_get("logout", posted, hint.as_ref()))
}

/// `POST <issuer>/logout/confirm`: signs out after the confirmation of the user.
pub(super) async fn confirm(context: IssuerContext, request: Request) -> Result<Response, Response> {
    let form = PostedForm::receive(&context.service.origin, request).await;
    let form = form.map_err(|refusal| refuse(&context, refusal))?;
    let checked = form.check(context.browser.login_cookie.as_ref(), &purpose(&context));
    checked.map_err(|refusal| refuse(&context, refusal))?;
    let [client_id, post_logout_redirect_uri, state] =
        FIELDS.map(|field| form.text(field).filter(|text| !text.is_empty()).map(str::to_owned));
    let sent = LogoutParameters { client_id, post_logout_redirect_uri, state, ..LogoutParameters::default() };
    let request = read(&context, &sent).await?;
    let signed_in = context.find_signed_in().await?;
    end(&context, &request, signed_in.as_ref()).await?;
    match &request.redirect {
        Some(url) => Ok(outcomes::redirect_after_form(&context, url)),
        None => Ok(HtmlPage::personal(outcomes::render_logged_out(&context)).into_response()),
    }
}

async fn read(context: &IssuerContext, sent: &LogoutParameters) -> Result<LogoutRequest, Response> {
    let cookie = context.browser.hint_cookie.as_ref();
    read_logout(&context.service, &context.domain, sent, cookie).await.map_err(|error| match error {
        FlowError::Refused(fault) => refuse_fault(context, fault),
        FlowError::Internal(error) => internal_error(error),
    })
}

fn refuse_fault(context: &IssuerContext, fault: LogoutFault) -> Response {
    let page = HtmlPage::personal(outcomes::render_logout_fault(context, fault));
    page.with_status(StatusCode::BAD_REQUEST).into_response()
}

async fn end(
    context: &IssuerContext,
    request: &LogoutRequest,
    signed_in: Option<&SignedInUser>,
) -> Result<(), Response> {
    let cookie = context.browser.login_cookie.as_ref();
    end_session(&context.service, &context.domain, request, cookie, signed_in).await.map_err(internal_error)
}

/// Returns the purpose of the form's CSRF token.
fn purpose(context: &IssuerContext) -> String {
    format!("logout {}", context.domain.id)
}

fn refuse(context: &IssuerContext, refusal: PostedFormError) -> Response {
    let page = HtmlPage::personal(outcomes::render_stale(context, "logout"));
    page.with_status(refusal.status()).into_response()
}

fn draw(context: &IssuerContext, sent: &LogoutParameters, request: &LogoutRequest, signed_in: &SignedInUser) -> String {
    let words = context.words();
    let domain = name(context.domain.name.as_str());
    let client_id = request.client.as_ref().map(|client| client.id.as_str());
    let fields = [client_id, sent.post_logout_redirect_uri.as_deref(), sent.state.as_deref()];
    let token = context.browser.login_cookie.as_ref().map(|cookie| CsrfToken::new(cookie, &purpose(context)));
    let body = html! {
        (headed(PageIcon::Key, &(words.logout_question)(&domain), &(words.logout_signed_in_as)(&name(signed_in.user.username()))))
        @if let Some(client) = &request.client {
            @let uri = client.settings.redirect_uris.as_slice().first().map(ToString::to_string).unwrap_or_default();
            p { ((words.logout_requested_by)(&name(&application_of(client, &uri)))) }
        }
        form #logout method="post" action=(context.link_in_language("logout/confirm")) {
            @if let Some(token) = &token { (token) }
            @for (field, value) in FIELDS.into_iter().zip(fields) {
                @if let Some(value) = value { input type="hidden" name=(field) value=(value); }
            }
            button.btn.primary.wide { (words.log_out) }
        }
        p.sm.soft { (words.stay_signed_in) }
    };
    context.draw(words.tab_logout, "logout", &body, false)
}
