//! Parses the path of the application's page to return to, and rejects paths that lead to another
//! host.

use std::fmt;

use super::app_origin::OWN_PATHS;

/// Maximum length, in characters: longer URLs are rejected by some proxies and browsers.
const MAX_PATH_LEN: usize = 2048;

/// A path with its query on the application's host. It is returned as received, including `%2F` and `..`, which the
/// proxy and the application interpret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocalPath(String);

impl LocalPath {
    /// Parses a path. `None` if a browser would read another host, or the text is not a URL path.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix('/')?;
        // Browsers treat a backslash as a slash, and ignore tabs and line breaks: `/\evil.example`
        // is another host.
        let leads_away =
            rest.starts_with(['/', '\\']) || !text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        (!leads_away && text.len() <= MAX_PATH_LEN).then(|| Self(text.to_owned()))
    }

    /// Parses a path. Returns `/` for an invalid path, so that the login continues.
    pub(super) fn or_root(text: &str) -> Self {
        Self::parse(text).unwrap_or_else(|| Self("/".to_owned()))
    }

    /// Returns true if the proxy forwards the path to this server.
    pub(super) fn is_own(&self) -> bool {
        self.0.strip_prefix(OWN_PATHS).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LocalPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_paths_are_unchanged() {
        for path in
            ["/", "/a", "/a/../b", "/a%2Fb?x=1&y=%20", "/a//b", "/?to=https://evil.example", "/.signpostx", "/#x"]
        {
            assert_eq!(LocalPath::parse(path).map(|path| path.0).as_deref(), Some(path));
        }
        assert!(LocalPath::parse(&format!("/{}", "a".repeat(2047))).is_some());
    }

    #[test]
    fn paths_to_other_hosts_are_rejected() {
        for path in [
            "",
            "a",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "https://evil.example/",
            "/a\\b",
            "/\t/evil.example",
            "/\n",
            "/a b",
            "/\u{7f}",
            "/é",
            " /a",
        ] {
            assert_eq!(LocalPath::parse(path), None, "{path:?}");
            assert_eq!(LocalPath::or_root(path).as_str(), "/");
        }
        assert_eq!(LocalPath::parse(&format!("/{}", "a".repeat(2048))), None);
    }

    #[test]
    fn signpost_paths_are_recognized() {
        for (path, is_own) in [
            ("/.signpost", true),
            ("/.signpost/start", true),
            ("/.signpost?x", true),
            ("/.signposts", false),
            ("/x/.signpost/", false),
            ("/", false),
        ] {
            assert_eq!(LocalPath::parse(path).unwrap().is_own(), is_own, "{path}");
        }
    }
}
