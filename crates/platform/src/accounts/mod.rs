//! Accounts, which own domains, sessions and API keys. Functions that read or write rows take an
//! [`Account`] argument, so that no ownership check can be omitted.

pub mod audit;
mod key_id;
mod key_scopes;
pub mod keys;

use std::fmt;

use anyhow::{Context, Result};
use serde::Serialize;
use signpost_store::{Column, ColumnKind, ReadColumns, Value, Values, WriteColumns, text_columns};

use crate::limits::Caller;

pub use key_id::KeyId;
pub use key_scopes::KeyScopes;

/// An environment of the API. The interfaces of both are equal, and their data are separate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    /// The environment for real users, at `/v1`.
    Live,
    /// The environment for tests, at `/sandbox/v1`.
    Sandbox,
}

/// An account in an environment. It is obtained from a valid API key, or created by the operator on
/// the command line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Account {
    /// The name of the account, chosen by the operator.
    pub name: String,
    /// The environment of the API.
    pub environment: Environment,
}

/// Name of the system account, which cannot have valid API keys.
pub const SERVER_ACCOUNT: &str = "server";

/// An API that a key gives access to, or a power in it that a key has only if it was created with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The authentication API.
    #[default]
    Auth,
    /// The API for the ATMs of an ATM operator.
    Atms,
    /// In the authentication API, the members that applications trust: usernames, e-mail addresses and changes of
    /// external IDs.
    Manage,
}

impl Account {
    /// Returns `true` if this is the system account.
    #[must_use]
    pub fn is_server(&self) -> bool {
        self.name == SERVER_ACCOUNT
    }
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 3] = [Self::Auth, Self::Atms, Self::Manage];

    /// Returns the name that is stored and sent in responses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Atms => "atms",
            Self::Manage => "manage",
        }
    }

    /// Returns true if the scope is an API. Every key has exactly one of them.
    #[must_use]
    pub fn is_api(self) -> bool {
        matches!(self, Self::Auth | Self::Atms)
    }

    /// Parses a scope by its name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text)
    }
}

impl Environment {
    /// All environments.
    pub const ALL: [Self; 2] = [Self::Live, Self::Sandbox];

    /// Returns the name that is stored and sent in responses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Sandbox => "sandbox",
        }
    }

    /// Returns the path prefix of the API.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Live => "/v1",
            Self::Sandbox => "/sandbox/v1",
        }
    }

    /// Returns the path prefix of the login pages.
    #[must_use]
    pub fn page_path(self) -> &'static str {
        match self {
            Self::Live => "",
            Self::Sandbox => "/sandbox",
        }
    }

    /// Parses an environment by its name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|environment| environment.as_str() == text)
    }
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

text_columns! {
    Environment: |environment| environment.as_str(), |text| Environment::parse(text).context("is no environment");
    Scope: |scope| scope.as_str(), |text| Scope::parse(text).context("is no scope");
}

impl ReadColumns for Account {
    const COLUMNS: &'static [Column] =
        &[Column { name: "account", kind: ColumnKind::Text }, Column { name: "environment", kind: ColumnKind::Text }];

    fn read(values: &mut Values) -> Result<Self> {
        Ok(Self { name: values.next_column()?, environment: values.next_column()? })
    }
}

impl WriteColumns for Account {
    fn write(self, values: &mut Vec<Value>) {
        values.extend([self.name.into(), self.environment.into()]);
    }
}

impl From<&Account> for Caller {
    fn from(account: &Account) -> Self {
        Self::Account(format!("{}/{}", account.environment, account.name))
    }
}
