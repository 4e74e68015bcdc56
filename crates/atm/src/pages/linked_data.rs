//! Structured data of pages (schema.org JSON-LD). Unknown values are omitted.

use jiff::civil::Time;
use serde_json::{Value, json};
use signpost_locator::{AtmId, AtmStatus, OpenDay, OpenSpan, Region, Tri};
use signpost_platform::pages::href::href;

use super::addresses::{area_name, atm_path};
use super::context::PageContext;
use super::crumbs::Crumb;
use super::facts::traded_coins;
use super::week::AtmWeek;
use super::words::utc_date;
use crate::catalogue::Town;
use crate::view::AtmView;

const CONTEXT: &str = "https://schema.org";
const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Returns the absolute URL of a path if the public URL is configured, or a relative link.
fn address(context: &PageContext, path: &str) -> String {
    match context.service.public_url {
        Some(_) => context.service.public_address.clone() + path,
        None => context.service.origin.link(path),
    }
}

/// Returns the structured data of an ATM that is not gone.
pub(super) fn atm_data(context: &PageContext, view: &AtmView<'_>, week: &AtmWeek, town: Option<&Town>) -> Value {
    let record = view.record;
    let own = address(context, &atm_path(view.entry.atm.id));
    let [lat, lon] = view.degrees();
    let more = record.more.as_deref();
    let postal = &record.address;
    let city = postal.city.as_deref().or_else(|| town.map(|town| &*town.name));
    let fiat = more.into_iter().flat_map(|more| &more.fiat).map(ToString::to_string);
    let currencies: Vec<String> = fiat.chain(traded_coins(view).into_iter().map(str::to_owned)).collect();
    let as_of = record.known_at().map(|at| format!(", as of {}", utc_date(at))).unwrap_or_default();
    let fee = more.and_then(|more| more.fees.buy_percent.as_ref());
    let fee = fee.map(|percent| format!("{} % of what is bought{as_of}", percent.as_str()));
    without_nulls(json!({
        "@context": CONTEXT, "@type": "AutomatedTeller", "@id": own, "url": own,
        "name": record.title(),
        "address": without_nulls(json!({
            "@type": "PostalAddress",
            "streetAddress": postal.street, "addressLocality": city,
            "addressRegion": town.and_then(|town| town.area.region).map(Region::code).or(postal.region.as_deref()),
            "postalCode": postal.postcode,
            "addressCountry": town.map(|town| town.area.country.code().to_owned()),
        })),
        "geo": { "@type": "GeoCoordinates", "latitude": lat, "longitude": lon },
        "openingHoursSpecification": opening_hours(view, week),
        "telephone": record.phone,
        "sameAs": record.website.as_deref().and_then(href),
        "brand": record.brand.as_ref().map(|name| json!({ "@type": "Brand", "name": name })),
        "parentOrganization": record.operator.as_ref().map(|name| json!({ "@type": "Organization", "name": name })),
        "currenciesAccepted": (!currencies.is_empty()).then(|| currencies.join(", ")),
        "paymentAccepted": (record.buy == Tri::Yes).then_some("Cash"),
        "feesAndCommissionsSpecification": fee,
        "containedInPlace":
            more.and_then(|more| more.located_in.as_ref()).map(|name| json!({ "@type": "Place", "name": name })),
        "areaServed": town.map(|town| format!("{}, {}", town.name, area_name(context.words(), town.area))),
    }))
}

/// Removes the null members of an object.
fn without_nulls(mut object: Value) -> Value {
    if let Some(members) = object.as_object_mut() {
        members.retain(|_, member| !member.is_null());
    }
    object
}

/// Returns the opening hours, or `None` if the status is neither open nor closed.
fn opening_hours(view: &AtmView<'_>, week: &AtmWeek) -> Option<Value> {
    if !matches!(view.status.status, AtmStatus::Open | AtmStatus::Closed) {
        return None;
    }
    specify_hours(week)
}

/// Returns the opening hours of a week, or `None` if any day is uncertain.
fn specify_hours(week: &AtmWeek) -> Option<Value> {
    match week {
        AtmWeek::Always => Some(json!([hours_of(&DAYS, OpenSpan::WHOLE_DAY)])),
        AtmWeek::Days(days) if days.iter().all(|day| !day.is_uncertain) => {
            Some(Value::Array(days.iter().flat_map(day_hours).collect()))
        }
        _ => None,
    }
}

/// Returns the opening hours of one day. In this format, a closed day opens and closes at midnight.
fn day_hours(day: &OpenDay) -> Vec<Value> {
    let name = [DAYS[usize::from(day.date.weekday().to_monday_zero_offset().unsigned_abs())]];
    if day.spans.is_empty() {
        return vec![hours_at(&name, "00:00", "00:00")];
    }
    day.spans.iter().map(|span| hours_of(&name, *span)).collect()
}

fn hours_of(days: &[&str], span: OpenSpan) -> Value {
    let closes = if span.closes == Time::MIN { "23:59".to_owned() } else { clock_time(span.closes) };
    hours_at(days, &clock_time(span.opens), &closes)
}

fn clock_time(time: Time) -> String {
    time.strftime("%H:%M").to_string()
}

fn hours_at(days: &[&str], opens: &str, closes: &str) -> Value {
    json!({ "@type": "OpeningHoursSpecification", "dayOfWeek": days, "opens": opens, "closes": closes })
}

/// Returns the structured data of a list of ATMs, with their numbers on the page.
pub(super) fn item_list(context: &PageContext, name: &str, machines: impl Iterator<Item = (usize, AtmId)>) -> Value {
    let items = machines.map(
        |(position, id)| json!({ "@type": "ListItem", "position": position, "url": address(context, &atm_path(id)) }),
    );
    json!({ "@context": CONTEXT, "@type": "ItemList", "name": name, "itemListElement": items.collect::<Vec<_>>() })
}

/// Returns the structured data of a page's breadcrumbs.
pub(super) fn crumb_list(context: &PageContext, steps: &[Crumb]) -> Value {
    let items = (1..).zip(steps).map(|(position, (name, path))| {
        let path = path.as_deref().unwrap_or("/");
        json!({ "@type": "ListItem", "position": position, "name": name, "item": address(context, path) })
    });
    json!({ "@context": CONTEXT, "@type": "BreadcrumbList", "itemListElement": items.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use signpost_locator::{Hours, Schedule};

    use super::*;

    /// Formats the structured data of opening hours, with one line for each entry: days, opening time and closing time.
    fn format_hours(hours: &str) -> Option<Vec<String>> {
        let hours = Hours::parse(hours).expect("hours");
        let week = if hours == Hours::Always {
            AtmWeek::Always
        } else {
            // A Monday in Chicago.
            let now: Timestamp = "2026-11-23T18:00:00Z".parse().expect("a time");
            let schedule = Schedule::new(&hours, Some("America/Chicago"), None).ok();
            schedule.and_then(|schedule| schedule.week(now)).map_or(AtmWeek::Words, AtmWeek::Days)
        };
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let line = |one: &Value| {
            let days: Vec<_> =
                one["dayOfWeek"].as_array().expect("days").iter().map(|day| text(day)[..2].to_owned()).collect();
            format!("{} {}-{}", days.join(","), text(&one["opens"]), text(&one["closes"]))
        };
        Some(specify_hours(&week)?.as_array().expect("a list").iter().map(line).collect())
    }

    #[test]
    fn hours_have_the_format_of_search_engines() {
        for (hours, expected) in [
            ("24/7", &["Mo,Tu,We,Th,Fr,Sa,Su 00:00-23:59"][..]),
            (
                "Mo-Fr 08:00-12:00,13:00-18:00; Sa 09:00-24:00",
                &[
                    "Mo 08:00-12:00",
                    "Mo 13:00-18:00",
                    "Tu 08:00-12:00",
                    "Tu 13:00-18:00",
                    "We 08:00-12:00",
                    "We 13:00-18:00",
                    "Th 08:00-12:00",
                    "Th 13:00-18:00",
                    "Fr 08:00-12:00",
                    "Fr 13:00-18:00",
                    "Sa 09:00-23:59",
                    "Su 00:00-00:00",
                ],
            ),
            (
                "Fr,Sa 18:00-02:00",
                &[
                    "Mo 00:00-00:00",
                    "Tu 00:00-00:00",
                    "We 00:00-00:00",
                    "Th 00:00-00:00",
                    "Fr 18:00-02:00",
                    "Sa 18:00-02:00",
                    "Su 00:00-00:00",
                ],
            ),
        ] {
            assert_eq!(format_hours(hours).expect("hours"), expected, "{hours}");
        }
        for words in ["sunrise-sunset", "by appointment \"call first\""] {
            assert!(Hours::parse(words).is_none_or(|_| format_hours(words).is_none()), "{words}");
        }
    }
}
