//! The scopes of an API key: an API, and additional scopes from the creation of the key.

use std::fmt;

use anyhow::{Context, Result};
use serde::{Serialize, Serializer};
use signpost_store::{Column, ColumnKind, ReadColumns, Value, Values, WriteColumns};

use crate::accounts::Scope;

/// The scopes of an API key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyScopes {
    /// The API that accepts the key.
    api: Scope,
    /// The scopes besides the API, in order and without duplicates.
    extra: Vec<Scope>,
}

impl KeyScopes {
    /// Creates the scopes of a key. A list without an API is for the login API.
    ///
    /// # Errors
    /// Returns the violated rule, if the list is empty or combines `atms` with another scope.
    pub fn from_list(scopes: &[Scope]) -> Result<Self, &'static str> {
        let mut extra: Vec<_> = scopes.iter().copied().filter(|scope| !scope.is_api()).collect();
        extra.sort_unstable();
        extra.dedup();
        let opens_atms = scopes.contains(&Scope::Atms);
        match scopes {
            [] => Err("must name a scope"),
            _ if opens_atms && scopes.iter().any(|scope| *scope != Scope::Atms) => {
                Err("atms cannot be combined with another scope; create two keys")
            }
            _ => Ok(Self { api: if opens_atms { Scope::Atms } else { Scope::Auth }, extra }),
        }
    }

    /// Returns the API that accepts the key.
    #[must_use]
    pub fn api(&self) -> Scope {
        self.api
    }

    /// Returns true if the key has a scope.
    #[must_use]
    pub fn includes(&self, scope: Scope) -> bool {
        self.api == scope || self.extra.contains(&scope)
    }

    fn extra_text(&self) -> Option<String> {
        let names: Vec<_> = self.extra.iter().map(|scope| scope.as_str()).collect();
        (!names.is_empty()).then(|| names.join(","))
    }
}

impl From<Scope> for KeyScopes {
    /// Returns the scopes of a key that was created with a single scope.
    fn from(scope: Scope) -> Self {
        Self::from_list(&[scope]).unwrap_or_default()
    }
}

impl fmt::Display for KeyScopes {
    /// Writes the names with commas, such as `auth,manage`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.api.as_str())?;
        self.extra.iter().try_for_each(|scope| write!(f, ",{}", scope.as_str()))
    }
}

impl Serialize for KeyScopes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl ReadColumns for KeyScopes {
    const COLUMNS: &'static [Column] =
        &[Column { name: "scope", kind: ColumnKind::Text }, Column { name: "extra_scopes", kind: ColumnKind::Text }];

    fn read(values: &mut Values) -> Result<Self> {
        let api = values.next_column()?;
        let names: Option<String> = values.next_column()?;
        let names = names.unwrap_or_default();
        let extra = names.split(',').filter(|name| !name.is_empty());
        let extra = extra.map(|name| Scope::parse(name).context("api_keys.extra_scopes: is no scope"));
        Ok(Self { api, extra: extra.collect::<Result<_>>()? })
    }
}

impl WriteColumns for KeyScopes {
    fn write(self, values: &mut Vec<Value>) {
        let extra = self.extra_text();
        values.extend([self.api.into(), extra.into()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scope_manage_includes_the_login_api() {
        for (list, text) in [
            (&[Scope::Auth][..], "auth"),
            (&[Scope::Manage], "auth,manage"),
            (&[Scope::Manage, Scope::Auth, Scope::Manage], "auth,manage"),
            (&[Scope::Atms, Scope::Atms], "atms"),
        ] {
            let scopes = KeyScopes::from_list(list).unwrap();
            assert_eq!(scopes.to_string(), text);
            assert_eq!(scopes.includes(Scope::Manage), text.contains("manage"));
            assert_eq!(scopes.includes(Scope::Auth), text.contains("auth"));
        }
    }

    #[test]
    fn contradicting_scopes_are_rejected() {
        for list in [&[][..], &[Scope::Atms, Scope::Auth], &[Scope::Manage, Scope::Atms]] {
            assert!(KeyScopes::from_list(list).is_err(), "{list:?}");
        }
    }
}
