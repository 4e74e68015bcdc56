//! `/atms/submissions`: operators report their own machines, so that what is said of them stays true.

use axum::Json;
use axum::extract::State;
use serde_json::Value;
use signpost_locator::import::{self, Broken, Format, Import, Options};

use super::{Extent, Source, Terms, report, take_over};
use crate::account::{Account, Environment};
use crate::app::App;
use crate::atms::Conflict;
use crate::error::Error;
use crate::http::Report;

/// Most machines of one operator.
const MOST_MACHINES: usize = 100_000;
/// How often a report is compared anew where others were kept meanwhile.
const MOST_ATTEMPTS: usize = 10;

pub(crate) async fn submit(
    State(app): State<App>,
    account: Account,
    Report(body): Report,
) -> Result<Json<Value>, Error> {
    let now = app.clock.now();
    let source = Source::of_operator(&account.name, now);
    let options = Options { format: Format::Submission, partial: true, now: Some(now), ..Options::default() };
    let import = tokio::task::spawn_blocking(move || import::read(&body, &options)).await;
    let import = import.map_err(anyhow::Error::from)?.map_err(refused)?;
    if import.rows.len() + import.gone.len() + import.skipped.total == 0 {
        return Err(Error::field("locations", "must hold at least one location"));
    }
    let known = app.store.kept(&source.name).await?.len();
    if known + import.rows.len() > MOST_MACHINES {
        return Err(Error::field("locations", format!("an operator has at most {MOST_MACHINES} machines")));
    }
    // In the sandbox a report is read and compared, and nothing of it is kept: there is one catalogue.
    let dry_run = account.environment == Environment::Sandbox;
    // What an operator says to be gone is gone, however many that are.
    let terms = Terms { extent: Extent::Part, force: true, dry_run };
    let changes = keep(&app, &source, &import, terms).await?;
    Ok(Json(report(&source.name, changes, &import, dry_run)))
}

/// Keeps a report; where another import came between, compares it again.
async fn keep(app: &App, source: &Source, import: &Import, terms: Terms) -> Result<super::Changes, Error> {
    for _ in 1..MOST_ATTEMPTS {
        match take_over(&app.store, &app.catalogue.places.now(), source, import, terms).await {
            Err(error) if error.is::<Conflict>() => {}
            done => return Ok(done?),
        }
    }
    Ok(take_over(&app.store, &app.catalogue.places.now(), source, import, terms).await?)
}

fn refused(broken: Broken) -> Error {
    match broken {
        Broken::NotJson { reason, .. } => Error::InvalidJson(reason),
        Broken::Empty => Error::InvalidJson("it is empty".to_owned()),
        Broken::NotUtf8 { .. } => Error::InvalidJson("it is not UTF-8".to_owned()),
        Broken::OtherJson { .. } => Error::field("locations", "is required, and is a list of locations"),
        other => Error::field("body", other.to_string()),
    }
}
