//! The simulated browser of the conformance kit. It stores cookies, and finds codes, session IDs
//! and links on a page.

use std::collections::BTreeMap;

use reqwest::header::{HeaderMap, SET_COOKIE};
use signpost_auth::QrData;
use url::Url;

/// The characters that end the text of a QR code on a page.
const QR_ENDS: &[char] = &['"', '\'', '<', '>', '`', '\\', ' ', '\n', '\r', '\t', ')', '}'];

/// A simulated browser: the cookies of a site, and the header fields that the browser sends.
#[derive(Clone, Debug, Default)]
pub(super) struct FakeBrowser {
    jar: BTreeMap<String, String>,
    pub(super) origin: Option<String>,
    pub(super) headers: Vec<(&'static str, String)>,
}

impl FakeBrowser {
    /// Creates a browser that sends these header fields and has no cookies.
    pub(super) fn with_headers(headers: Vec<(&'static str, String)>) -> Self {
        Self { headers, ..Self::default() }
    }

    /// Replaces the header fields by the header fields of a cross-site request.
    pub(super) fn cross_site(self) -> Self {
        let headers = vec![("sec-fetch-site", "cross-site".to_owned())];
        Self { origin: Some("https://elsewhere.example".to_owned()), headers, ..self }
    }

    pub(super) fn cookies(&self) -> Option<String> {
        let pairs: Vec<_> = self.jar.iter().map(|(name, value)| format!("{name}={value}")).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }

    pub(super) fn store_cookies(&mut self, headers: &HeaderMap) {
        for line in headers.get_all(SET_COOKIE).iter().filter_map(|line| line.to_str().ok()) {
            let mut parts = line.split(';').map(str::trim);
            let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { continue };
            let is_deleted = parts.any(|part| part.eq_ignore_ascii_case("max-age=0"));
            if is_deleted {
                self.jar.remove(name);
            } else {
                self.jar.insert(name.to_owned(), value.to_owned());
            }
        }
    }
}

/// Finds the QR code's text on a page.
pub(super) fn qr_data(page: &str) -> Option<QrData> {
    let text = plain(page);
    text.match_indices("svc://auth?").find_map(|(at, _)| {
        let rest = &text[at..];
        QrData::parse(&rest[..rest.find(QR_ENDS).unwrap_or(rest.len())]).ok()
    })
}

/// Finds the session ID that the page polls with: the ID of a session in `opened`, else the value of `sid` on the page.
pub(super) fn sid(page: &str, opened: &[String]) -> Option<String> {
    let text = plain(page);
    if let Some(id) = opened.iter().find(|id| text.contains(id.as_str())) {
        return Some(id.clone());
    }
    text.match_indices("sid").find_map(|(at, name)| {
        let rest = text[at + name.len()..].trim_start_matches(['"', '\'']).trim_start();
        let rest = rest.strip_prefix(['=', ':'])?.trim_start().trim_start_matches(['"', '\'']);
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-')).unwrap_or(rest.len());
        (end >= 8).then(|| rest[..end].to_owned())
    })
}

/// Finds the link to the registration page.
pub(super) fn register_link(start: &Url, page: &str) -> Option<Url> {
    let text = plain(page);
    let links = text.match_indices("href=").filter_map(|(at, name)| {
        let rest = text[at + name.len()..].trim_start_matches(['"', '\'']);
        Some(&rest[..rest.find(['"', '\'', ' ', '>'])?])
    });
    let mut found = links.filter(|link| link.contains("regist") || link.contains("signup") || link.contains("sign-up"));
    found.find_map(|link| start.join(link).ok()).filter(|url| url.origin() == start.origin())
}

/// Decodes `&`, `/` and quotes in HTML, JSON and scripts.
fn plain(page: &str) -> String {
    page.replace("\\u0026", "&")
        .replace("\\/", "/")
        .replace("&#x2F;", "/")
        .replace("&#47;", "/")
        .replace("&#38;", "&")
        .replace("&amp;", "&")
        .replace("&quot;", "\"")
        .replace("&#34;", "\"")
        .replace("&#39;", "'")
        .replace("\\\"", "\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    const QR: &str = "svc://auth?v=1&webhook=https://shop.test/w&challenge=svc:login:shop.test:1700000000:AAAAAAAAAAAAAAAAAAAAAA&exp=1700000300";

    #[test]
    fn code_is_found_in_any_escaping() {
        let amp = QR.replace('&', "&amp;");
        let json = QR.replace('&', "\\u0026").replace('/', "\\/");
        for page in [
            format!("<a href=\"{amp}\">wallet</a>"),
            format!("<code>{amp}</code>"),
            format!("<script>const code = '{QR}';</script>"),
            format!("{{\"qr_data\":\"{json}\",\"sid\":\"x\"}}"),
            format!("svc://auth?broken {QR}"),
        ] {
            assert_eq!(qr_data(&page).map(|qr| qr.to_string()).as_deref(), Some(QR), "{page}");
        }
        assert!(qr_data("<p>nothing</p>").is_none());
    }

    #[test]
    fn sid_is_found_by_name_or_session() {
        for (page, expected) in [
            ("<div data-sid=\"abcdefgh1\">", Some("abcdefgh1")),
            ("{\"sid\": \"abcdefgh2\"}", Some("abcdefgh2")),
            ("const sid = 'abcdefgh3';", Some("abcdefgh3")),
            ("fetch('/poll?sid=abcdefgh4')", Some("abcdefgh4")),
            ("<i>sess_known</i> data-sid=\"abcdefgh5\"", Some("sess_known")),
            ("outside sides", None),
        ] {
            assert_eq!(sid(page, &["sess_known".to_owned()]).as_deref(), expected, "{page}");
        }
    }

    #[test]
    fn register_page_is_on_the_site() {
        let start: Url = "https://shop.test/login".parse().unwrap();
        let link = |page| register_link(&start, page).map(String::from);
        assert_eq!(link("<a href=\"/register?x\">new</a>").as_deref(), Some("https://shop.test/register?x"));
        assert_eq!(link("<a href='https://elsewhere.test/register'>"), None);
        assert_eq!(link("<a href=/help>"), None);
    }
}
