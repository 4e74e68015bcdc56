use reqwest::Method;
use serde::{Deserialize, Serialize};

use super::shapes::{Change, Paging};
use super::{Signpost, SignpostError};

/// Calls about people of hosted domains; [`Signpost::users`] has them. A user is named by id or by one of the public keys.
#[derive(Clone, Copy, Debug)]
pub struct Users<'a>(pub(super) &'a Signpost);

/// A user of a hosted domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostedUser {
    /// `usr_…`
    pub id: String,
    /// An adjective, an animal, a number; unique in the domain, and never given again.
    pub petname: String,
    /// What the site calls them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The groups that the site put them in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<String>>,
    /// When they registered.
    pub created_at: String,
    /// When they last logged in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_login_at: Option<String>,
    /// The key of the newest wallet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
    /// The keys that log them in, at most 10.
    pub credentials: Vec<Credential>,
}

/// A key that logs a user in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credential {
    /// `cred_…`
    pub id: String,
    /// What has the key.
    pub kind: CredentialKind,
    /// In hex; of a passkey its SPKI.
    pub public_key: String,
    /// What the user calls it.
    pub name: String,
    /// Since when it is there.
    pub added_at: String,
    /// When it last logged the user in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<String>,
}

/// What has a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CredentialKind {
    /// A wallet that scans.
    Wallet,
    /// A Lightning wallet.
    Lightning,
    /// A passkey.
    Passkey,
    /// A word of a later version.
    #[serde(untagged)]
    Other(String),
}

/// A page of users.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserList {
    /// The oldest first.
    pub users: Vec<HostedUser>,
    /// Where the next page begins; none on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What is to change about a user. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserChange {
    /// At most 60 characters.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub name: Change<String>,
    /// 1 to 50 names without commas.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub groups: Change<Vec<String>>,
}

impl Users<'_> {
    /// `GET /domains/{id}/users`, oldest first; `next_cursor` leads on.
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

    /// `DELETE /domains/{id}/users/{user}/credentials/{credential}`, which is named by id or public key.
    ///
    /// # Errors
    /// `last_credential` where the user has no other.
    pub async fn delete_credential(&self, domain_id: &str, user: &str, credential: &str) -> Result<(), SignpostError> {
        self.remove(&["domains", domain_id, "users", user, "credentials", credential]).await
    }

    async fn remove(&self, segments: &[&str]) -> Result<(), SignpostError> {
        self.0.send(self.0.call(Method::DELETE, segments)?.once()).await?.nothing()
    }
}
