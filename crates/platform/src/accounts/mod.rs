//! Accounts. Functions that read or write rows have an [`Account`] argument, so that no ownership check can be omitted.

pub mod audit;
mod key_id;
pub mod keys;

use std::fmt;

use anyhow::{Context, Result};
use serde::Serialize;
use signpost_store::{Column, ColumnKind, ReadColumns, Value, Values, WriteColumns, text_columns};

use crate::limits::Caller;

pub use key_id::KeyId;

/// Live or sandbox: two equal interfaces with separate data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    /// For real users; `/v1`.
    Live,
    /// For tests; `/sandbox/v1`.
    Sandbox,
}

/// An account in an environment. Created from a valid key, or by the operator on the command line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Account {
    /// The name that the operator chose.
    pub name: String,
    /// The environment.
    pub environment: Environment,
}

/// The name of the system account, which has no valid API keys.
pub const SERVER_ACCOUNT: &str = "server";

/// The API to which a key grants access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The authentication API.
    #[default]
    Auth,
    /// The submission of an operator's own ATMs.
    Atms,
}

impl Account {
    /// Returns true if this is the server's own account.
    #[must_use]
    pub fn is_server(&self) -> bool {
        self.name == SERVER_ACCOUNT
    }
}

impl Scope {
    /// All values.
    pub const ALL: [Self; 2] = [Self::Auth, Self::Atms];

    /// Returns the name in the database and in replies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Atms => "atms",
        }
    }

    /// Parses the name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text)
    }
}

impl Environment {
    /// All values.
    pub const ALL: [Self; 2] = [Self::Live, Self::Sandbox];

    /// Returns the name in the database and in replies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Sandbox => "sandbox",
        }
    }

    /// Returns the path of the API.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Live => "/v1",
            Self::Sandbox => "/sandbox/v1",
        }
    }

    /// Returns the path of the pages.
    #[must_use]
    pub fn page_path(self) -> &'static str {
        match self {
            Self::Live => "",
            Self::Sandbox => "/sandbox",
        }
    }

    /// Parses the name.
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
