//! What the creation of a session on a page asked for, and which ways to log in follow from it.

use serde::{Deserialize, Serialize};
use signpost_auth::Mode;

use super::Session;
use crate::domains::{Domain, LoginMethod, LoginMethods};

/// What the creation of a session asked for, as far as it decides about the page after the mode has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageTerms {
    /// What it was opened for: `register` lets a person create an account where registration is closed.
    pub mode: Mode,
    /// Whether the integrator asked for number matching, which no Lightning wallet can do.
    pub confirm: bool,
    /// Where the person goes on.
    #[serde(default, skip_serializing_if = "PagePurpose::is_site")]
    pub purpose: PagePurpose,
    /// The application that the person goes on to, where one asked by the standard protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<AskingApplication>,
}

/// An application that asked for a login, as its person reads it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AskingApplication {
    /// What its operator calls it.
    pub name: Option<String>,
    /// Where the browser goes back to.
    pub host: String,
}

/// Who opened a session on a page, and gets its outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PagePurpose {
    /// The site.
    #[default]
    Site,
    /// The login host itself, for the person's account there.
    Account,
    /// The login host itself, which answers an application by the standard protocol.
    Client,
}

impl PagePurpose {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference to the field")]
    fn is_site(&self) -> bool {
        *self == Self::Site
    }
}

impl Session {
    /// Whether the login host opened it, and no site.
    #[must_use]
    pub fn is_login_hosts(&self) -> bool {
        self.page.as_ref().is_some_and(|page| page.terms.purpose != PagePurpose::Site)
    }

    /// Whether the login host opened it for an application that asked by the standard protocol.
    #[must_use]
    pub fn is_for_client(&self) -> bool {
        self.page.as_ref().is_some_and(|page| page.terms.purpose == PagePurpose::Client)
    }

    /// Whether the login host opened it for the person's account there.
    #[must_use]
    pub fn is_for_account(&self) -> bool {
        self.page.as_ref().is_some_and(|page| page.terms.purpose == PagePurpose::Account)
    }

    /// How the person may log in here: what the page offers, and what is accepted, of the methods that the server `can`.
    /// Number matching that the integrator asked for leaves out wallets that cannot do it, and without a number on the
    /// page none that must send it is accepted.
    #[must_use]
    pub fn offers(&self, domain: &Domain, can: &LoginMethods) -> Vec<LoginMethod> {
        let Some(page) = &self.page else { return Vec::new() };
        let is_offered = |method: &LoginMethod| match method {
            LoginMethod::Scan | LoginMethod::Browser => self.confirm_code.is_some(),
            LoginMethod::Lightning => !page.terms.confirm,
            LoginMethod::Passkey => true,
        };
        let methods = domain.methods();
        let is_possible = |method: &LoginMethod| methods.contains(*method) && can.contains(*method);
        LoginMethod::ALL.into_iter().filter(is_possible).filter(is_offered).collect()
    }
}

/// Whether there is a way to log in on a page at a domain, of those that this server `can`.
#[must_use]
pub fn can_log_in(domain: &Domain, terms: &PageTerms, can: &LoginMethods) -> bool {
    let methods = domain.methods();
    let is_there = |method: &LoginMethod| match method {
        LoginMethod::Scan | LoginMethod::Browser | LoginMethod::Passkey => true,
        LoginMethod::Lightning => !terms.confirm,
    };
    LoginMethod::ALL.into_iter().filter(is_there).any(|method| methods.contains(method) && can.contains(method))
}

/// Whether people log in at a domain in a way for which the page shows a number.
#[must_use]
pub fn takes_numbers(domain: &Domain) -> bool {
    let methods = domain.methods();
    methods.contains(LoginMethod::Scan) || methods.contains(LoginMethod::Browser)
}
