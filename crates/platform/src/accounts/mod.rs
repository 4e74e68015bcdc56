//! On whose behalf a request acts. Whoever reads or writes rows hands an [`Account`] in: that another's data does not
//! exist is an argument, not a check that one can forget.

pub mod audit;
mod key_id;
pub mod keys;

use std::fmt;

use anyhow::{Context, Result};
use serde::Serialize;
use signpost_store::{Column, Kind, ReadColumns, Value, Values, WriteColumns, texts};

use crate::limits::Caller;

pub use key_id::KeyId;

/// Live or sandbox: the same interface over separate data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    /// For people; `/v1`.
    Live,
    /// For trying things out; `/sandbox/v1`.
    Sandbox,
}

/// An account in one environment; made only from a valid key or by the operator at the command line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Account {
    /// The operator's name for it.
    pub name: String,
    /// Which of its two sets of data.
    pub environment: Environment,
}

/// The name of the account that is the server's own. Nobody gets a key of it, and no key of it opens anything.
pub const SERVER_ACCOUNT: &str = "server";

/// What a key opens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The authentication API.
    #[default]
    Auth,
    /// The reporting of an operator's own machines.
    Atms,
}

impl Account {
    /// Whether it is the server's own.
    #[must_use]
    pub fn is_server(&self) -> bool {
        self.name == SERVER_ACCOUNT
    }
}

impl Scope {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Auth, Self::Atms];

    /// The word in the database and in replies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Atms => "atms",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text)
    }
}

impl Environment {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Live, Self::Sandbox];

    /// The word in the database and in replies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Sandbox => "sandbox",
        }
    }

    /// Where its interface begins.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Live => "/v1",
            Self::Sandbox => "/sandbox/v1",
        }
    }

    /// Where the pages for its people begin.
    #[must_use]
    pub fn page_path(self) -> &'static str {
        match self {
            Self::Live => "",
            Self::Sandbox => "/sandbox",
        }
    }

    /// Reads the word.
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

texts! {
    Environment: |environment| environment.as_str(), |text| Environment::parse(text).context("is no environment");
    Scope: |scope| scope.as_str(), |text| Scope::parse(text).context("is no scope");
}

impl ReadColumns for Account {
    const COLUMNS: &'static [Column] =
        &[Column { name: "account", kind: Kind::Text }, Column { name: "environment", kind: Kind::Text }];

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
