//! `<issuer>/authorize`: an application sends a browser, and gets it back with a code.

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use signpost_platform::pages::HtmlPage;
use url::form_urlencoded;

use super::outcomes;
use super::visit::{PostedRequest, RealmVisit, failed, query_of};
use crate::flows::{
    BroughtBack, FlowError, Progress, RequestOutcome, answer_request, come_back as resume, read_asked, read_hint,
};

/// `GET <issuer>/authorize`
pub(super) async fn ask(visit: RealmVisit, request: Request) -> Result<Response, Response> {
    let query = query_of(request.uri()).map_err(IntoResponse::into_response)?;
    let asked = match read_asked(&visit.service, &visit.realm, query).await {
        Ok(asked) => asked,
        Err(FlowError::Internal(error)) => return Err(failed(error)),
        Err(FlowError::Refused(fault)) => {
            let page = HtmlPage::personal(outcomes::render_client_fault(&visit, &fault));
            return Err(page.with_status(StatusCode::BAD_REQUEST).into_response());
        }
    };
    let visit = visit.speaking(asked.ui_locales());
    let outcome = answer_request(&visit.service, asked, &visit.browser, Progress::default()).await;
    Ok(visit.send(outcome.map_err(IntoResponse::into_response)?))
}

/// `POST <issuer>/authorize`, from a page of the application's.
pub(super) async fn ask_by_form(visit: RealmVisit, request: Request) -> Result<Response, Response> {
    let posted = PostedRequest::receive(request).await?;
    let hint = match &posted.id_token_hint {
        Some(token) => read_hint(&visit.service, &visit.realm, token).await.map_err(failed)?,
        None => None,
    };
    Ok(visit.repeat_with_get("authorize", posted, hint.as_ref()))
}

/// `GET <issuer>/authorize/return`: the browser is back from the login page. What it brings is worth something once.
pub(super) async fn come_back(visit: RealmVisit, request: Request) -> Result<Response, Response> {
    let query = query_of(request.uri()).map_err(IntoResponse::into_response)?;
    let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
    let text = |name: &str| pairs.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value.as_ref());
    let brought = match text("code") {
        "" => BroughtBack::Nothing(text("error")),
        code => BroughtBack::Code(code),
    };
    let outcome = resume(&visit.service, &visit.realm, &visit.browser, text("session_id"), brought).await;
    let outcome = outcome.map_err(IntoResponse::into_response)?;
    let visit = match &outcome {
        RequestOutcome::AskConsent(question) => visit.speaking(question.asked.ui_locales()),
        _ => visit,
    };
    Ok(visit.send(outcome))
}
