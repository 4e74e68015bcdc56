//! `/atms/submissions`: operators submit their own ATMs.

use axum::Json;
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::request::Parts;
use bytes::Bytes;
use jiff::Timestamp;
use serde_json::Value;
use signpost_locator::import::{Bounds, Broken, FormatChoice, Options, SUBMISSION};
use signpost_platform::accounts::{Account, Environment};
use signpost_platform::web::LargeJsonBytes;
use signpost_platform::web::peer::peer;
use signpost_platform::web::problem::Problem;

use super::catalogue::{Extent, ImportCounts, Reading, Source, Terms, TooManyMachines, apply, describe_import};
use super::submission_slots::SubmissionSlot;
use crate::catalogue::Conflict;
use crate::processor;
use crate::service::AtmService;

/// Maximum number of ATMs of an operator.
const MAX_MACHINES: usize = 100_000;
/// Limits of a submission.
const BOUNDS: Bounds = Bounds { items: 25_000, item_bytes: 64 * 1024 };

pub(crate) async fn submit(
    State(service): State<AtmService>,
    account: Account,
    slot: SubmissionSlot,
    request: Request,
) -> Result<Json<Value>, Problem> {
    let now = service.clock.now();
    let source = Source::of_operator(&account.name, now);
    // In the sandbox, a submission is parsed and compared, but not stored: there is only one catalogue.
    let dry_run = account.environment == Environment::Sandbox;
    // An operator may remove any number of its own ATMs.
    let terms = Terms { extent: Extent::Part, force: true, dry_run, most: MAX_MACHINES };
    let taken = async {
        let received = slot.receive(&service.clock, request, |request| LargeJsonBytes::from_request(request, &service));
        let LargeJsonBytes(body) = received.await?;
        let _turn = slot.turn().await;
        let reading = read_submission(&service, body, now).await?;
        let changes = import_submission(&service, &source, &reading, terms).await?;
        Ok(Json(describe_import(&source.name, changes, &reading.import, dry_run)))
    };
    // A submission may be repeated, so that a server need not wait for it when it stops.
    match service.draining.run_until_cancelled(taken).await {
        Some(reply) => reply,
        None => Err(Problem::Unavailable("the server is stopping".to_owned())),
    }
}

async fn read_submission(service: &AtmService, body: Bytes, now: Timestamp) -> Result<Reading, Problem> {
    let gazetteer = service.catalogue.places.now();
    let options = Options {
        format: FormatChoice::Named(&SUBMISSION),
        partial: true,
        now: Some(now),
        bounds: BOUNDS,
        ..Options::default()
    };
    let read =
        processor::run(move |stop| Reading::from_bytes(&body, &Options { stop: stop.clone(), ..options }, &gazetteer));
    let reading = read.await?.map_err(refused)?;
    if reading.rows.len() + reading.import.gone.len() + reading.import.skipped.total == 0 {
        return Err(Problem::field("locations", "must contain at least one location"));
    }
    Ok(reading)
}

async fn import_submission(
    service: &AtmService,
    source: &Source,
    reading: &Reading,
    terms: Terms,
) -> Result<ImportCounts, Problem> {
    match apply(&service.store, source, reading, terms).await {
        Err(error) if error.is::<Conflict>() => Err(Problem::Unavailable(Conflict.to_string())),
        Err(error) if error.is::<TooManyMachines>() => {
            Err(Problem::field("locations", format!("an operator can have at most {MAX_MACHINES} ATMs")))
        }
        done => Ok(done?),
    }
}

fn refused(broken: Broken) -> Problem {
    match broken {
        Broken::NotJson { reason, .. } => Problem::InvalidJson(reason),
        Broken::Empty => Problem::InvalidJson("it is empty".to_owned()),
        Broken::NotUtf8 { .. } => Problem::InvalidJson("it is not UTF-8".to_owned()),
        Broken::OtherJson { .. } => Problem::field("locations", "is required, and is a list of locations"),
        Broken::TooManyItems { most } => Problem::field(
            "locations",
            format!("must contain at most {most} locations; send the others in another submission"),
        ),
        Broken::ItemTooLong { item, most } => {
            Problem::field("locations", format!("location {item} is longer than {most} bytes"))
        }
        other => Problem::field("body", other.to_string()),
    }
}

impl FromRequestParts<AtmService> for SubmissionSlot {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, service: &AtmService) -> Result<Self, Problem> {
        let account = Account::from_request_parts(parts, service).await?;
        let address = peer(service, &parts.extensions, &parts.headers);
        service.submissions.begin(&account, address, service.clock.elapsed())
    }
}
