//! `/atms/submissions`: operators submit their own ATMs.

use axum::Json;
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::request::Parts;
use bytes::Bytes;
use jiff::Timestamp;
use serde_json::Value;
use signpost_locator::import::{Bounds, FormatChoice, ImportError, Options, SUBMISSION};
use signpost_platform::accounts::{Account, Environment};
use signpost_platform::web::LargeJsonBytes;
use signpost_platform::web::peer::peer;
use signpost_platform::web::problem::Problem;

use super::catalogue::{
    Coverage, FileContents, ImportCounts, ImportRules, Source, TooManyAtms, apply, describe_import,
};
use super::submission_slots::SubmissionSlot;
use crate::catalogue::Conflict;
use crate::processor;
use crate::service::AtmService;

/// Maximum number of ATMs of an operator.
const MAX_MACHINES: usize = 100_000;
/// Limits of a submission.
const BOUNDS: Bounds = Bounds { items: 25_000, item_bytes: 64 * 1024, unpacked_bytes: 0 };

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
    let rules = ImportRules { extent: Coverage::Partial, force: true, dry_run, max_atms: MAX_MACHINES };
    let taken = async {
        let received = slot.receive(&service.clock, request, |request| LargeJsonBytes::from_request(request, &service));
        let LargeJsonBytes(body) = received.await?;
        let _turn = slot.turn().await;
        let contents = read_submission(&service, body, now).await?;
        let changes = import_submission(&service, &source, &contents, rules).await?;
        Ok(Json(describe_import(&source.name, changes, &contents.import, dry_run)))
    };
    // A submission may be repeated, so that a server need not wait for it when it stops.
    match service.draining.run_until_cancelled(taken).await {
        Some(reply) => reply,
        None => Err(Problem::Unavailable("the server is stopping".to_owned())),
    }
}

async fn read_submission(service: &AtmService, body: Bytes, now: Timestamp) -> Result<FileContents, Problem> {
    let gazetteer = service.catalogue.places.now();
    let options = Options {
        format: FormatChoice::Named(&SUBMISSION),
        partial: true,
        // A location without a time is reported now.
        as_of: Some(now),
        now: Some(now),
        bounds: BOUNDS,
        strict: true,
        ..Options::default()
    };
    let read = processor::run(move |cancel| {
        FileContents::from_bytes(&body, &Options { cancel: cancel.clone(), ..options }, &gazetteer)
    });
    let contents = read.await?.map_err(import_problem)?;
    if contents.rows.len() + contents.import.gone.len() + contents.import.skipped.total == 0 {
        return Err(Problem::field("locations", "must contain at least one location"));
    }
    Ok(contents)
}

async fn import_submission(
    service: &AtmService,
    source: &Source,
    contents: &FileContents,
    rules: ImportRules,
) -> Result<ImportCounts, Problem> {
    match apply(&service.store, source, contents, rules).await {
        Err(error) if error.is::<Conflict>() => Err(Problem::Unavailable(Conflict.to_string())),
        Err(error) if error.is::<TooManyAtms>() => {
            Err(Problem::field("locations", format!("an operator can have at most {MAX_MACHINES} ATMs")))
        }
        done => Ok(done?),
    }
}

fn import_problem(error: ImportError) -> Problem {
    match error {
        ImportError::NotJson { reason, .. } => Problem::InvalidJson(reason),
        ImportError::Empty => Problem::InvalidJson("it is empty".to_owned()),
        ImportError::NotUtf8 { .. } => Problem::InvalidJson("it is not UTF-8".to_owned()),
        ImportError::OtherJson { .. } => Problem::field("locations", "is required, and is a list of locations"),
        ImportError::TooManyItems { max } => Problem::field(
            "locations",
            format!("must contain at most {max} locations; send the others in another submission"),
        ),
        ImportError::ItemTooLong { item, max } => {
            Problem::field("locations", format!("location {item} is longer than {max} bytes"))
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
