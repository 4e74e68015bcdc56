//! Functions that deserialize settings. Each service declares its settings as a struct with a field
//! for each key. Use these functions for fields whose type does not determine the allowed values.

use std::net::SocketAddr;
use std::time::Duration;

use jiff::fmt::friendly::{SpanParser, SpanPrinter};
use serde::de::{Deserialize, Deserializer, Error, Unexpected};
use url::Url;

/// Deserializes a value with `parse`. The error message lists the `allowed` values.
///
/// # Errors
/// Returns an error if `parse` returns `None`.
pub fn parsed<'de, D: Deserializer<'de>, T>(
    from: D,
    allowed: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, D::Error> {
    let text = String::deserialize(from)?;
    parse(&text).ok_or_else(|| D::Error::invalid_value(Unexpected::Str(&text), &allowed))
}

/// Deserializes an optional value with `parse`. The error message lists the `allowed` values.
///
/// # Errors
/// Returns an error if `parse` returns `None`.
pub fn optional<'de, D: Deserializer<'de>, T>(
    from: D,
    allowed: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<T>, D::Error> {
    let Some(text) = Option::<String>::deserialize(from)? else { return Ok(None) };
    match parse(&text) {
        Some(value) => Ok(Some(value)),
        None => Err(D::Error::invalid_value(Unexpected::Str(&text), &allowed)),
    }
}

/// Maximum number of items in a list of networks or origins, because each request may be compared
/// with all of them.
pub const MAX_ITEMS: usize = 1000;

/// Returns the items of a comma-separated list.
pub fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// Parses a non-negative duration such as `500ms`, `90s`, `5m` or `1h 30m`. `0` needs no unit.
#[must_use]
pub fn parse_duration(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    SpanParser::new().parse_unsigned_duration(text).ok()
}

/// Formats a duration so that [`parse_duration`] can parse it.
#[must_use]
pub fn format_duration(duration: Duration) -> String {
    SpanPrinter::new().unsigned_duration_to_string(&duration)
}

/// Deserializes a duration between `MIN` and `MAX` milliseconds.
///
/// # Errors
/// Returns an error if the text is not a duration, or the duration is out of range.
pub fn duration<'de, D, const MIN: u64, const MAX: u64>(from: D) -> Result<Duration, D::Error>
where
    D: Deserializer<'de>,
{
    let [min, max] = [MIN, MAX].map(Duration::from_millis);
    let [shortest, longest] = [min, max].map(format_duration);
    let allowed = format!("a duration of {shortest} to {longest}");
    parsed(from, &allowed, |text| parse_duration(text).filter(|duration| (min..=max).contains(duration)))
}

const ADDRESS_FORMAT: &str = "an address and a port, such as 127.0.0.1:8080 or [::1]:8080";

/// Deserializes an IP address with a port.
///
/// # Errors
/// Returns an error if the text is not an IP address with a port.
pub fn address<'de, D: Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    parsed(from, ADDRESS_FORMAT, |text| text.parse().ok())
}

/// Deserializes an optional IP address with a port.
///
/// # Errors
/// Returns an error if the text is not an IP address with a port.
pub fn optional_address<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SocketAddr>, D::Error> {
    optional(from, ADDRESS_FORMAT, |text| text.parse().ok())
}

/// Deserializes the optional IP address and port of another server. Unlike a listen address, it
/// cannot have port 0.
///
/// # Errors
/// Returns an error if the text is not an IP address with a port other than 0.
pub fn optional_server_address<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SocketAddr>, D::Error> {
    let allowed = "an address and a port from 1 to 65535, such as 192.0.2.53:53";
    optional(from, allowed, |text| text.parse().ok().filter(|address: &SocketAddr| address.port() != 0))
}

/// Deserializes an optional `http` or `https` URL without query, fragment and user name.
///
/// # Errors
/// Returns an error if the text is not such a URL.
pub fn optional_url<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Url>, D::Error> {
    let allowed = "an http or https address without query, such as https://signpost.example.com";
    optional(from, allowed, |text| {
        let url = Url::parse(text).ok()?;
        let has_user = !url.username().is_empty() || url.password().is_some();
        (is_http_without_query(&url) && url.fragment().is_none() && !has_user).then_some(url)
    })
}

/// Deserializes an optional `http` or `https` URL without query. It may contain a user name and a
/// password.
///
/// # Errors
/// Returns an error if the text is not such a URL.
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
    fn durations_have_units_and_are_not_negative() {
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
