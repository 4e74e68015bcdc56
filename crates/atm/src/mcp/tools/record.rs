//! The record of an ATM in the reply of `get_atm_details`, without members about the reply as a whole.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};
use signpost_locator::{AtmId, Hours, MoreFields, SourceClaim, Trade};
use signpost_platform::pages::Language;
use signpost_platform::pages::dates::short_date;

use super::links::{PageLinks, directions};
use super::schema::members;
use crate::catalogue::{AtmReports, CatalogueEntry, Moment, NextOpening, Snapshot, UnlistedAtm};
use crate::reports::evidence::{ReportEffect, ReportVerdict};
use crate::view::AtmView;

/// An ATM that has details.
pub(super) enum FoundAtm<'a> {
    /// An ATM of the catalogue.
    Listed(&'a CatalogueEntry),
    /// An ATM that its source removed.
    Unlisted(UnlistedAtm),
}

impl FoundAtm<'_> {
    pub(super) fn id(&self) -> AtmId {
        match self {
            Self::Listed(entry) => entry.atm.id,
            Self::Unlisted(atm) => atm.entry.atm.id,
        }
    }
}

/// Returns the record of an ATM, with null for unknown members.
pub(super) fn record(moment: &Moment<'_>, found: &FoundAtm<'_>, links: PageLinks<'_>) -> Value {
    match found {
        FoundAtm::Listed(entry) => {
            let view = AtmView::of(moment, entry);
            let mut record = show(moment, &view, links);
            record["listed"] = json!(true);
            record["directions"] = json!((!view.is_gone()).then(|| directions(view.degrees())));
            record
        }
        FoundAtm::Unlisted(atm) => {
            let mut record = show(moment, &AtmView::of_unlisted(atm), links);
            record["listed"] = json!(false);
            record["statusReason"] = json!(unlisted_since(atm));
            record["statusAsOf"] = json!(atm.removed_at);
            record
        }
    }
}

/// Returns the sentence of the notice about this ATM, if any.
pub(super) fn own_notice(moment: &Moment<'_>, found: &FoundAtm<'_>) -> Option<String> {
    match found {
        FoundAtm::Listed(entry) => moment.snapshot().reports(entry).and_then(unchecked_reports),
        FoundAtm::Unlisted(atm) => {
            Some(format!("It is {}. It may be gone: search for another one near it.", unlisted_since(atm)))
        }
    }
}

/// Returns when and by which source the ATM was removed, as on its page.
fn unlisted_since(atm: &UnlistedAtm) -> String {
    let day = TimeZone::UTC.to_datetime(atm.removed_at).date();
    format!("no longer listed by {} since {}", atm.source, short_date(Language::English, day))
}

fn show(moment: &Moment<'_>, view: &AtmView<'_>, links: PageLinks<'_>) -> Value {
    let snapshot = moment.snapshot();
    let atm = &view.entry.atm;
    let record = view.record;
    let report = &view.status;
    let (opens_at, closes_at) = change(moment.next_opening(view.entry, report.status));
    let coins = record.coins.iter().map(|(coin, deals)| (coin.code().to_owned(), json!(deals.known())));
    let sources = atm.claims.iter().map(|claim| source(snapshot, claim));
    let attribution: BTreeSet<&str> = atm
        .claims
        .iter()
        .filter_map(|claim| snapshot.source(&claim.source))
        .map(|source| source.attribution.as_str())
        .collect();
    let [lat, lon] = view.degrees();
    let mut details = json!({
        "id": atm.id,
        "name": record.title(),
        "operator": record.operator,
        "brand": record.brand,
        "status": report.status,
        "statusReason": report.reason.text(),
        "statusAsOf": report.as_of,
        "lastConfirmed": view.verified_at(),
        "verifiedAt": view.verified_at(),
        "verifiedBy": view.confirmed_at().map(|_| "report"),
        "freshness": view.freshness(moment.now()),
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
        "url": links.atm(atm.id),
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
        "reports": view.reports.map(show_reports),
        "attribution": attribution,
    });
    if let Some(members) = details.as_object_mut() {
        members.extend(record.more.as_deref().map(more).into_iter().flatten());
    }
    details
}

/// Returns the time of the next opening, and of the next closing.
fn change(next: Option<NextOpening<'_>>) -> (Option<&str>, Option<&str>) {
    match next {
        Some(NextOpening::OpensAt(at)) => (Some(at), None),
        Some(NextOpening::ClosesAt(at)) => (None, Some(at)),
        None => (None, None),
    }
}

/// Returns the summary of the reports: counts, never the reporters' own words.
fn show_reports(reports: &AtmReports) -> Value {
    let ReportVerdict { people, is_disputed, newest_at, verified_at, .. } = &reports.verdict;
    let people: Map<_, _> = people.iter().map(|(seen, count)| (seen.as_str().to_owned(), json!(count))).collect();
    json!({
        "summary": reports.summary, "people": people, "disputed": is_disputed, "newest": newest_at,
        "foundThere": verified_at,
    })
}

/// Returns the reports as a sentence of the notice, unless they are the reason of the status.
fn unchecked_reports(reports: &AtmReports) -> Option<String> {
    let verdict = &reports.verdict;
    if verdict.effect != ReportEffect::Undoubted || verdict.decision.is_some() {
        return None;
    }
    Some(format!("Reported, and not checked: {}.", reports.summary))
}

/// Removes the members of objects that are null or empty, except the attribution.
pub(super) fn remove_unknown(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(remove_unknown),
        Value::Object(members) => {
            members.values_mut().for_each(remove_unknown);
            members.retain(|name, member| is_known(member) || name == "attribution" && !member.is_null());
        }
        _ => {}
    }
}

fn is_known(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    }
}

/// Returns the members that few sources have; null if unknown.
fn more(more: &MoreFields) -> Map<String, Value> {
    let mut trades = Map::new();
    for (coin, Trade { buy, sell, lightning }) in &more.trades {
        let trade = json!({ "buy": buy.known(), "sell": sell.known(), "lightning": lightning.known() });
        trades.insert(coin.code().to_owned(), trade);
    }
    let fees = &more.fees;
    let limits = &more.limits;
    members(json!({
        "trades": trades,
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
        "endDate": more.end_date,
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

/// Returns a row of the ATM, and the parts of the data that come from it.
fn source(snapshot: &Snapshot, claim: &SourceClaim) -> Value {
    let source = snapshot.source(&claim.source);
    json!({
        "name": &*claim.source,
        "ref": claim.source_ref,
        "atmId": claim.id,
        "url": claim.url,
        "parts": claim.parts.names().collect::<Vec<_>>(),
        "dataAsOf": claim.known_at,
        "importedAt": source.map(|source| source.imported_at),
        "attribution": source.map(|source| &source.attribution),
    })
}
