//! Builds the URLs of authorization responses, for redirects to the client.

use url::{Url, form_urlencoded};

use super::error::AuthorizationError;

/// The target of an authorization response, with the parameters of every response.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are those of the specification")]
pub struct RedirectTarget {
    /// A registered redirect URI of the client.
    pub redirect_uri: String,
    pub state: Option<String>,
    /// The value of `iss` (RFC 9207).
    pub issuer: String,
}

impl RedirectTarget {
    /// Returns the URL with an authorization code.
    #[must_use]
    pub fn with_code(&self, code: &str) -> String {
        self.with(&[("code", code)])
    }

    /// Returns the URL with an error.
    #[must_use]
    pub fn with_error(&self, error: AuthorizationError) -> String {
        self.with(&[("error", error.code.as_str()), ("error_description", error.description)])
    }

    fn with(&self, parameters: &[(&str, &str)]) -> String {
        let state = self.state.as_deref().map(|state| ("state", state));
        let all = parameters.iter().copied().chain(state).chain([("iss", self.issuer.as_str())]);
        append_query(&self.redirect_uri, all)
    }
}

/// Appends parameters to the query of a URL and leaves the existing query unchanged. Spaces become `%20`, which all
/// parsers accept.
#[must_use]
pub fn append_query<'a>(address: &str, pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(pairs);
    // A plus sign in a value is encoded as %2B.
    let query = query.finish().replace('+', "%20");
    let separator = if query.is_empty() {
        ""
    } else if address.contains('?') {
        "&"
    } else {
        "?"
    };
    format!("{address}{separator}{query}")
}

/// Returns the host of a URL for display, or its scheme if that is private-use.
#[must_use]
pub fn host_of(address: &str) -> String {
    let Ok(url) = Url::parse(address) else { return String::new() };
    match (url.host_str(), url.port()) {
        (Some(host), Some(port)) if !host.is_empty() => format!("{host}:{port}"),
        (Some(host), None) if !host.is_empty() => host.to_owned(),
        _ => url.scheme().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authorizations::error::AuthorizationErrorCode;

    fn address(redirect_uri: &str, state: Option<&str>) -> RedirectTarget {
        let (redirect_uri, state) = (redirect_uri.to_owned(), state.map(str::to_owned));
        RedirectTarget { redirect_uri, state, issuer: "https://login.test/dom_1".to_owned() }
    }

    #[test]
    fn response_has_issuer_and_state() {
        let iss = "iss=https%3A%2F%2Flogin.test%2Fdom_1";
        let cases = [
            ("https://shop.test/cb", "https://shop.test/cb?code=c&state=a%2Bb%20%26%C3%A9&"),
            ("https://shop.test/cb?a=b+c%20d", "https://shop.test/cb?a=b+c%20d&code=c&state=a%2Bb%20%26%C3%A9&"),
            ("com.example.app:/cb", "com.example.app:/cb?code=c&state=a%2Bb%20%26%C3%A9&"),
            ("http://127.0.0.1:1234", "http://127.0.0.1:1234?code=c&state=a%2Bb%20%26%C3%A9&"),
        ];
        for (redirect_uri, expected) in cases {
            assert_eq!(address(redirect_uri, Some("a+b &é")).with_code("c"), format!("{expected}{iss}"));
        }
        let refused = address("https://shop.test/cb", None)
            .with_error(AuthorizationErrorCode::LoginRequired.with_description("a b"));
        assert_eq!(refused, format!("https://shop.test/cb?error=login_required&error_description=a%20b&{iss}"));
    }
}
