//! `get_atm_details`

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use signpost_locator::{AtmId, Coin, Hours, MoreFields, SourceClaim, Trade};
use signpost_mcp::{Annotations, Call, CallError, Handler, Output, Structured, Tool};

use super::advice::{Advice, Outlook};
use super::declare::{self, Argument, CallArguments, Required};
use super::kinds::Integer;
use super::schema::{self, members};
use super::units::Units;
use super::view::notice;
use crate::catalogue::{AtmFilter, CatalogueEntry, MachineReports, Moment, NextOpening, Snapshot};
use crate::locator::Locator;
use crate::reports::evidence::{ReportStanding, ReportVerdict};
use crate::view::MachineView;

const EXAMPLE: &str = r#"{"atmId":17}"#;

const ATM_ID: Required<Integer> =
    Argument::new("atmId", "The machine's id, as other tools return it", Integer { least: 1, most: AtmId::MAX.get() })
        .required();

pub(crate) fn tool() -> Tool<Locator> {
    Tool {
        name: "get_atm_details",
        title: "Get the details of a Bitcoin ATM",
        description: "Gives everything known about one Bitcoin ATM: address, hours and when it opens or closes next, \
                      what it buys and sells, fees, limits, contact, status with its reason and age, and the sources. Use it with an id \
                      from find_nearest_bitcoin_atm or list_atms_by_city. What is left out is not known. Do not guess \
                      ids.",
        input_schema: declare::schema(&[&ATM_ID], EXAMPLE),
        output_schema: Some(schema::details()),
        annotations: Annotations::LOOKUP,
        icons: Vec::new(),
        meta: Map::new(),
        call: Handler::Now(handle),
    }
}

fn handle(locator: &Locator, given: &Map<String, Value>, _: &Call<'_>) -> Result<Output, CallError> {
    call(locator, given).map(Output::Structured)
}

/// Everything known about an ATM, as the tool returns it.
///
/// # Errors
/// [`CallError::BadArgument`] where an argument is not allowed, [`CallError::Failed`] where no ATM has the id.
pub fn call(locator: &Locator, given: &Map<String, Value>) -> Result<Structured, CallError> {
    let mut arguments = CallArguments::new(given, EXAMPLE);
    let id = arguments.take(&ATM_ID)?;
    arguments.done()?;
    let snapshot = locator.catalogue.snapshot();
    let found = AtmId::new(id).and_then(|id| snapshot.get(id)).ok_or_else(|| {
        CallError::Failed(format!(
            "no Bitcoin ATM has the id {id}. Ids come from find_nearest_bitcoin_atm and list_atms_by_city; call one \
             of them, for example find_nearest_bitcoin_atm with {{\"location\":\"Austin, TX\"}}."
        ))
    })?;
    Structured::render(&details(&snapshot, found, locator.clock.now()))
}

fn details(snapshot: &Snapshot, entry: &CatalogueEntry, now: Timestamp) -> Value {
    let moment = snapshot.at(now);
    let view = MachineView::of(&moment, entry);
    let (record, report) = (view.record, &view.status);
    let (opens_at, closes_at) = change(moment.next_opening(entry, report.status));
    let coins = record.coins.iter().map(|(coin, deals)| (coin.code().to_owned(), json!(deals.known())));
    let sources = entry.machine.claims.iter().map(|claim| source(snapshot, claim));
    let attribution: BTreeSet<&str> = entry
        .machine
        .claims
        .iter()
        .filter_map(|claim| snapshot.source(&claim.source))
        .map(|source| source.attribution.as_str())
        .collect();
    let [lat, lon] = view.degrees();
    let (advice, reports) = (advice(&moment, entry), view.reports);
    let mut details = json!({
        "id": entry.machine.id,
        "name": record.title(),
        "operator": record.operator,
        "brand": record.brand,
        "status": report.status,
        "statusReason": report.reason.text(),
        "statusAsOf": report.as_of,
        "verifiedAt": view.verified_at(),
        "verifiedBy": view.seen_there_at().map(|_| "report"),
        "freshness": view.freshness(now),
        "address": view.address(),
        "addressParts": {
            "street": record.address.street,
            "city": record.address.city,
            "region": record.address.region,
            "postcode": record.address.postcode,
            "country": record.address.country,
        },
        "lat": lat,
        "lon": lon,
        "hours": record.hours.as_ref().map(Hours::text),
        "timeZone": record.time_zone,
        "opensAt": opens_at,
        "closesAt": closes_at,
        "buy": record.buy.known(),
        "sell": record.sell.known(),
        "coins": coins.collect::<Map<_, _>>(),
        "phone": record.phone,
        "website": record.website,
        "sources": sources.collect::<Vec<_>>(),
        "reports": reports.map(show_reports),
        "notice": notice(snapshot, advice.bans, [reports.and_then(said)]),
        "advisories": advice.advisories,
    });
    if let Some(members) = details.as_object_mut() {
        members.extend(record.more.as_deref().map(more).into_iter().flatten());
    }
    leave_out_unknown(&mut details);
    details["attribution"] = json!(attribution);
    details
}

/// When it opens, and when it closes.
fn change(next: Option<NextOpening<'_>>) -> (Option<&str>, Option<&str>) {
    match next {
        Some(NextOpening::OpensAt(at)) => (Some(at), None),
        Some(NextOpening::ClosesAt(at)) => (None, Some(at)),
        None => (None, None),
    }
}

/// What people report of a machine: how many say what, never in their own words.
fn show_reports(reports: &MachineReports) -> Value {
    let ReportVerdict { people, is_disputed, newest_at, verified_at, .. } = &reports.verdict;
    let people: Map<_, _> = people.iter().map(|(seen, count)| (seen.as_str().to_owned(), json!(count))).collect();
    json!({
        "summary": reports.summary, "people": people, "disputed": is_disputed, "newest": newest_at,
        "foundThere": verified_at,
    })
}

/// The same as a sentence of the notice, where the reason of the status does not say it.
fn said(reports: &MachineReports) -> Option<String> {
    let verdict = &reports.verdict;
    let is_told = verdict.standing != ReportStanding::Undoubted || verdict.decision.is_some();
    (!is_told).then(|| format!("Reported, and not checked: {}.", reports.summary))
}

/// What is said of the law and of fraud at one machine.
fn advice<'a>(moment: &Moment<'a>, entry: &CatalogueEntry) -> Advice<'a> {
    let (from, filter) = (entry.machine.record.point, AtmFilter::default());
    Advice::of_machines(moment, &[entry], &Outlook { from, filter: &filter, units: Units::Miles, sends: true })
}

/// Removes the members of objects that hold nothing: null, and lists and objects without anything in them.
fn leave_out_unknown(value: &mut Value) {
    let is_known = |value: &Value| match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    };
    match value {
        Value::Array(items) => items.iter_mut().for_each(leave_out_unknown),
        Value::Object(members) => {
            members.values_mut().for_each(leave_out_unknown);
            members.retain(|_, member| is_known(member));
        }
        _ => {}
    }
}

/// What few sources say; null where nobody does.
fn more(more: &MoreFields) -> Map<String, Value> {
    let trade = |(coin, trade): (&Coin, &Trade)| {
        let Trade { buy, sell, lightning } = *trade;
        let trade = json!({ "buy": buy.known(), "sell": sell.known(), "lightning": lightning.known() });
        (coin.code().to_owned(), trade)
    };
    let fees = &more.fees;
    let limits = &more.limits;
    members(json!({
        "trades": more.trades.iter().map(trade).collect::<Map<_, _>>(),
        "fiat": more.fiat,
        "fees": {
            "buyPercent": fees.buy_percent, "buyFixed": fees.buy_fixed,
            "sellPercent": fees.sell_percent, "sellFixed": fees.sell_fixed, "currency": fees.currency,
        },
        "limits": {
            "min": limits.min, "max": limits.max, "maxDay": limits.max_day, "kycAbove": limits.kyc_above,
            "currency": limits.currency,
        },
        "kyc": more.kyc.known(),
        "brandWikidata": more.brand_wikidata,
        "network": more.network,
        "locatedIn": more.located_in,
        "placement": { "indoor": more.indoor.known(), "level": more.level, "note": more.note },
        "wheelchair": more.wheelchair.known(),
        "machine": { "manufacturer": more.manufacturer, "model": more.model, "ref": more.machine_ref },
        "email": more.email,
        "supportHours": more.support_hours,
        "operatorNotice": more.notice,
        "images": more.images,
    }))
}

/// A row that the machine is known from, and which parts of what is known it tells.
fn source(snapshot: &Snapshot, claim: &SourceClaim) -> Value {
    let source = snapshot.source(&claim.source);
    json!({
        "name": &*claim.source,
        "ref": claim.source_ref,
        "atmId": claim.id,
        "url": claim.url,
        "parts": claim.parts.names().collect::<Vec<_>>(),
        "importedAt": source.map(|source| source.imported_at),
        "attribution": source.map(|source| &source.attribution),
    })
}
