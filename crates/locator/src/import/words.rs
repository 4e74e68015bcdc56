//! Parsers for the values of cells.

use arcstr::ArcStr;
use jiff::tz::TimeZone;

use crate::atm::{Coin, ReportedState};
use crate::terms::Kyc;
use crate::tri::Tri;

/// Parses an operational state.
pub(super) fn parse_reported_state(text: &str) -> Option<ReportedState> {
    const WORDS: [(ReportedState, &[&str]); 5] = [
        (
            ReportedState::InService,
            &[
                "in service",
                "active",
                "enabled",
                "online",
                "open",
                "operational",
                "available",
                "working",
                "live",
                "true",
            ],
        ),
        (
            ReportedState::OutOfService,
            &[
                "out of service",
                "inactive",
                "disabled",
                "offline",
                "out of order",
                "broken",
                "down",
                "unavailable",
                "not working",
                "false",
            ],
        ),
        (
            ReportedState::TemporarilyClosed,
            &["temporarily closed", "closed temporarily", "maintenance", "under maintenance"],
        ),
        (
            ReportedState::PermanentlyClosed,
            &["permanently closed", "closed permanently", "removed", "deleted", "decommissioned"],
        ),
        (ReportedState::Unknown, &["unknown", "not reported", "n/a"]),
    ];
    let words = text.to_ascii_lowercase().replace(['_', '-'], " ");
    WORDS.iter().find(|(_, known)| known.contains(&words.as_str())).map(|(reported, _)| *reported)
}

/// Parses yes, no or unknown.
pub(super) fn parse_tri(text: &str) -> Option<Tri> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "y" | "true" | "1" | "only" | "limited" | "available" | "enabled" | "designated" => Some(Tri::Yes),
        "no" | "n" | "false" | "0" | "none" | "unavailable" | "disabled" => Some(Tri::No),
        "unknown" | "?" | "n/a" => Some(Tri::Unknown),
        _ => None,
    }
}

/// Parses whether an ATM sells coins, and whether it pays out cash.
pub(super) fn services(text: &str) -> Option<(Tri, Tri)> {
    let words = text.to_ascii_lowercase().replace(['_', '-', '/', '&', ',', '|'], " ").replace(" and ", " ");
    match words.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["two" | "2", "way"] | ["buy", "sell"] | ["sell", "buy"] | ["both"] => Some((Tri::Yes, Tri::Yes)),
        ["one" | "1", "way"] | ["buy", "only"] | ["buy"] => Some((Tri::Yes, Tri::No)),
        ["sell", "only"] | ["sell"] => Some((Tri::No, Tri::Yes)),
        _ => None,
    }
}

/// Parses a list of coins by code or name, also in the brackets and quotes of JSON. Returns whether all of its parts are
/// coins.
pub(super) fn coins(text: &str) -> (Vec<Coin>, bool) {
    let parts = text.split([',', ';', '/', '|', '+']);
    let parts = parts.map(|part| part.trim_matches(['[', ']', '"', '\'', ' '])).filter(|part| !part.is_empty());
    let mut coins = Vec::new();
    let mut are_all_known = true;
    for part in parts {
        match Coin::named(part) {
            Some(coin) => coins.push(coin),
            None => are_all_known = false,
        }
    }
    (coins, are_all_known)
}

pub(super) fn kyc(text: &str) -> Option<Kyc> {
    match text.to_ascii_lowercase().as_str() {
        "none" | "no" | "not required" => Some(Kyc::None),
        "phone" | "sms" | "phone number" => Some(Kyc::Phone),
        "id" | "document" | "id scan" | "government id" | "passport" => Some(Kyc::Id),
        "unknown" => Some(Kyc::Unknown),
        _ => None,
    }
}

/// Parses the name of a known time zone.
pub(super) fn time_zone(text: &str) -> Option<ArcStr> {
    let zone = TimeZone::get(text).ok()?;
    zone.iana_name().map(ArcStr::from)
}

/// Parses the ID of a Wikidata item.
pub(super) fn wikidata(text: &str) -> Option<ArcStr> {
    let number = text.strip_prefix('Q')?;
    let is_plausible = (1..=12).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    if is_plausible { Some(text.into()) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coins_are_parsed_by_code_and_name() {
        let codes = |text: &str| (coins(text).0.iter().map(Coin::code).collect::<Vec<_>>().join(" "), coins(text).1);
        assert_eq!(codes("BTC, ltc; Ethereum / XBT"), ("BTC LTC ETH BTC".to_owned(), true));
        assert_eq!(codes(r#"["BTC", "ltc"]"#), ("BTC LTC".to_owned(), true));
        assert_eq!(codes("Bitcoin Cash"), ("BCH".to_owned(), true));
        assert_eq!(codes("BTC, some other coins"), ("BTC".to_owned(), false));
    }

    #[test]
    fn trade_directions_are_parsed() {
        for (text, expected) in [
            ("two-way", Some((Tri::Yes, Tri::Yes))),
            ("Buy & Sell", Some((Tri::Yes, Tri::Yes))),
            ("buy_only", Some((Tri::Yes, Tri::No))),
            ("one way", Some((Tri::Yes, Tri::No))),
            ("sell", Some((Tri::No, Tri::Yes))),
            ("ATM", None),
        ] {
            assert_eq!(services(text), expected, "{text}");
        }
    }
}
