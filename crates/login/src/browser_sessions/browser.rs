//! The browser of a sign-in, as users and integrators see it.

use jiff::SignedDuration;
use signpost_store::columns;
use signpost_text::clean_line;

use crate::user_agent::{RequestingBrowser, browser_family};

/// Time after which only the name of the browser is stored.
pub const USER_AGENT_RETENTION: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Maximum length in characters of a stored `User-Agent`.
const MAX_USER_AGENT_LEN: usize = 256;

columns! {
    /// The browser of a sign-in, according to its `User-Agent` (RFC 9110, 10.1.5). A hint for the user, not a proof.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct SignInBrowser {
        /// The `User-Agent` without control and invisible characters, up to 256 characters. Removed after
        /// [`USER_AGENT_RETENTION`].
        pub user_agent: Option<String>,
        /// The name of the browser, such as `Firefox`.
        pub browser_family: Option<String>,
    }
}

impl SignInBrowser {
    /// Creates the browser with this `User-Agent`.
    #[must_use]
    pub fn from_user_agent(text: Option<&str>) -> Self {
        let cleaned = clean_line(text.unwrap_or_default());
        let user_agent: String = cleaned.trim().chars().take(MAX_USER_AGENT_LEN).collect();
        if user_agent.is_empty() {
            return Self::default();
        }
        Self { browser_family: browser_family(&user_agent), user_agent: Some(user_agent) }
    }

    /// Returns the `User-Agent`, or the name of the browser if only that is stored.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.user_agent.as_deref().or(self.browser_family.as_deref())
    }

    /// Returns the names of the browser and of its system, if they are known.
    pub(crate) fn describe(&self) -> Option<RequestingBrowser> {
        match &self.user_agent {
            Some(text) => RequestingBrowser::from_user_agent(text),
            None => RequestingBrowser::from_family(self.browser_family.as_deref()?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_agent_is_cleaned_and_bounded() {
        let long = format!("Mozilla/5.0 {} Firefox/142.0", "x".repeat(300));
        for (text, stored, family) in [
            (" Firefox/1\u{202e}42\r\n\u{7} ", Some("Firefox/142"), Some("Firefox")),
            ("curl/8.10.1", Some("curl/8.10.1"), Some("curl")),
            (&long, Some(&long[..256]), Some("Mozilla")),
            ("\u{200b} ", None, None),
            ("", None, None),
        ] {
            let browser = SignInBrowser::from_user_agent(Some(text));
            assert_eq!(
                (browser.user_agent.as_deref(), browser.browser_family.as_deref()),
                (stored, family),
                "{text:?}"
            );
            assert_eq!(browser.text(), stored);
        }
        assert_eq!(SignInBrowser::from_user_agent(None), SignInBrowser::default());
    }

    #[test]
    fn old_sign_in_is_described_by_the_family() {
        let linux = SignInBrowser::from_user_agent(Some("Mozilla/5.0 (X11; Linux x86_64) Firefox/142.0"));
        let old = SignInBrowser { user_agent: None, ..linux.clone() };
        let known = |system| Some(RequestingBrowser::Known { browser: "Firefox", system });
        assert_eq!((linux.describe(), old.describe()), (known(Some("Linux")), known(None)));
        assert_eq!((old.text(), SignInBrowser::default().describe()), (Some("Firefox"), None));
    }
}
