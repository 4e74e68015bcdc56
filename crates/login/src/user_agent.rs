//! Detects the name and the operating system of a browser from its `User-Agent` (RFC 9110, 10.1.5).

use signpost_text::clean_line;

/// Maximum length in characters of an unknown program's name.
const MAX_UNKNOWN_CHARS: usize = 40;

/// A browser that requested a code or is signed in, according to its `User-Agent`. A hint for the user, not a proof.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RequestingBrowser {
    /// A browser, and the operating system if it is known.
    Known {
        /// The name of the browser, such as `Firefox`.
        browser: &'static str,
        /// The name of the operating system, such as `Linux`.
        system: Option<&'static str>,
    },
    /// The beginning of an unknown `User-Agent`, without invisible characters.
    Unknown(String),
}

/// Substrings of a `User-Agent`, with the names of the browsers that they identify. The first match
/// counts, because most browsers also name the browsers that they imitate.
const BROWSERS: [(&str, &str); 19] = [
    ("EdgA/", "Edge"),
    ("EdgiOS/", "Edge"),
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("OPT/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Vivaldi/", "Vivaldi"),
    ("YaBrowser/", "Yandex Browser"),
    ("UCBrowser/", "UC Browser"),
    ("DuckDuckGo/", "DuckDuckGo"),
    ("Ddg/", "DuckDuckGo"),
    ("Brave/", "Brave"),
    ("FxiOS/", "Firefox"),
    ("Firefox/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("HeadlessChrome/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Epiphany/", "GNOME Web"),
    ("Safari/", "Safari"),
];

/// Substrings of a `User-Agent`, with the names of the operating systems that they identify. The
/// first match counts: Android also sends `Linux`, and an iPhone `like Mac OS X`.
const SYSTEMS: [(&str, &str); 8] = [
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
    ("FreeBSD", "FreeBSD"),
];

impl RequestingBrowser {
    /// Parses a `User-Agent`; `None` if it has no visible text.
    pub(crate) fn from_user_agent(text: &str) -> Option<Self> {
        if let Some(browser) = find_name(&BROWSERS, text) {
            return Some(Self::Known { browser, system: find_name(&SYSTEMS, text) });
        }
        let shown = clean_line(text);
        let shown = shown.trim();
        if shown.is_empty() {
            return None;
        }
        let short: String = shown.chars().take(MAX_UNKNOWN_CHARS).collect();
        let more = if shown.chars().count() > MAX_UNKNOWN_CHARS { "…" } else { "" };
        Some(Self::Unknown(format!("{}{more}", short.trim_end())))
    }

    /// Parses the name of a browser that [`browser_family`] returned.
    pub(crate) fn from_family(name: &str) -> Option<Self> {
        match BROWSERS.iter().find(|(_, known)| *known == name) {
            Some((_, browser)) => Some(Self::Known { browser, system: None }),
            None => Self::from_user_agent(name),
        }
    }
}

/// Returns the name of the browser in a `User-Agent`, without its version and its system. `None` if the text names no
/// product.
pub(crate) fn browser_family(text: &str) -> Option<String> {
    let name = match RequestingBrowser::from_user_agent(text)? {
        RequestingBrowser::Known { browser, .. } => browser.to_owned(),
        RequestingBrowser::Unknown(text) => text.split(['/', ' ', '(', ';', '…']).next().unwrap_or_default().to_owned(),
    };
    (!name.is_empty()).then_some(name)
}

/// Returns the name of the first table entry whose substring occurs in a text.
fn find_name(table: &[(&str, &'static str)], text: &str) -> Option<&'static str> {
    table.iter().find(|(mark, _)| text.contains(mark)).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_have_familiar_names() {
        let windows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)";
        let android = "Mozilla/5.0 (Linux; Android 14; K) AppleWebKit/537.36 (KHTML, like Gecko)";
        let iphone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)";
        for (text, browser, system) in [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0", "Firefox", Some("Linux")),
            ("Mozilla/5.0 (Android 15; Mobile; rv:142.0) Gecko/142.0 Firefox/142.0", "Firefox", Some("Android")),
            (&format!("{iphone} FxiOS/142.0 Mobile/15E148 Safari/605.1.15"), "Firefox", Some("iPhone")),
            (&format!("{windows} Chrome/141.0.0.0 Safari/537.36"), "Chrome", Some("Windows")),
            (&format!("{windows} Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0"), "Edge", Some("Windows")),
            (&format!("{windows} Chrome/141.0.0.0 Safari/537.36 OPR/125.0.0.0"), "Opera", Some("Windows")),
            (&format!("{android} Chrome/141.0.0.0 Mobile Safari/537.36"), "Chrome", Some("Android")),
            (
                &format!("{android} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36"),
                "Samsung Internet",
                Some("Android"),
            ),
            (&format!("{iphone} Version/18.5 Mobile/15E148 Safari/604.1"), "Safari", Some("iPhone")),
            (&format!("{iphone} CriOS/141.0.7390.41 Mobile/15E148 Safari/604.1"), "Chrome", Some("iPhone")),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15",
                "Safari",
                Some("macOS"),
            ),
            (
                "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
                "Chrome",
                Some("ChromeOS"),
            ),
            ("Mozilla/5.0 (Plan 9) Firefox/1.0", "Firefox", None),
        ] {
            assert_eq!(
                RequestingBrowser::from_user_agent(text),
                Some(RequestingBrowser::Known { browser, system }),
                "{text}"
            );
        }
    }

    #[test]
    fn unknown_user_agent_is_cleaned_and_cut() {
        let long = "x".repeat(41);
        for (text, shown) in [
            ("curl/8.10.1", "curl/8.10.1"),
            (" a\u{202e}b\u{200b}\u{7}c ", "ab c"),
            ("<b>bold</b>", "<b>bold</b>"),
            (&long, &format!("{}…", &long[..40])),
        ] {
            assert_eq!(
                RequestingBrowser::from_user_agent(text),
                Some(RequestingBrowser::Unknown(shown.to_owned())),
                "{text}"
            );
        }
        for text in ["", "  ", "\u{202e}\u{200b}"] {
            assert_eq!(RequestingBrowser::from_user_agent(text), None);
        }
    }

    #[test]
    fn family_has_neither_version_nor_system() {
        for (text, family) in [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0", Some("Firefox")),
            ("curl/8.10.1", Some("curl")),
            ("my own program (Linux 6.1)", Some("my")),
            ("\u{202e}x\u{200b}y/1", Some("xy")),
            ("/1", None),
            ("", None),
        ] {
            assert_eq!(browser_family(text).as_deref(), family, "{text}");
        }
        let firefox = RequestingBrowser::Known { browser: "Firefox", system: None };
        assert_eq!(RequestingBrowser::from_family("Firefox"), Some(firefox));
        assert_eq!(RequestingBrowser::from_family("curl"), Some(RequestingBrowser::Unknown("curl".to_owned())));
    }
}
