//! How a setting's text becomes its value. Each service declares its settings as a struct that deserializes, a field per
//! key; the functions here serve the fields whose type alone cannot name what is allowed.

use std::net::SocketAddr;
use std::time::Duration;

use jiff::fmt::friendly::{SpanParser, SpanPrinter};
use serde::de::{Deserialize, Deserializer, Error, Unexpected};
use url::Url;

/// A value that `parse` makes of the text; without one, the error names what is `allowed`.
///
/// # Errors
/// Where `parse` gives nothing.
pub fn parsed<'de, D: Deserializer<'de>, T>(
    from: D,
    allowed: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, D::Error> {
    let text = String::deserialize(from)?;
    parse(&text).ok_or_else(|| D::Error::invalid_value(Unexpected::Str(&text), &allowed))
}

/// As [`parsed`], for a setting that may be empty.
///
/// # Errors
/// As [`parsed`].
pub fn optional<'de, D: Deserializer<'de>, T>(
    from: D,
    allowed: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<T>, D::Error> {
    let Some(text) = Option::<String>::deserialize(from)? else { return Ok(None) };
    parse(&text).map(Some).ok_or_else(|| D::Error::invalid_value(Unexpected::Str(&text), &allowed))
}

/// Maximum number of items in a list of networks or origins: each request may be compared with all of them.
pub const MAX_ITEMS: usize = 1000;

/// The items of a list, which commas separate.
pub fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// A duration such as `500ms`, `90s`, `5m` or `1h 30m`; never a negative one. `0` needs no unit.
#[must_use]
pub fn parse_duration(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    SpanParser::new().parse_unsigned_duration(text).ok()
}

/// Returns a duration as [`parse_duration`] reads it.
#[must_use]
pub fn spell_duration(duration: Duration) -> String {
    SpanPrinter::new().unsigned_duration_to_string(&duration)
}

/// A duration of `MIN` to `MAX` milliseconds.
///
/// # Errors
/// Where it is none, or is shorter or longer than that.
pub fn duration<'de, D, const MIN: u64, const MAX: u64>(from: D) -> Result<Duration, D::Error>
where
    D: Deserializer<'de>,
{
    let [min, max] = [MIN, MAX].map(Duration::from_millis);
    let [shortest, longest] = [min, max].map(spell_duration);
    let allowed = format!("a duration of {shortest} to {longest}");
    parsed(from, &allowed, |text| parse_duration(text).filter(|duration| (min..=max).contains(duration)))
}

const ADDRESS: &str = "an address and a port, such as 127.0.0.1:8080 or [::1]:8080";

/// An address and a port.
///
/// # Errors
/// Where it is none.
pub fn address<'de, D: Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    parsed(from, ADDRESS, |text| text.parse().ok())
}

/// An address and a port, if any.
///
/// # Errors
/// As [`address`].
pub fn optional_address<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SocketAddr>, D::Error> {
    optional(from, ADDRESS, |text| text.parse().ok())
}

/// Parses the address and port of a server that is asked, if any. Unlike a listen address it cannot have port 0.
///
/// # Errors
/// If it is not an address with such a port.
pub fn optional_server_address<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SocketAddr>, D::Error> {
    let allowed = "an address and a port from 1 to 65535, such as 192.0.2.53:53";
    optional(from, allowed, |text| text.parse().ok().filter(|address: &SocketAddr| address.port() != 0))
}

/// An `http` or `https` URL without query, fragment and user, if any.
///
/// # Errors
/// Where it is none.
pub fn optional_url<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Url>, D::Error> {
    let is_plain = |url: &Url| {
        let has_user = !url.username().is_empty() || url.password().is_some();
        is_http_without_query(url) && url.fragment().is_none() && !has_user
    };
    let allowed = "an http or https address without query, such as https://signpost.example.com";
    optional(from, allowed, |text| Url::parse(text).ok().filter(is_plain))
}

/// An `http` or `https` URL without query of a server that may ask for a user and a password, if any.
///
/// # Errors
/// Where it is none.
pub fn optional_server_url<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Url>, D::Error> {
    let allowed = "an http or https address without query, such as https://pelias.example.com";
    optional(from, allowed, |text| Url::parse(text).ok().filter(is_http_without_query))
}

fn is_http_without_query(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.port() != Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them_and_never_negative() {
        for (text, millis) in [
            ("0s", Some(0)),
            ("0", Some(0)),
            ("500ms", Some(500)),
            ("300s", Some(300_000)),
            ("5m", Some(300_000)),
            ("24h", Some(86_400_000)),
            ("1h 30m", Some(5_400_000)),
            ("2 minutes", Some(120_000)),
            ("-5s", None),
            ("5s ago", None),
            ("5", None),
            ("", None),
            ("soon", None),
            ("99999999999999999999s", None),
        ] {
            assert_eq!(parse_duration(text), millis.map(Duration::from_millis), "{text}");
        }
    }
}
