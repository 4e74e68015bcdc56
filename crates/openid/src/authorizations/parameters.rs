//! Parses the parameters of a request from its query or form.

use url::form_urlencoded;

/// Maximum length of all parameters, in bytes: enough for an ID token and a long `state`.
pub const MAX_QUERY_LEN: usize = 8 * 1024;

/// Names of the known parameters. Unknown parameters are ignored (OpenID Connect Core, 3.1.2.1).
const KNOWN_PARAMETERS: [&str; 18] = [
    "client_id",
    "code_challenge",
    "code_challenge_method",
    "id_token_hint",
    "max_age",
    "nonce",
    "post_logout_redirect_uri",
    "posted_hint",
    "prompt",
    "redirect_uri",
    "registration",
    "request",
    "request_uri",
    "response_mode",
    "response_type",
    "scope",
    "state",
    "ui_locales",
];

/// The known parameters of a request.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    values: Vec<(&'static str, String)>,
}

impl Parameters {
    /// Reads a query. A parameter without a value is ignored (RFC 6749, 3.1).
    #[must_use]
    pub fn read(query: &str) -> Self {
        let mut values = Vec::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            if !value.is_empty()
                && let Some(known) = KNOWN_PARAMETERS.into_iter().find(|known| *known == name)
            {
                values.push((known, value.into_owned()));
            }
        }
        Self { values }
    }

    /// Returns the value of a parameter. `None` if it is missing or repeated.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        let mut matching = self.values.iter().filter(|(known, _)| *known == name).map(|(_, value)| value.as_str());
        let value = matching.next()?;
        if matching.next().is_some() { None } else { Some(value) }
    }

    /// Returns the value of a parameter as an owned text. `None` if it is missing or repeated.
    #[must_use]
    pub fn owned_text(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    /// Returns true if any parameter is repeated.
    #[must_use]
    pub fn is_repeated(&self) -> bool {
        self.values.iter().any(|(name, _)| self.values.iter().filter(|(other, _)| other == name).count() > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_or_empty_parameters_are_absent() {
        let read = Parameters::read("state=a%20b&nonce=&scope=x&unheard=1&unheard=2&prompt=é");
        assert_eq!(read.text("state"), Some("a b"));
        assert_eq!((read.text("nonce"), read.text("unheard"), read.text("prompt")), (None, None, Some("é")));
        assert!(!read.is_repeated());
        let twice = Parameters::read("state=a&state=a&nonce=1");
        assert_eq!((twice.text("state"), twice.text("nonce"), twice.is_repeated()), (None, Some("1"), true));
        assert!(!Parameters::read("state=&state=a").is_repeated());
    }
}
