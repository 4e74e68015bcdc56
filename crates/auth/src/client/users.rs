use reqwest::Method;
use serde::{Deserialize, Serialize};

use super::shared_types::{Change, Paging};
use super::{Signpost, SignpostError};

/// Calls about users of hosted domains; see [`Signpost::users`]. A user is identified by ID or by any public key.
#[derive(Clone, Copy, Debug)]
pub struct Users<'a>(pub(super) &'a Signpost);

/// A user of a hosted domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostedUser {
    /// `usr_…`
    pub id: String,
    /// An adjective, an animal and a number; unique in the domain and never reused.
    pub petname: String,
    /// The name given by the website.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The groups given by the website.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<String>>,
    /// Time of registration.
    pub created_at: String,
    /// Time of the last login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_login_at: Option<String>,
    /// The public key of the newest wallet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
    /// The credentials, at most 10.
    pub credentials: Vec<Credential>,
}

/// A credential of a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credential {
    /// `cred_…`
    pub id: String,
    /// The holder of the key.
    pub kind: CredentialKind,
    /// The public key in hex; the SPKI of a passkey.
    pub public_key: String,
    /// The name given by the user.
    pub name: String,
    /// Time of adding.
    pub added_at: String,
    /// Time of the last login with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<String>,
}

/// The holder of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CredentialKind {
    /// A wallet that scans.
    Wallet,
    /// A Lightning wallet.
    Lightning,
    /// A passkey.
    Passkey,
    /// A value of a later version.
    #[serde(untagged)]
    Other(String),
}

/// A page of users.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserList {
    /// The entries, oldest first.
    pub users: Vec<HostedUser>,
    /// The cursor of the next page; `None` on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Changes of a user. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserChange {
    /// The name, at most 60 characters.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub name: Change<String>,
    /// The groups, 1 to 50 names without commas.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub groups: Change<Vec<String>>,
}

impl Users<'_> {
    /// `GET /domains/{id}/users`, oldest first; `next_cursor` returns the next page.
    ///
    /// # Errors
    /// `domain_not_found`.
    pub async fn list(&self, domain_id: &str, paging: &Paging) -> Result<UserList, SignpostError> {
        self.0.fetch(self.0.call(Method::GET, &["domains", domain_id, "users"])?.page(paging)).await
    }

    /// `GET /domains/{id}/users/{user}`.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn get(&self, domain_id: &str, user: &str) -> Result<HostedUser, SignpostError> {
        self.0.fetch(self.0.call(Method::GET, &["domains", domain_id, "users", user])?).await
    }

    /// `PATCH /domains/{id}/users/{user}`.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn update(&self, domain_id: &str, user: &str, change: &UserChange) -> Result<HostedUser, SignpostError> {
        self.0.fetch(self.0.call(Method::PATCH, &["domains", domain_id, "users", user])?.json(change)?).await
    }

    /// `DELETE /domains/{id}/users/{user}`.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn delete(&self, domain_id: &str, user: &str) -> Result<(), SignpostError> {
        self.remove(&["domains", domain_id, "users", user]).await
    }

    /// `DELETE /domains/{id}/users`: all users of the domain.
    ///
    /// # Errors
    /// `domain_not_found`.
    pub async fn delete_all(&self, domain_id: &str) -> Result<(), SignpostError> {
        self.remove(&["domains", domain_id, "users"]).await
    }

    /// `DELETE /domains/{id}/users/{user}/credentials/{credential}`, with the ID or the public key of the credential.
    ///
    /// # Errors
    /// `last_credential` if the user has no other.
    pub async fn delete_credential(&self, domain_id: &str, user: &str, credential: &str) -> Result<(), SignpostError> {
        self.remove(&["domains", domain_id, "users", user, "credentials", credential]).await
    }

    async fn remove(&self, segments: &[&str]) -> Result<(), SignpostError> {
        self.0.send(self.0.call(Method::DELETE, segments)?.not_idempotent()).await?.expect_no_content()
    }
}
