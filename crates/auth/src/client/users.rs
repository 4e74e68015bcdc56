//! Calls about the users of hosted domains and their credentials.

use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::sessions::uuid;
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
    /// changed or reused.
    pub petname: String,
    /// The username that the website set, by default the petname. It is unique in the domain.
    pub username: String,
    /// The ID of the user in the website's own database, if the website set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// The e-mail address that the website set, in lower case. The service does not verify it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Further data that the website set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
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

/// A search for users. Its members are combined; the default finds all users.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserSearch {
    /// The ID of the user in the website's own database.
    pub external_id: Option<String>,
    /// The username.
    pub username: Option<String>,
    /// A part of the username, petname, name, e-mail address or external ID, or a whole user ID.
    pub q: Option<String>,
    /// The page.
    pub paging: Paging,
}

/// Changes of a user. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserChange {
    /// The ID of the user in the website's own database. Changing or removing an existing one
    /// requires an API key with the scope `manage`.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub external_id: Change<String>,
    /// The username. [`Change::Remove`] restores the petname. It requires an API key with the scope
    /// `manage`.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub username: Change<String>,
    /// The e-mail address. It requires an API key with the scope `manage`.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub email: Change<String>,
    /// Further data of the website, which replaces all earlier data.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub metadata: Change<Map<String, Value>>,
    /// The display name, at most 60 characters.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub name: Change<String>,
    /// The groups: 1 to 50 names without commas.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub groups: Change<Vec<String>>,
}

/// A user to create without credentials. The user gets the first credential through a link session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewUser {
    /// The ID of the user in the website's own database: unique in the domain, at most 128
    /// characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// The username: 2 to 32 characters, never used by another user. It requires an API key with
    /// the scope `manage`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// The e-mail address. It requires an API key with the scope `manage`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The groups: 1 to 50 names without commas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<String>>,
    /// Further data of the website: at most 4 kB of JSON, with a depth of at most 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

/// A place where a user is signed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignIn {
    /// The ID, `sgn_…`.
    pub id: String,
    /// The kind of place.
    pub kind: SignInKind,
    /// The client ID of the application, for [`SignInKind::Grant`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// When the user signed in.
    pub created_at: String,
    /// The time of the last use.
    pub last_used_at: String,
    /// The `User-Agent` header of the browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
}

/// The kind of place where a user is signed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignInKind {
    /// A browser at the login page.
    Browser,
    /// An application with tokens.
    Grant,
    /// A kind that a later version of the service introduced.
    #[serde(untagged)]
    Other(String),
}

/// A page of sign-ins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInList {
    /// The sign-ins.
    pub sign_ins: Vec<SignIn>,
    /// The cursor of the next page, or `None` on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Users<'_> {
    /// Creates a user without credentials.
    ///
    /// Sends `POST /domains/{id}/users` with a random `Idempotency-Key`, so that a retry does not
    /// create another user.
    ///
    /// # Errors
    /// Returns `external_id_exists`, with the ID of the user in `details.id`, or `username_taken`
    /// or `email_taken` if another user has the value.
    pub async fn create(&self, domain_id: &str, new: &NewUser) -> Result<HostedUser, SignpostError> {
        self.create_with_idempotency_key(&uuid(self.0.runtime().random()), domain_id, new).await
    }

    /// Creates a user without credentials, unless a call with this idempotency key already did.
    ///
    /// Sends `POST /domains/{id}/users` with the caller's `Idempotency-Key`, 1 to 255 printable
    /// characters. Another call with this key within 24 hours returns the existing user.
    ///
    /// # Errors
    /// Returns the errors of [`Users::create`], or `idempotency_key_reused` if another request used
    /// this key.
    pub async fn create_with_idempotency_key(
        &self,
        idempotency_key: &str,
        domain_id: &str,
        new: &NewUser,
    ) -> Result<HostedUser, SignpostError> {
        let call = self.0.call(Method::POST, &["domains", domain_id, "users"])?.json(new)?;
        self.0.fetch(call.with_idempotency_key(idempotency_key.to_owned())).await
    }

    /// Returns a page of users, oldest first.
    ///
    /// Sends `GET /domains/{id}/users`.
    ///
    /// # Errors
    /// Returns `domain_not_found` for an unknown domain.
    pub async fn list(&self, domain_id: &str, paging: &Paging) -> Result<UserList, SignpostError> {
        self.0.fetch(self.0.call(Method::GET, &["domains", domain_id, "users"])?.page(paging)).await
    }

    /// Returns a page of the users that match, oldest first. A page may be empty although there is a
    /// next page.
    ///
    /// Sends `GET /domains/{id}/users`.
    ///
    /// # Errors
    /// Returns `domain_not_found` for an unknown domain.
    pub async fn search(&self, domain_id: &str, search: &UserSearch) -> Result<UserList, SignpostError> {
        let UserSearch { external_id, username, q, paging } = search;
        let call = self.0.call(Method::GET, &["domains", domain_id, "users"])?;
        let call = call.query("external_id", external_id.as_ref()).query("username", username.as_ref());
        self.0.fetch(call.query("q", q.as_ref()).page(paging)).await
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

    /// Returns a page of the browsers and applications where the user is signed in.
    ///
    /// Sends `GET /domains/{id}/users/{user}/sign-ins`.
    ///
    /// # Errors
    /// Returns `not_found` for an unknown domain or user.
    pub async fn sign_ins(&self, domain_id: &str, user: &str, paging: &Paging) -> Result<SignInList, SignpostError> {
        self.0.fetch(self.0.call(Method::GET, &["domains", domain_id, "users", user, "sign-ins"])?.page(paging)).await
    }

    /// Ends a sign-in.
    ///
    /// Sends `DELETE /domains/{id}/users/{user}/sign-ins/{sign_in}`.
    ///
    /// # Errors
    /// Returns `not_found` for an unknown domain, user or sign-in.
    pub async fn end_sign_in(&self, domain_id: &str, user: &str, sign_in: &str) -> Result<(), SignpostError> {
        self.remove(&["domains", domain_id, "users", user, "sign-ins", sign_in]).await
    }

    /// Ends all sign-ins of the user.
    ///
    /// Sends `DELETE /domains/{id}/users/{user}/sign-ins`.
    ///
    /// # Errors
    /// Returns `not_found` for an unknown domain or user.
    pub async fn end_sign_ins(&self, domain_id: &str, user: &str) -> Result<(), SignpostError> {
        self.remove(&["domains", domain_id, "users", user, "sign-ins"]).await
    }

    async fn remove(&self, segments: &[&str]) -> Result<(), SignpostError> {
        self.0.send(self.0.call(Method::DELETE, segments)?.not_idempotent()).await?.expect_no_content()
    }
}
