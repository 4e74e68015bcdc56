//! The API endpoint `/atms/{id}/reports` for reports about an ATM. An API key is optional; a report with the key of the
//! ATM's operator takes effect as a decision.

use axum::Json;
use axum::extract::{FromRequest, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use signpost_locator::AtmId;
use signpost_platform::accounts::{Account, Environment, Scope};
use signpost_platform::limits::Limit;
use signpost_platform::web::api_key::ApiKeyGuard;
use signpost_platform::web::peer::client_address;
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{ApiKey, JsonBody, Nullable, PathParams};

use crate::atm_number::parse_atm_id;
use crate::reporting::{AcceptedReport, ReportRefusal, ReportRequest, ReportSender, accept_report};
use crate::reports::admission::{ReportFields, ValidReport};
use crate::reports::{EvidenceSource, Finding, ReportId, ReportState, Weight};
use crate::service::AtmService;

/// The JSON body of a report request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReportBody {
    seen: String,
    how: Option<Nullable<String>>,
    at: Option<Nullable<String>>,
    text: Option<Nullable<String>>,
    pow: Option<Nullable<String>>,
}

/// The JSON reply with the accepted report.
#[derive(Serialize)]
struct ReportView {
    id: ReportId,
    atm_id: AtmId,
    seen: Finding,
    #[serde(skip_serializing_if = "Option::is_none")]
    how: Option<EvidenceSource>,
    at: jiff::Timestamp,
    state: ReportState,
    weight: Weight,
    created_at: jiff::Timestamp,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
}

/// Handles `POST /atms/{id}/reports`.
pub(crate) async fn report(
    environment: Environment,
    State(service): State<AtmService>,
    PathParams(atm): PathParams<String>,
    request: Request,
) -> Result<Response, ReportRefusal> {
    let (sender, request) = find_sender(&service, environment, request).await?;
    let JsonBody(body) = JsonBody::<ReportBody>::from_request(request, &service).await?;
    // A null member is equivalent to a missing member.
    let [how, at, text, pow] =
        [body.how, body.at, body.text, body.pow].map(|member| member.and_then(|Nullable(text)| text));
    let given = ReportFields { seen: &body.seen, how: how.as_deref(), at: at.as_deref(), text: text.as_deref() };
    let sent = ValidReport::read(given, service.clock.now())?;
    let atm = parse_atm_id(&atm).ok_or(ReportRefusal::AtmNotFound)?;
    let snapshot = &service.catalogue.snapshot();
    let request = ReportRequest { snapshot, atm, sent, pow: pow.as_deref(), sender };
    let accepted = accept_report(&service, environment, request).await?;
    Ok(reply(accepted, environment))
}

/// Returns the sender of a request: an operator if the request has an API key, otherwise a person. The key is checked
/// before the body is read.
async fn find_sender(
    service: &AtmService,
    environment: Environment,
    request: Request,
) -> Result<(ReportSender, Request), ReportRefusal> {
    if request.headers().contains_key(header::AUTHORIZATION) {
        let guard = ApiKeyGuard::new(service, environment, Limit::Submissions, Scope::Atms);
        let request = guard.admit(request).await?;
        let account = request.extensions().get::<Account>().cloned().ok_or(Problem::InvalidApiKey)?;
        let key = request.extensions().get::<ApiKey>().cloned().ok_or(Problem::InvalidApiKey)?;
        return Ok((ReportSender::Operator(account, key.id), request));
    }
    let person = match &service.visitors {
        Some(visitors) => visitors.find(request.headers()).await.map_err(Problem::from)?,
        None => None,
    };
    let caller = client_address(service, &request);
    Ok((ReportSender::Person(caller, person), request))
}

fn reply(accepted: AcceptedReport, environment: Environment) -> Response {
    let AcceptedReport { report, is_new } = accepted;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    let view = ReportView {
        id: report.id,
        atm_id: report.atm_id,
        seen: report.seen,
        how: report.how,
        at: report.seen_at,
        state: report.state,
        weight: report.weight,
        created_at: report.created_at,
        dry_run: environment == Environment::Sandbox,
    };
    (status, Json(view)).into_response()
}
