//! The report form `/atm/{id}/report`. The page of the ATM is identical for all users; it asks the first question
//! ([`ask()`]) and leads to this form. A cookie binds the form to a browser.

mod ask;
mod document;
mod form;
mod quote;
mod words;

use axum::Router;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use signpost_platform::accounts::Environment;
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::form::{PostedForm, PostedFormError};
use signpost_platform::web::PathParams;
use signpost_platform::web::problem::Problem;

use super::context::PageContext;
use crate::reporting::{ReportRefusal, ReportRequest, ReportSender, accept_report};
use crate::reports::ReportState;
use crate::reports::admission::{ReportFields, ValidReport};
use crate::service::AtmService;
use document::{FormProblem, ReportInput};
use form::ReportForm;

pub(super) use ask::ask;
pub(super) use quote::quote;

/// Returns the routes of the report form.
pub(super) fn router() -> Router<AtmService> {
    Router::new().route("/atm/{id}/report", get(show).post(send))
}

/// Serves `GET /atm/{id}/report`: the form with the answer from the ATM's page, or the confirmation of a report.
async fn show(
    context: PageContext,
    PathParams(id): PathParams<String>,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let form = ReportForm::open(context, &id, &headers).await?;
    if let Some(state) = form.context.parameter("said").as_deref().and_then(ReportState::parse) {
        return Ok(form.page(document::draw_confirmation(&form, state)).into_response());
    }
    let input = ReportInput {
        seen: form.context.parameter("seen").unwrap_or_default(),
        how: form.context.parameter("how").unwrap_or_default(),
        text: String::new(),
    };
    Ok(form.page(document::draw_form(&form, &input, None)).into_response())
}

/// Handles `POST /atm/{id}/report` with the form fields `seen`, `how` and `text`.
async fn send(
    context: PageContext,
    PathParams(id): PathParams<String>,
    request: Request,
) -> Result<Response, Response> {
    let form = ReportForm::open(context, &id, request.headers()).await?;
    let posted = match PostedForm::receive(&form.context.service.origin, request).await {
        Ok(posted) => posted,
        Err(refusal) => return Err(refuse(&form, refusal)),
    };
    let input = ReportInput::from_posted(&posted);
    if form.check(&posted).is_err() {
        return Err(retry(&form, &input, FormProblem::Stale));
    }
    let how = if input.how.is_empty() { None } else { Some(input.how.as_str()) };
    let fields = ReportFields { seen: &input.seen, how, at: None, text: Some(&input.text) };
    let sent = match ValidReport::read(fields, form.context.now) {
        Ok(sent) => sent,
        Err(bad) => return Err(retry(&form, &input, FormProblem::Field(bad.field))),
    };
    let sender = ReportSender::Person(form.context.caller.clone(), form.visitor.clone());
    let request = ReportRequest { snapshot: &form.context.snapshot, atm: form.atm, sent, pow: None, sender };
    match accept_report(&form.context.service, Environment::Live, request).await {
        Ok(accepted) => Ok(Redirect::to(&form.thanks_link(accepted.report.state)).into_response()),
        Err(ReportRefusal::ReporterBanned) => Err(retry(&form, &input, FormProblem::Banned)),
        Err(ReportRefusal::Problem(Problem::RateLimited(exceeded))) => {
            let reply = retry(&form, &input, FormProblem::TooMany(exceeded.retry_after()));
            Err((Problem::RateLimited(exceeded).headers(), reply).into_response())
        }
        Err(refusal) => Err(refusal.into_response()),
    }
}

/// Returns the form again, with the input and its problem.
fn retry(form: &ReportForm, input: &ReportInput, problem: FormProblem) -> Response {
    let document = document::draw_form(form, &input.bounded(), Some(problem));
    form.page(document).with_status(problem.status()).into_response()
}

/// Returns a new form if the submitted form is unreadable or comes from another site. The reply sets no cookie, because
/// a cross-site request lacks the browser's cookie and the reply would overwrite it.
fn refuse(form: &ReportForm, refusal: PostedFormError) -> Response {
    let document = document::draw_form(form, &ReportInput::default(), Some(FormProblem::Stale));
    HtmlPage::personal(document).with_status(refusal.status()).into_response()
}
