//! Reads a page: its links and forms, and the reason of a failed login.

use url::Url;

use super::{LogInError, failed};

/// Maximum length of a page's text in an error, in characters.
const MAX_TEXT: usize = 300;

/// A response, as a browser receives it.
#[derive(Debug)]
pub(super) struct ShownPage {
    pub(super) status: u16,
    /// The absolute URL of a redirect.
    pub(super) location: Option<Url>,
    pub(super) html: String,
}

/// A login page in the browser.
#[derive(Debug)]
pub(super) struct LoginPage {
    pub(super) url: Url,
    /// The ID of the session.
    pub(super) session: String,
    pub(super) shown: ShownPage,
}

/// Returns the session ID in the URL of a login page. `None` for other URLs.
///
/// # Errors
/// Returns an error for a login page of the live environment.
pub(super) fn session_of(url: &Url) -> Result<Option<String>, LogInError> {
    let Some((before, session)) = url.path().rsplit_once("/login/") else { return Ok(None) };
    if !session.starts_with("sess_") || !session.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Ok(None);
    }
    if !before.ends_with("/sandbox") {
        let advice = "give it the key and the base URL of the sandbox";
        return Err(failed(format!("the site uses the live environment: {advice}")));
    }
    Ok(Some(session.to_owned()))
}

impl LoginPage {
    /// Resolves a URL in the page.
    pub(super) fn resolve(&self, target: &str) -> Result<Url, LogInError> {
        self.url.join(target).map_err(|error| failed(format!("the login page has an invalid link: {error}")))
    }
}

impl ShownPage {
    /// Returns the reason of a failed login, in the URL of the redirect.
    pub(super) fn login_error(&self) -> Option<String> {
        let mut pairs = self.location.as_ref()?.query_pairs();
        pairs.find(|(name, _)| name == "login_error").map(|(_, reason)| reason.into_owned())
    }

    /// Returns an attribute of the first tag that begins with `tag`.
    pub(super) fn attribute(&self, tag: &str, name: &str) -> Option<String> {
        attribute(self.html.split_once(tag)?.1, name)
    }

    /// Returns the action and the token of a form.
    pub(super) fn form(&self, id: &str) -> Option<(String, String)> {
        let form = self.html.split_once(&format!("<form id=\"{id}\""))?.1.split_once("</form>")?.0;
        let token = form.split_once("name=\"token\"")?.1;
        Some((attribute(form, "action")?, attribute(token, "value")?))
    }

    /// Returns the start of the text of the page's main part, for errors.
    pub(super) fn text(&self) -> String {
        let main = self.html.split_once("<main").map_or(self.html.as_str(), |(_, main)| main);
        let main = main.split("</main>").next().unwrap_or_default();
        // The first part is the rest of the tag.
        let parts = main.split('<').map(|part| part.split_once('>').map_or("", |(_, text)| text));
        let words: Vec<&str> = parts.flat_map(str::split_whitespace).collect();
        words.join(" ").chars().take(MAX_TEXT).collect()
    }
}

/// Returns an attribute of the tag that `rest` is in.
fn attribute(rest: &str, name: &str) -> Option<String> {
    let value = rest.split('>').next()?.split_once(&format!(" {name}=\""))?.1.split('"').next()?;
    Some(value.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<main id=\"main\" data-state=\"waiting\"><p>Log <b>in</b></p>\
        <form id=\"cancel\" method=\"post\" action=\"/a?b=1&amp;c=2\"><input type=\"hidden\" name=\"token\" value=\"t\">\
        <button>Cancel</button></form><a id=\"back\" class=\"btn\" href=\"/home\">Back</a></main><p>Foot</p>";

    fn shown(location: Option<&str>) -> ShownPage {
        ShownPage { status: 200, location: location.map(|url| url.parse().unwrap()), html: PAGE.to_owned() }
    }

    #[test]
    fn forms_links_and_texts_are_read() {
        let page = shown(None);
        assert_eq!(page.form("cancel"), Some(("/a?b=1&c=2".to_owned(), "t".to_owned())));
        assert_eq!(page.form("renew"), None);
        assert_eq!(page.attribute("<a id=\"back\"", "href").as_deref(), Some("/home"));
        assert_eq!(page.attribute("<a id=\"back\"", "title"), None);
        assert_eq!(page.text(), "Log in Cancel Back");
    }

    #[test]
    fn login_errors_are_in_the_redirect() {
        assert_eq!(shown(Some("http://a.test/?x=1&login_error=expired")).login_error().as_deref(), Some("expired"));
        assert_eq!(shown(Some("http://a.test/login_error=expired")).login_error(), None);
        assert_eq!(shown(None).login_error(), None);
    }

    #[test]
    fn only_sandbox_pages_are_opened() {
        let session = |url: &str| session_of(&url.parse().unwrap());
        assert_eq!(session("http://a.test/x/sandbox/login/sess_01").unwrap().as_deref(), Some("sess_01"));
        assert!(session("http://a.test/login/sess_01").is_err());
        for other in ["http://a.test/signpost/login", "http://a.test/login/now", "http://a.test/login/sess_1/state"] {
            assert_eq!(session(other).unwrap(), None, "{other}");
        }
    }
}
