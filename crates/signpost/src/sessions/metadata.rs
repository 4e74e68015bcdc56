//! What an integrator attaches to a session and gets back unchanged.

use serde_json::{Map, Value};
use signpost_auth::DomainName;
use url::Url;

const MOST_RETURN_URL: usize = 2048;
const MOST_CUSTOM_DATA: usize = 4096;

/// Says whether metadata may be kept.
///
/// # Errors
/// The member that is wrong and why: a `return_url` that leads away from the domain would make us an open redirect.
pub fn check(metadata: &Map<String, Value>, domain: &DomainName) -> Result<(), (&'static str, String)> {
    if let Some(value) = metadata.get("return_url") {
        let told = |reason: &str| ("metadata.return_url", reason.to_owned());
        let text = value.as_str().ok_or_else(|| told("must be a string"))?;
        if text.chars().count() > MOST_RETURN_URL {
            return Err(told("must have at most 2048 characters"));
        }
        if !is_at_home(text, domain) {
            return Err(told("must be a path such as /account, or an https URL on the domain or below it"));
        }
    }
    if let Some(value) = metadata.get("custom_data") {
        let told = |reason: &str| ("metadata.custom_data", reason.to_owned());
        let text = value.as_str().ok_or_else(|| told("must be a string"))?;
        if text.chars().count() > MOST_CUSTOM_DATA {
            return Err(told("must have at most 4096 characters"));
        }
    }
    Ok(())
}

/// Whether a browser that follows `text` stays on the domain. Browsers read `//host` and `/\host` as other hosts, and
/// drop tabs and line ends before they look.
fn is_at_home(text: &str, domain: &DomainName) -> bool {
    if text.chars().any(char::is_control) || text.contains('\\') {
        return false;
    }
    if text.starts_with('/') {
        return !text.starts_with("//");
    }
    let Ok(url) = Url::parse(text) else { return false };
    let is_bare = url.username().is_empty() && url.password().is_none();
    url.scheme() == "https" && is_bare && url.host_str().is_some_and(|host| domain.covers(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_return_url_stays_on_the_domain() {
        let domain = DomainName::parse("example.com").unwrap();
        for (text, ok) in [
            ("/account", true),
            ("/", true),
            ("/a?next=//b", true),
            ("https://example.com/account", true),
            ("https://shop.example.com/", true),
            ("//evil.example", false),
            ("/\\evil.example", false),
            ("/\t/evil.example", false),
            ("https://example.com.evil.example/", false),
            ("https://evilexample.com/", false),
            ("https://example.com@evil.example/", false),
            ("https://user@example.com/", false),
            ("http://example.com/", false),
            ("javascript:alert(1)", false),
            ("account", false),
            ("", false),
        ] {
            let metadata = Map::from_iter([("return_url".to_owned(), Value::from(text))]);
            assert_eq!(check(&metadata, &domain).is_ok(), ok, "{text}");
        }
    }

    #[test]
    fn lengths_are_counted_in_characters() {
        let domain = DomainName::parse("example.com").unwrap();
        for (member, most) in [("custom_data", 4096), ("return_url", 2048)] {
            for (length, ok) in [(most, true), (most + 1, false)] {
                let text = format!("/{}", "é".repeat(length - 1));
                let metadata = Map::from_iter([(member.to_owned(), Value::from(text))]);
                assert_eq!(check(&metadata, &domain).is_ok(), ok, "{member} {length}");
            }
        }
        let metadata = Map::from_iter([("custom_data".to_owned(), Value::from(1))]);
        assert!(check(&metadata, &domain).is_err());
    }
}
