//! `get_atm_details`

use serde_json::{Map, Value, json};
use signpost_locator::{Atm, Hours, status};
use signpost_mcp::{Annotations, Call, CallError, Handler, Output, Structured, Tool};

use super::arguments::Arguments;
use super::schema;
use super::view::{address, notice};
use crate::atms::Snapshot;
use crate::mcp::Locator;

const EXAMPLE: &str = r#"{"atmId":17}"#;

pub(super) fn tool() -> Tool<Locator> {
    Tool {
        name: "get_atm_details",
        title: "Get the details of a Bitcoin ATM",
        description: "Gives everything known about one Bitcoin ATM: address, hours, what it buys and sells, contact, \
                      status with its reason and age, and the sources. Use it with an id from \
                      find_nearest_bitcoin_atm or list_atms_by_city. What is null or 'unknown' is not known. Do not \
                      guess ids.",
        input_schema: schema::input(
            &json!({ "atmId": { "type": "integer", "minimum": 1, "maximum": 9_007_199_254_740_992_u64,
                               "description": "The machine's id, as other tools return it" } }),
            &["atmId"],
            EXAMPLE,
        ),
        output_schema: Some(schema::details()),
        annotations: Annotations::LOOKUP,
        icons: crate::mcp::icons(),
        call: Handler::Now(answer),
    }
}

fn answer(locator: &Locator, given: &Map<String, Value>, _: &Call<'_>) -> Result<Output, CallError> {
    call(locator, given).map(Output::Structured)
}

pub(crate) fn call(locator: &Locator, given: &Map<String, Value>) -> Result<Structured, CallError> {
    let mut arguments = Arguments::new(given, EXAMPLE);
    let id = arguments.atm_id()?;
    arguments.done()?;
    let snapshot = locator.catalogue.snapshot();
    let found = snapshot.get(id).ok_or_else(|| {
        let id = id.get();
        CallError::Failed(format!(
            "no Bitcoin ATM has the id {id}. Ids come from find_nearest_bitcoin_atm and list_atms_by_city; call one \
             of them, for example find_nearest_bitcoin_atm with {{\"location\":\"Austin, TX\"}}."
        ))
    })?;
    Structured::render(&details(&snapshot, found, locator))
}

fn details(snapshot: &Snapshot, atm: &Atm, locator: &Locator) -> Value {
    let record = &atm.record;
    let report = status(record, locator.clock.now());
    let source = snapshot.source(&atm.source);
    let mut details = json!({
        "id": atm.id,
        "name": record.title(),
        "operator": record.operator,
        "status": report.status,
        "statusReason": report.reason,
        "statusAsOf": report.as_of,
        "verifiedAt": record.reported_at,
        "address": address(atm),
        "addressParts": {
            "street": record.address.street,
            "city": record.address.city,
            "region": record.address.region,
            "postcode": record.address.postcode,
            "country": record.address.country.map(|country| country.code().to_owned()),
        },
        "lat": record.point.lat(),
        "lon": record.point.lon(),
        "hours": record.hours.as_ref().map(Hours::text),
        "buy": record.buy,
        "sell": record.sell,
        "coins": record.coins,
        "phone": record.phone,
        "website": record.website,
        "sources": [{
            "name": atm.source,
            "ref": record.source_ref,
            "importedAt": source.map(|source| source.imported_at),
            "attribution": source.map(|source| &source.attribution),
        }],
        "attribution": source.map(|source| &source.attribution).into_iter().collect::<Vec<_>>(),
    });
    if let Some(notice) = notice(snapshot, []) {
        details["notice"] = notice.into();
    }
    details
}
