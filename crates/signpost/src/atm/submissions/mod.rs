//! `/atms/submissions`: operators report their own machines, so that what is said of them stays true.

mod reports;

use axum::Json;
use axum::extract::{FromRequest, Request, State};
use bytes::Bytes;
use jiff::Timestamp;
use serde_json::Value;
use signpost_locator::import::{Bounds, Broken, FormatChoice, Options, SUBMISSION};

use super::catalogue::{Changes, Extent, Reading, Source, Terms, TooManyMachines, apply, report};
use crate::app::App;
use crate::atm::catalogue::Conflict;
use crate::platform::accounts::{Account, Environment};
use crate::platform::processor;
use crate::platform::web::Report;
use crate::platform::web::problem::Error;

use reports::Place;
pub use reports::Reports;

/// Most machines of one operator.
const MOST_MACHINES: usize = 100_000;
/// What is read of one report.
const BOUNDS: Bounds = Bounds { items: 25_000, item_bytes: 64 * 1024 };
/// How often a report is compared anew where others were kept meanwhile.
const MOST_ATTEMPTS: usize = 10;

pub(crate) async fn submit(
    State(app): State<App>,
    account: Account,
    place: Place,
    request: Request,
) -> Result<Json<Value>, Error> {
    let now = app.clock.now();
    let source = Source::of_operator(&account.name, now);
    // In the sandbox a report is read and compared, and nothing of it is kept: there is one catalogue.
    let dry_run = account.environment == Environment::Sandbox;
    // What an operator says to be gone is gone, however many that are.
    let terms = Terms { extent: Extent::Part, force: true, dry_run, most: MOST_MACHINES };
    let taken = async {
        let Report(body) = Report::from_request(request, &app).await?;
        let _turn = place.turn().await;
        let reading = read(&app, body, now).await?;
        let changes = keep(&app, &source, &reading, terms).await?;
        Ok(Json(report(&source.name, changes, &reading.import, dry_run)))
    };
    // A report that comes again does no harm, so none holds up a server that is to end.
    let stopped = || Error::Unavailable("the server is stopping".to_owned());
    app.draining.run_until_cancelled(taken).await.unwrap_or_else(|| Err(stopped()))
}

async fn read(app: &App, body: Bytes, now: Timestamp) -> Result<Reading, Error> {
    let gazetteer = app.catalogue.places.now();
    let options = Options {
        format: FormatChoice::Named(&SUBMISSION),
        partial: true,
        now: Some(now),
        bounds: BOUNDS,
        ..Options::default()
    };
    let read = processor::run(move |stop| Reading::of(&body, &Options { stop: stop.clone(), ..options }, &gazetteer));
    let reading = read.await?.map_err(refused)?;
    if reading.rows.len() + reading.import.gone.len() + reading.import.skipped.total == 0 {
        return Err(Error::field("locations", "must hold at least one location"));
    }
    Ok(reading)
}

/// Keeps a report; where another import came between, compares it again.
async fn keep(app: &App, source: &Source, reading: &Reading, terms: Terms) -> Result<Changes, Error> {
    for _ in 1..MOST_ATTEMPTS {
        match apply(&app.store, source, reading, terms).await {
            Err(error) if error.is::<Conflict>() => {}
            Err(error) if error.is::<TooManyMachines>() => {
                return Err(Error::field("locations", format!("an operator has at most {MOST_MACHINES} machines")));
            }
            done => return Ok(done?),
        }
    }
    Ok(apply(&app.store, source, reading, terms).await?)
}

fn refused(broken: Broken) -> Error {
    match broken {
        Broken::NotJson { reason, .. } => Error::InvalidJson(reason),
        Broken::Empty => Error::InvalidJson("it is empty".to_owned()),
        Broken::NotUtf8 { .. } => Error::InvalidJson("it is not UTF-8".to_owned()),
        Broken::OtherJson { .. } => Error::field("locations", "is required, and is a list of locations"),
        Broken::TooManyItems { most } => {
            Error::field("locations", format!("must hold at most {most} locations; send the others in another report"))
        }
        Broken::ItemTooLong { item, most } => {
            Error::field("locations", format!("location {item} is longer than {most} bytes"))
        }
        other => Error::field("body", other.to_string()),
    }
}
