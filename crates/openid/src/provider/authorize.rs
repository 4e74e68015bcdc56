//! Handlers of the authorization endpoint `<issuer>/authorize`.

use std::borrow::Cow;

use axum::extract::Request;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use signpost_platform::pages::HtmlPage;
use url::form_urlencoded;

use super::context::{IssuerContext, PostedRequest, internal_error, query_of};
use super::outcomes;
use crate::flows::{
    self, AuthorizeOutcome, FlowError, FlowState, LoginPageResult, answer_request, read_authorization_request,
    read_hint,
};

/// `GET <issuer>/authorize`: answers an authorization request.
pub(super) async fn authorize(context: IssuerContext, uri: Uri) -> Result<Response, Response> {
    let query = query_of(&uri).map_err(IntoResponse::into_response)?;
    let request = match read_authorization_request(&context.service, &context.domain, query).await {
        Ok(request) => request,
        Err(FlowError::Internal(error)) => return Err(internal_error(error)),
        Err(FlowError::Refused(fault)) => {
            let page = HtmlPage::personal(outcomes::render_client_fault(&context, &fault));
            return Err(page.with_status(StatusCode::BAD_REQUEST).into_response());
        }
    };
    let context = context.with_locales(request.ui_locales());
    let outcome = answer_request(&context.service, request, &context.browser, FlowState::default()).await;
    Ok(context.respond(outcome.map_err(IntoResponse::into_response)?))
}

/// `POST <issuer>/authorize`: accepts an authorization request that a page of the client posted.
pub(super) async fn authorize_by_form(context: IssuerContext, request: Request) -> Result<Response, Response> {
    let posted = PostedRequest::receive(request).await?;
    let hint = match &posted.id_token_hint {
        Some(token) => read_hint(&context.service, &context.domain, token).await.map_err(internal_error)?,
        None => None,
    };
    Ok(context.repeat_with_get("authorize", posted, hint.as_ref()))
}

/// `GET <issuer>/authorize/return`: continues an authorization when the browser returns from the
/// login page.
pub(super) async fn handle_login_callback(context: IssuerContext, uri: Uri) -> Result<Response, Response> {
    let query = query_of(&uri).map_err(IntoResponse::into_response)?;
    let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
    let session = first_value(&pairs, "session_id");
    let callback = match first_value(&pairs, "code") {
        "" => LoginPageResult::Error(first_value(&pairs, "error")),
        code => LoginPageResult::Code(code),
    };
    let outcome =
        flows::handle_login_callback(&context.service, &context.domain, &context.browser, session, callback).await;
    let outcome = outcome.map_err(IntoResponse::into_response)?;
    let context = match &outcome {
        AuthorizeOutcome::ConsentRequired(question) => context.with_locales(question.request.ui_locales()),
        _ => context,
    };
    Ok(context.respond(outcome))
}

fn first_value<'a>(pairs: &'a [(Cow<'_, str>, Cow<'_, str>)], name: &str) -> &'a str {
    pairs.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value)
}
