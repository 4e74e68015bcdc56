//! Calls about the users of hosted domains and their credentials.

use reqwest::Method;
use serde::{Deserialize, Serialize};

use super::shared_types::{Change, Paging};
use super::{Signpost, SignpostError};

/// The calls about users of hosted domains; see [`Signpost::users`]. A user is identified by ID or
/// by any public key.
#[derive(Clone, Copy, Debug)]
pub struct Users<'a>(pub(super) &'a Signpost);

/// A user of a hosted domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostedUser {
    /// The user ID, `usr_…`.
    pub id: String,
    /// A generated name: an adjective, an animal and a number. It is unique in the domain and never
    /// reused.
    pub petname: String,
    /// The name that the website set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The groups that the website set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<String>>,
    /// When the user registered.
    pub created_at: String,
    /// The time of the last login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_login_at: Option<String>,
    /// The public key of the newest wallet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
    /// The credentials of the user, at most 10.
    pub credentials: Vec<Credential>,
}

/// A credential that a user can log in with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credential {
    /// The credential ID, `cred_…`.
    pub id: String,
    /// The kind of device that has the private key.
    pub kind: CredentialKind,
    /// The public key in hex. For a passkey, it is the DER-encoded `SubjectPublicKeyInfo`.
    pub public_key: String,
    /// The name that the user chose.
    pub name: String,
    /// When the credential was added.
    pub added_at: String,
    /// The time of the last login with this credential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<String>,
}

/// The kind of device that has the private key of a credential.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CredentialKind {
    /// A wallet that scans QR codes.
    Wallet,
    /// A Lightning wallet.
    Lightning,
    /// A passkey.
    Passkey,
    /// A kind that a later version of the service introduced.
    #[serde(untagged)]
    Other(String),
}

/// A page of users.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserList {
    /// The users, oldest first.
    pub users: Vec<HostedUser>,
    /// The cursor of the next page, or `None` on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Changes of a user. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserChange {
    /// The display name, at most 60 characters.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub name: Change<String>,
    /// The groups: 1 to 50 names without commas.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub groups: Change<Vec<String>>,
}

impl Users<'_> {
    /// Returns a page of users, oldest first.
    ///
    /// Sends `GET /domains/{id}/users`.
    ///
    /// # Errors
    /// Returns `domain_not_found` for an unknown domain.
    pub async fn list(&self, domain_id: &str, paging: &Paging) -> Result<UserList, SignpostError> {
        self.0.fetch(self.0.call(Method::GET, &["domains", domain_id, "users"])?.page(paging)).await
    }

    /// Returns a user.
    ///
    /// Sends `GET /domains/{id}/users/{user}`.
    ///
    /// # Errors
    /// Returns `not_found` for an unknown domain or user.
    pub async fn get(&self, domain_id: &str, user: &str) -> Result<HostedUser, SignpostError> {
        self.0.fetch(self.0.call(Method::GET, &["domains", domain_id, "users", user])?).await
    }

    /// Changes a user.
    ///
    /// Sends `PATCH /domains/{id}/users/{user}`.
    ///
    /// # Errors
    /// Returns `not_found` for an unknown domain or user.
    pub async fn update(&self, domain_id: &str, user: &str, change: &UserChange) -> Result<HostedUser, SignpostError> {
        self.0.fetch(self.0.call(Method::PATCH, &["domains", domain_id, "users", user])?.json(change)?).await
    }

    /// Deletes a user.
    ///
    /// Sends `DELETE /domains/{id}/users/{user}`.
    ///
    /// # Errors
    /// Returns `not_found` for an unknown domain or user.
    pub async fn delete(&self, domain_id: &str, user: &str) -> Result<(), SignpostError> {
        self.remove(&["domains", domain_id, "users", user]).await
    }

    /// Deletes all users of the domain.
    ///
    /// Sends `DELETE /domains/{id}/users`.
    ///
    /// # Errors
    /// Returns `domain_not_found` for an unknown domain.
    pub async fn delete_all(&self, domain_id: &str) -> Result<(), SignpostError> {
        self.remove(&["domains", domain_id, "users"]).await
    }

    /// Deletes a credential of a user.
    ///
    /// Sends `DELETE /domains/{id}/users/{user}/credentials/{credential}`, with the ID or the
    /// public key of the credential.
    ///
    /// # Errors
    /// Returns `last_credential` if the user has no other credential.
    pub async fn delete_credential(&self, domain_id: &str, user: &str, credential: &str) -> Result<(), SignpostError> {
        self.remove(&["domains", domain_id, "users", user, "credentials", credential]).await
    }

    async fn remove(&self, segments: &[&str]) -> Result<(), SignpostError> {
        self.0.send(self.0.call(Method::DELETE, segments)?.not_idempotent()).await?.expect_no_content()
    }
}
