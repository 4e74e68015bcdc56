//! Checks untrusted URLs before they are used in links.

use url::Url;

/// The URL schemes that links may have. None of them executes code in the page.
const SCHEMES: [&str; 5] = ["http", "https", "tel", "mailto", "geo"];

/// Returns an untrusted URL for a `href` attribute, as browsers would serialize it. Returns `None`
/// if it is not a URL or its scheme is not allowed.
#[must_use]
pub fn href(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    SCHEMES.contains(&url.scheme()).then(|| url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_safe_schemes_only() {
        for (text, link) in [
            ("https://shop.test/a?b=c#d", Some("https://shop.test/a?b=c#d")),
            ("HTTP://Shop.Test", Some("http://shop.test/")),
            ("tel:+15550100", Some("tel:+15550100")),
            ("mailto:a@shop.test", Some("mailto:a@shop.test")),
            ("geo:44.9,-93.2", Some("geo:44.9,-93.2")),
            ("javascript:alert(1)", None),
            (" \u{1}JaVa\tScRiPt:alert(1)", None),
            ("data:text/html,<script>", None),
            ("vbscript:x", None),
            ("file:///etc/passwd", None),
            ("blob:https://shop.test/1", None),
            ("//shop.test", None),
            ("/path", None),
            ("shop.test", None),
            ("", None),
        ] {
            assert_eq!(href(text).as_deref(), link, "{text}");
        }
    }

    #[test]
    fn links_are_escaped() {
        assert_eq!(href("https://shop.test/\"><script>\n").as_deref(), Some("https://shop.test/%22%3E%3Cscript%3E"));
    }
}
