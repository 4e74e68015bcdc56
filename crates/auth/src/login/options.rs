//! The settings of a site that uses the login page.

use std::fmt;

use axum::http::request::Parts;
use secrecy::{ExposeSecret, SecretString};

use super::endpoint::LoginEndpoint;
use super::state::ended_states;
use crate::client::SignpostError;
use crate::receiver::{EventRules, SiteOrigin, cookies, is_local_path};
use crate::webhook::WebhookSecret;

/// Minimum length of a cookie secret in characters.
const MIN_COOKIE_SECRET_CHARS: usize = 32;

/// The settings of a site whose users log in on the service's login page.
#[derive(Clone)]
pub struct LoginOptions {
    pub(super) domain: String,
    pub(super) site: SiteOrigin,
    pub(super) path: String,
    pub(super) failed_path: String,
    pub(super) events: EventRules,
    pub(super) has_startup_check: bool,
    cookie_secret: SecretString,
}

impl LoginOptions {
    /// Creates the settings of a site. `domain` is the registered domain, and `site` is the origin
    /// of the site, such as `https://shop.example`. `cookie_secret` signs the cookies of pending
    /// logins. It has at least 32 characters and must be equal on all servers of the site.
    ///
    /// # Errors
    /// Returns `invalid_argument` if an argument is invalid.
    pub fn new(
        domain: impl Into<String>,
        site: &str,
        cookie_secret: impl Into<SecretString>,
    ) -> Result<Self, SignpostError> {
        let site =
            SiteOrigin::parse(site).map_err(|error| SignpostError::invalid_argument(format!("site: {error}")))?;
        let cookie_secret = cookie_secret.into();
        if cookie_secret.expose_secret().chars().count() < MIN_COOKIE_SECRET_CHARS {
            return Err(SignpostError::invalid_argument("a cookie secret has at least 32 characters, drawn at random"));
        }
        let domain = domain.into();
        if domain.is_empty() {
            return Err(SignpostError::invalid_argument(
                "the domain is missing: the hosted domain that users log in to",
            ));
        }
        Ok(Self {
            domain,
            site,
            path: "/signpost".to_owned(),
            failed_path: "/".to_owned(),
            events: EventRules { secrets: Vec::new(), allowed_sources: Vec::new() },
            has_startup_check: true,
            cookie_secret,
        })
    }

    /// Sets the path of the endpoints, by default `/signpost`. The empty text is the root.
    ///
    /// # Errors
    /// Returns `invalid_argument` if the path does not start with a slash, if it ends with a slash,
    /// or if the failure page is below it.
    pub fn at_path(self, path: &str) -> Result<Self, SignpostError> {
        let is_plain = path.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.' | '~'));
        let is_path = is_local_path(path) && !path.ends_with('/') && is_plain;
        if !path.is_empty() && !is_path {
            return Err(SignpostError::invalid_argument(
                "the path begins with a slash and ends in none, as /signpost does",
            ));
        }
        Self { path: path.to_owned(), ..self }.with_separate_failure_path()
    }

    /// Sets the page that users are redirected to when a login fails, by default `/`. It must be
    /// public. Its query contains `login_error`, a [`super::LoginFailure`], and `next`, the path
    /// where the user wanted to continue, unless it is `/`.
    ///
    /// # Errors
    /// Returns `invalid_argument` if it is not a path of the site, or if it is below the path of the
    /// endpoints, because a failed login would start the next login.
    pub fn with_failure_path(self, path: &str) -> Result<Self, SignpostError> {
        if !is_local_path(path) || path.contains('#') {
            return Err(SignpostError::invalid_argument(
                "people who were not logged in go to a path of the site, such as /, without a fragment",
            ));
        }
        Self { failed_path: path.to_owned(), ..self }.with_separate_failure_path()
    }

    /// Omits the check of the API key, the base URL and the domain when the router is created.
    #[must_use]
    pub fn without_startup_check(self) -> Self {
        Self { has_startup_check: false, ..self }
    }

    /// Sets the webhook secret of the domain, or several secrets during a rotation. Without a
    /// secret, the endpoint `/events` does not exist.
    #[must_use]
    pub fn with_webhook_secrets(mut self, secrets: impl IntoIterator<Item = WebhookSecret>) -> Self {
        self.events.secrets = secrets.into_iter().collect();
        self
    }

    /// Returns the `Set-Cookie` values that cancel the pending logins and links of a browser, for a
    /// logout at a path of the site's own.
    #[must_use]
    pub fn cancel_pending(&self, request: &Parts) -> Vec<String> {
        ended_states(&cookies(&request.headers), &self.site)
    }

    fn with_separate_failure_path(self) -> Result<Self, SignpostError> {
        let page = self.failed_path.split('?').next().unwrap_or_default();
        let is_endpoint = match page.strip_prefix(self.path.as_str()) {
            Some(rest) if self.path.is_empty() => {
                rest == "/events" || LoginEndpoint::ALL.iter().any(|at| at.path() == rest)
            }
            Some(rest) => rest.is_empty() || rest.starts_with('/'),
            None => false,
        };
        if !is_endpoint {
            return Ok(self);
        }
        Err(SignpostError::invalid_argument(format!(
            "the page for failed logins must not be below {}/, because a failed login would start the next",
            self.path
        )))
    }

    pub(super) fn cookie_key(&self) -> &[u8] {
        self.cookie_secret.expose_secret().as_bytes()
    }
}

impl fmt::Debug for LoginOptions {
    /// Omits the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { domain, site, path, .. } = self;
        f.debug_struct("LoginOptions")
            .field("domain", domain)
            .field("site", site)
            .field("path", path)
            .finish_non_exhaustive()
    }
}
