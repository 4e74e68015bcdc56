//! Resources: one ATM, the ATMs of a city, and the coverage of the catalogue.

use futures_util::FutureExt;
use serde_json::{Map, Value, json};
use signpost_locator::DataDates;
use signpost_locator::gazetteer::ATTRIBUTION;
use signpost_mcp::{CallError, Contents, Handler, Resource, StringMap, Structured};

use super::{completions, tools};
use crate::catalogue::{Snapshot, Source};
use crate::locator::{Locator, icons};

pub(crate) const ATM: &str = "atm://{atmId}";
/// Maximum sources in the coverage.
const MAX_SOURCES: usize = 100;
pub(crate) const JSON: &str = "application/json";

pub(crate) fn all() -> [Resource<Locator>; 3] {
    [
        Resource {
            uri: "signpost://coverage",
            name: "coverage",
            title: "What the catalogue covers",
            description: "How many machines there are, by state or province, and where they come from. Read it to \
                          learn whether a search can find anything in a region.",
            mime_type: JSON,
            icons: icons(),
            meta: Map::new(),
            completions: Vec::new(),
            read: Handler::Sync(|locator, _, _| Ok(Contents::Text(coverage(locator).to_string()))),
        },
        Resource {
            uri: ATM,
            name: "atm",
            title: "A Bitcoin ATM",
            description: "Everything known about one machine, as get_atm_details tells it.",
            mime_type: JSON,
            icons: icons(),
            meta: Map::new(),
            completions: vec![("atmId", completions::atm_id)],
            read: Handler::AsyncSilent(|locator, variables, _| {
                async move { Ok(text(&atm(locator, &variables["atmId"]).await?)) }.boxed()
            }),
        },
        Resource {
            uri: "atm://{state}/{city}",
            name: "city",
            title: "The Bitcoin ATMs of a city",
            description: "The first 50 machines whose address is in a city, as list_atms_by_city tells them.",
            mime_type: JSON,
            icons: icons(),
            meta: Map::new(),
            completions: vec![("state", completions::state), ("city", completions::city)],
            read: Handler::Sync(|locator, variables, _| Ok(text(&city(locator, variables)?))),
        },
    ]
}

/// Returns all details of the ATM with this ID in decimal digits.
pub(crate) async fn atm(locator: &Locator, digits: &str) -> Result<Structured, CallError> {
    match digits.parse::<u64>() {
        // Only the canonical spelling, as in the argument of the tool.
        Ok(id) if id.to_string() == digits => {
            tools::get_details(locator, &Map::from_iter([("atmId".to_owned(), json!(id))])).await
        }
        _ => Err(CallError::Failed("an atmId is a whole number, such as 12".to_owned())),
    }
}

fn city(locator: &Locator, variables: &StringMap) -> Result<Structured, CallError> {
    let arguments = variables.iter().map(|(name, value)| (name.clone(), json!(value)));
    tools::list_by_city(locator, &arguments.collect())
}

fn text(value: &Structured) -> Contents {
    Contents::Text(value.json().to_owned())
}

fn coverage(locator: &Locator) -> Value {
    let snapshot = locator.catalogue.snapshot();
    let placed: usize = snapshot.regions().map(|(_, machines)| machines).sum();
    let regions: Vec<_> = snapshot
        .regions()
        .map(|(region, count)| json!({ "code": region.code(), "name": region.name(), "machines": count }))
        .collect();
    let sources: Vec<_> = snapshot.sources().take(MAX_SOURCES).map(|source| cover_source(&snapshot, source)).collect();
    let mut covered = json!({
        "server": { "version": env!("CARGO_PKG_VERSION"), "mode": locator.deployment },
        "machines": snapshot.len(),
        "fictional": snapshot.is_sample(),
        "regions": regions,
        "withoutRegion": snapshot.len() - placed,
        "sources": sources,
        "places": ATTRIBUTION,
    });
    set_dates(&mut covered, snapshot.dates());
    let left_out = snapshot.sources().count().saturating_sub(MAX_SOURCES);
    if left_out > 0 {
        covered["sourcesLeftOut"] = json!(left_out);
    }
    covered
}

fn cover_source(snapshot: &Snapshot, source: &Source) -> Value {
    let mut covered =
        json!({ "name": source.name, "attribution": source.attribution, "importedAt": source.imported_at });
    set_dates(&mut covered, snapshot.dates_of_source(&source.name));
    covered
}

/// Adds the newest date of data; also the oldest date, if it is more than a year older.
fn set_dates(covered: &mut Value, dates: DataDates) {
    for (member, date) in [("dataAsOf", dates.newest), ("oldestDataAsOf", dates.oldest_if_distant())] {
        if let Some(date) = date {
            covered[member] = json!(date);
        }
    }
}
