//! `/atm/{id}/report`: the form in which people say what they found at a machine. The machine's page, which is the same for
//! everybody, asks the first question ([`ask()`]); the answer leads here, to a page for one browser.

mod ask;
mod document;
mod quote;
mod visit;
mod words;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use signpost_platform::accounts::Environment;
use signpost_platform::pages::form::{FormRefusal, PostedForm};
use signpost_platform::pages::{HtmlPage, Language};
use signpost_platform::web::PathId;
use signpost_platform::web::peer::client_address;
use signpost_platform::web::problem::Problem;

use crate::reporting::{ReportRefusal, ReportSender, take_report};
use crate::reports::ReportState;
use crate::reports::admission::{ReportFields, SentReport};
use crate::service::AtmService;
use document::{FormProblem, TypedReport};
use visit::ReportVisit;

pub use ask::ask;
pub use quote::{quote, quote_line};

/// The addresses of the form.
pub fn router() -> Router<AtmService> {
    Router::new().route("/atm/{id}/report", get(show).post(send))
}

/// `GET /atm/{id}/report`: the form, with what was answered on the machine's page; or thanks.
async fn show(
    State(service): State<AtmService>,
    language: Language,
    PathId(atm): PathId,
    request: Request,
) -> Result<Response, Response> {
    let caller = client_address(&service, &request);
    let (parts, _) = request.into_parts();
    let visit = ReportVisit::new(service, language, &atm, caller, &parts).await?;
    let query = parts.uri.query().unwrap_or_default();
    let read = |name: &str| {
        let mut pairs = url::form_urlencoded::parse(query.as_bytes());
        pairs.find_map(|(found, value)| (found == name).then(|| value.into_owned()))
    };
    if let Some(state) = read("said").as_deref().and_then(ReportState::parse) {
        return Ok(visit.page(document::draw_thanks(&visit, state)).into_response());
    }
    let typed = TypedReport {
        seen: read("seen").unwrap_or_default(),
        how: read("how").unwrap_or_default(),
        text: String::new(),
    };
    Ok(visit.page(document::draw_form(&visit, &typed, None)).into_response())
}

/// `POST /atm/{id}/report`: `seen`, `how`, `text`.
async fn send(
    State(service): State<AtmService>,
    language: Language,
    PathId(atm): PathId,
    request: Request,
) -> Result<Response, Response> {
    let caller = client_address(&service, &request);
    let (parts, body) = request.into_parts();
    let visit = ReportVisit::new(service, language, &atm, caller, &parts).await?;
    let request = Request::from_parts(parts, body);
    let form = PostedForm::receive(&visit.service.origin, request).await.map_err(|refusal| refuse(&visit, refusal))?;
    let field = |name: &str| form.text(name).unwrap_or_default().to_owned();
    let typed = TypedReport { seen: field("seen"), how: field("how"), text: field("text") };
    let again = |problem: FormProblem, status: StatusCode| {
        visit
            .page(document::draw_form(&visit, &typed.shown_again(), Some(&problem)))
            .with_status(status)
            .into_response()
    };
    if visit.check(&form).is_err() {
        return Err(again(FormProblem::Stale, StatusCode::FORBIDDEN));
    }
    let how = Some(typed.how.as_str()).filter(|how| !how.is_empty());
    let given = ReportFields { seen: &typed.seen, how, at: None, text: Some(&typed.text) };
    let sent = SentReport::read(given, visit.now)
        .map_err(|bad| again(FormProblem::Field(bad.field), StatusCode::UNPROCESSABLE_ENTITY))?;
    let sender = ReportSender::Anybody(visit.address.clone(), visit.person.clone());
    let taken = take_report(&visit.service, Environment::Live, (&visit.atm, sent, None), sender).await;
    match taken {
        Ok(taken) => Ok(Redirect::to(&visit.thanks_link(taken.report.state)).into_response()),
        Err(ReportRefusal::ReporterBanned) => Err(again(FormProblem::Banned, StatusCode::FORBIDDEN)),
        Err(ReportRefusal::Problem(Problem::RateLimited(exceeded))) => {
            let reply = again(FormProblem::TooMany(exceeded.retry_after()), StatusCode::TOO_MANY_REQUESTS);
            Err((Problem::RateLimited(exceeded).headers(), reply).into_response())
        }
        Err(refused) => Err(refused.into_response()),
    }
}

/// Returns a new form instead of one that another site posted, or that cannot be read. It sets no cookie: the form of another
/// site comes without the browser's cookie, which the reply would overwrite.
fn refuse(visit: &ReportVisit, refusal: FormRefusal) -> Response {
    let document = document::draw_form(visit, &TypedReport::default(), Some(&FormProblem::Stale));
    HtmlPage::personal(document).with_status(refusal.status()).into_response()
}
