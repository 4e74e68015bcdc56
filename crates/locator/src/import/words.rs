//! The words in which sources say things.

use arcstr::ArcStr;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use crate::atm::{Coin, Reported};
use crate::terms::Kyc;
use crate::tri::Tri;

/// The words in which sources report a state.
pub(super) fn reported(text: &str) -> Option<Reported> {
    const WORDS: [(Reported, &[&str]); 5] = [
        (
            Reported::InService,
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
            Reported::OutOfService,
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
            Reported::TemporarilyClosed,
            &["temporarily closed", "closed temporarily", "maintenance", "under maintenance"],
        ),
        (
            Reported::PermanentlyClosed,
            &["permanently closed", "closed permanently", "removed", "deleted", "decommissioned"],
        ),
        (Reported::Unknown, &["unknown", "not reported", "n/a"]),
    ];
    let words = text.to_ascii_lowercase().replace(['_', '-'], " ");
    WORDS.iter().find(|(_, known)| known.contains(&words.as_str())).map(|(reported, _)| *reported)
}

pub(super) fn phone(text: &str) -> Option<ArcStr> {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let extension = |letter: char| "extEXT".contains(letter);
    let usual = |letter: char| letter.is_ascii_digit() || " +-().,/#:;".contains(letter) || extension(letter);
    ((5..=20).contains(&digits) && text.chars().all(usual)).then(|| text.into())
}

/// An address of the web; without a scheme it is taken for `https`.
pub(super) fn website(text: &str) -> Option<ArcStr> {
    let lower = text.to_ascii_lowercase();
    let bare = lower.strip_prefix("https://").or_else(|| lower.strip_prefix("http://"));
    let host = bare.unwrap_or(&lower).split(['/', '?', '#']).next().unwrap_or_default();
    let usual = |byte: u8| byte.is_ascii_alphanumeric() || b".-:".contains(&byte) || !byte.is_ascii();
    let plausible = host.contains('.') && !host.starts_with('.') && host.bytes().all(usual) && !text.contains(' ');
    plausible.then(|| if bare.is_some() { text.into() } else { format!("https://{text}").into() })
}

/// Yes or no.
pub(super) fn truth(text: &str) -> Option<Tri> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "y" | "true" | "1" | "only" | "limited" | "available" | "enabled" | "designated" => Some(Tri::Yes),
        "no" | "n" | "false" | "0" | "none" | "unavailable" | "disabled" => Some(Tri::No),
        "unknown" | "?" | "n/a" => Some(Tri::Unknown),
        _ => None,
    }
}

/// Whether a machine sells coins, and whether it pays out cash.
pub(super) fn services(text: &str) -> Option<(Tri, Tri)> {
    let words = text.to_ascii_lowercase().replace(['_', '-', '/', '&', ',', '|'], " ").replace(" and ", " ");
    match words.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["two" | "2", "way"] | ["buy", "sell"] | ["sell", "buy"] | ["both"] => Some((Tri::Yes, Tri::Yes)),
        ["one" | "1", "way"] | ["buy", "only"] | ["buy"] => Some((Tri::Yes, Tri::No)),
        ["sell", "only"] | ["sell"] => Some((Tri::No, Tri::Yes)),
        _ => None,
    }
}

/// Coins by code or name, between commas and the like. What is no coin is left out and said.
pub(super) fn coins(text: &str) -> (Vec<Coin>, bool) {
    let parts = text.split([',', ';', '/', '|', '+']).map(str::trim).filter(|part| !part.is_empty());
    let (mut coins, mut all) = (Vec::new(), true);
    for part in parts {
        match Coin::named(part) {
            Some(coin) => coins.push(coin),
            None => all = false,
        }
    }
    (coins, all)
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

/// A time: RFC 3339, a date with or without a time (UTC), or seconds or milliseconds since 1970.
pub(super) fn time(text: &str) -> Option<Timestamp> {
    if let Ok(number) = text.parse::<i64>() {
        // Ten digits of seconds last until 2286; eleven or more are milliseconds.
        return match number {
            100_000_000..=9_999_999_999 => Timestamp::from_second(number).ok(),
            10_000_000_000.. => Timestamp::from_millisecond(number).ok(),
            _ => None,
        };
    }
    let instant = text.parse::<Timestamp>().ok();
    let local = || {
        text.parse::<DateTime>()
            .ok()
            .or_else(|| Some(text.parse::<Date>().ok()?.to_datetime(jiff::civil::Time::midnight())))
    };
    instant.or_else(|| TimeZone::UTC.to_timestamp(local()?).ok())
}

/// The name of a time zone that is known.
pub(super) fn time_zone(text: &str) -> Option<ArcStr> {
    let zone = TimeZone::get(text).ok()?;
    zone.iana_name().map(ArcStr::from)
}

pub(super) fn email(text: &str) -> Option<ArcStr> {
    let (name, host) = text.split_once('@')?;
    let usual = |letter: char| !letter.is_whitespace() && !"<>()[],;:\"".contains(letter);
    let plausible = !name.is_empty() && host.contains('.') && !host.contains('@') && text.chars().all(usual);
    plausible.then(|| text.into())
}

/// An item of Wikidata.
pub(super) fn wikidata(text: &str) -> Option<ArcStr> {
    let number = text.strip_prefix('Q')?;
    let plausible = (1..=12).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    plausible.then(|| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_the_usual_notations() {
        let noon: Timestamp = "2026-11-20T12:00:00Z".parse().unwrap();
        for text in [
            "2026-11-20T12:00:00Z",
            "2026-11-20T06:00:00-06:00",
            "2026-11-20 12:00:00",
            "2026-11-20T12:00",
            "1795176000",
            "1795176000000",
        ] {
            assert_eq!(time(text), Some(noon), "{text}");
        }
        assert_eq!(time("2026-11-20"), "2026-11-20T00:00:00Z".parse().ok());
        for text in ["", "yesterday", "12", "2026-13-01", "11/20/2026", "-5"] {
            assert_eq!(time(text), None, "{text}");
        }
    }

    #[test]
    fn coins_are_read_by_code_and_name() {
        let codes = |text: &str| (coins(text).0.iter().map(Coin::code).collect::<Vec<_>>().join(" "), coins(text).1);
        assert_eq!(codes("BTC, ltc; Ethereum / XBT"), ("BTC LTC ETH BTC".to_owned(), true));
        assert_eq!(codes("Bitcoin Cash"), ("BCH".to_owned(), true));
        assert_eq!(codes("BTC, some other coins"), ("BTC".to_owned(), false));
    }

    #[test]
    fn ways_to_trade_are_read() {
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
