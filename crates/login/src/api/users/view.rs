//! The JSON form of a user in replies to the domain's integrator.

use jiff::Timestamp;
use serde::Serialize;

use crate::ids::{CredentialId, UserId};
use crate::users::{
    Credential, CredentialKind, EmailAddress, ExternalId, HostedUser, UserDisplayName, UserGroups, UserMetadata,
    Username,
};

/// A user in replies to the domain's integrator.
#[derive(Serialize)]
pub struct UserView {
    id: UserId,
    petname: Username,
    /// The username that was set, or else the petname.
    username: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    external_id: Option<ExternalId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<EmailAddress>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<UserDisplayName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<UserGroups>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<UserMetadata>,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_login_at: Option<Timestamp>,
    /// The public key of the newest wallet.
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<String>,
    credentials: Vec<CredentialView>,
}

/// A credential of a user in replies.
#[derive(Serialize)]
struct CredentialView {
    id: CredentialId,
    kind: CredentialKind,
    public_key: String,
    name: String,
    added_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used_at: Option<Timestamp>,
}

impl UserView {
    /// Creates the view of a user with all credentials.
    #[must_use]
    pub fn new(user: HostedUser, credentials: Vec<Credential>) -> Self {
        let username = user.username().to_owned();
        let HostedUser { id, petname, created_at, last_login_at, name, groups, external_id, email, metadata, .. } =
            user;
        let newest = credentials.iter().rfind(|credential| credential.kind == CredentialKind::Wallet);
        let public_key = newest.map(|credential| credential.public_key.clone());
        let credentials = credentials.into_iter().map(CredentialView::from).collect();
        Self {
            id,
            petname,
            username,
            external_id,
            email,
            name,
            groups,
            metadata,
            created_at,
            last_login_at,
            public_key,
            credentials,
        }
    }
}

impl From<Credential> for CredentialView {
    fn from(credential: Credential) -> Self {
        let Credential { id, kind, public_key, name, added_at, last_used_at, .. } = credential;
        Self { id, kind, public_key, name, added_at, last_used_at }
    }
}
