//! The terms of a session on a page, fixed at its creation, and the login methods that follow from
//! them.

use serde::{Deserialize, Serialize};
use signpost_auth::Mode;

use super::Session;
use crate::domains::{Domain, LoginMethod, LoginMethods};
use crate::ids::UserId;

/// The terms of a session on a page: creation parameters that do not change with the mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageTerms {
    /// The mode at the creation. `register` allows the user to create an account if registration is closed.
    pub mode: Mode,
    /// Whether the integrator requires number matching, which Lightning wallets do not support.
    pub confirm: bool,
    /// The purpose of the login.
    #[serde(default, skip_serializing_if = "PagePurpose::is_site")]
    pub purpose: PagePurpose,
    /// The OpenID Connect client that requested the login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<RequestingApplication>,
    /// The only user whose keys complete the login. The page does not show this user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserId>,
    /// Whether the link adds the first key of a user: it completes only while the user has no credential.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first_key: bool,
}

/// An OpenID Connect client that requested a login, as the page shows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RequestingApplication {
    /// The name of the client.
    pub name: Option<String>,
    /// The host of the redirect URI.
    pub host: String,
}

/// The party that receives the outcome of a session on a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PagePurpose {
    /// The site that created the session.
    #[default]
    Site,
    /// The account pages of the login host.
    Account,
    /// The login host, for an OpenID Connect client.
    Client,
}

impl PagePurpose {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference to the field")]
    fn is_site(&self) -> bool {
        *self == Self::Site
    }
}

impl Session {
    /// Returns true if the login host created the session, and not a site.
    #[must_use]
    pub fn belongs_to_login_host(&self) -> bool {
        self.page.as_ref().is_some_and(|page| page.terms.purpose != PagePurpose::Site)
    }

    /// Returns true if the login host created the session for an OpenID Connect client.
    #[must_use]
    pub fn is_for_client(&self) -> bool {
        self.page.as_ref().is_some_and(|page| page.terms.purpose == PagePurpose::Client)
    }

    /// Returns true if the login host created the session for its account pages.
    #[must_use]
    pub fn is_for_account(&self) -> bool {
        self.page.as_ref().is_some_and(|page| page.terms.purpose == PagePurpose::Account)
    }

    /// Returns the only user whose keys complete the login, if the site named one.
    #[must_use]
    pub fn required_user(&self) -> Option<&UserId> {
        self.page.as_ref()?.terms.user.as_ref()
    }

    /// Returns true if a key of this user, or of no user, may complete the session as far as `user` of the creation
    /// request is concerned.
    #[must_use]
    pub fn accepts_user(&self, user: Option<&UserId>) -> bool {
        self.required_user().is_none_or(|required| user == Some(required))
    }

    /// Returns the login methods that the page offers and accepts, of those that the server supports. Without a number
    /// on the page, no method that needs it is accepted.
    #[must_use]
    pub fn offers(&self, domain: &Domain, supported: &LoginMethods) -> Vec<LoginMethod> {
        let Some(page) = &self.page else { return Vec::new() };
        let mut methods = available_methods(domain, &page.terms, supported);
        if self.confirm_code.is_none() {
            methods.retain(|method| !matches!(method, LoginMethod::Scan | LoginMethod::Browser));
        }
        methods
    }
}

/// Returns true if a page at a domain has a login method that the server supports.
#[must_use]
pub fn can_log_in(domain: &Domain, terms: &PageTerms, supported: &LoginMethods) -> bool {
    !available_methods(domain, terms, supported).is_empty()
}

/// Returns the methods that the domain and the server support, without Lightning if number matching is required.
fn available_methods(domain: &Domain, terms: &PageTerms, supported: &LoginMethods) -> Vec<LoginMethod> {
    let mut methods = LoginMethod::ALL.to_vec();
    let enabled = domain.methods();
    methods.retain(|method| enabled.contains(*method) && supported.contains(*method));
    if terms.confirm {
        methods.retain(|method| *method != LoginMethod::Lightning);
    }
    methods
}

/// Returns true if the domain has a login method with number matching.
#[must_use]
pub fn supports_number_matching(domain: &Domain) -> bool {
    let methods = domain.methods();
    methods.contains(LoginMethod::Scan) || methods.contains(LoginMethod::Browser)
}
