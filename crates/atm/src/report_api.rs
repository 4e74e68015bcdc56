//! `/atms/{id}/reports`: anybody says what they found at a machine. No key is asked for; an operator's makes it decide.

use axum::Json;
use axum::extract::{FromRequest, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use signpost_locator::AtmId;
use signpost_platform::accounts::{Account, Environment, Scope};
use signpost_platform::limits::Limit;
use signpost_platform::web::api_key::Door;
use signpost_platform::web::peer::client_address;
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{ApiKey, Fields, PathId};

use crate::reporting::{ReportRefusal, ReportSender, TakenReport, take_report};
use crate::reports::admission::{ReportFields, SentReport};
use crate::reports::{HowSeen, ReportId, ReportState, Seen, Weight};
use crate::service::AtmService;

/// What the sender of a report is told of it.
#[derive(Serialize)]
struct ReportView {
    id: ReportId,
    atm_id: AtmId,
    seen: Seen,
    #[serde(skip_serializing_if = "Option::is_none")]
    how: Option<HowSeen>,
    at: jiff::Timestamp,
    state: ReportState,
    weight: Weight,
    created_at: jiff::Timestamp,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
}

pub(crate) async fn report(
    environment: Environment,
    State(service): State<AtmService>,
    PathId(atm): PathId,
    request: Request,
) -> Result<Response, ReportRefusal> {
    let (sender, request) = find_sender(&service, environment, request).await?;
    let mut fields = Fields::from_request(request, &service).await?;
    let seen = fields.text("seen")?;
    let [how, at, text, pow] = optional(&mut fields)?;
    fields.done()?;
    let given = ReportFields { seen: &seen, how: how.as_deref(), at: at.as_deref(), text: text.as_deref() };
    let sent = SentReport::read(given, service.clock.now())?;
    let taken = take_report(&service, environment, (&atm, sent, pow.as_deref()), sender).await?;
    Ok(reply(taken, environment))
}

/// Who sends the request: an operator where it has an API key, else anybody. The key is looked at before the body.
async fn find_sender(
    service: &AtmService,
    environment: Environment,
    request: Request,
) -> Result<(ReportSender, Request), ReportRefusal> {
    if request.headers().contains_key(header::AUTHORIZATION) {
        let door = Door::new(service, environment, Limit::Submissions, Scope::Atms);
        let request = door.admit(request).await?;
        let account = request.extensions().get::<Account>().cloned().ok_or(Problem::InvalidApiKey)?;
        let key = request.extensions().get::<ApiKey>().cloned().ok_or(Problem::InvalidApiKey)?;
        return Ok((ReportSender::Operator(account, key.id), request));
    }
    let person = match &service.visitors {
        Some(visitors) => visitors.find(request.headers()).await.map_err(Problem::from)?,
        None => None,
    };
    let caller = client_address(service, &request);
    Ok((ReportSender::Anybody(caller, person), request))
}

/// The fields that may be left out; null is none.
fn optional(fields: &mut Fields) -> Result<[Option<String>; 4], Problem> {
    let mut take = |field| fields.nullable_text(field).map(Option::flatten);
    Ok([take("how")?, take("at")?, take("text")?, take("pow")?])
}

fn reply(taken: TakenReport, environment: Environment) -> Response {
    let TakenReport { report, is_new } = taken;
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
