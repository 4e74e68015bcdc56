//! Calls of the API about users of hosted domains, their credentials and sign-ins.

use jiff::Timestamp;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use signpost_login::browser_sessions::SignInBrowser;
use signpost_login::domains::Domain;
use signpost_login::ids::{CredentialId, SignInId, UserId};
use signpost_login::sign_ins::{SignIn, SignInApplication, SignInPlace};
use signpost_login::users::{
    ChosenUsername, Credential, CredentialKind, EmailAddress, ExternalId, HostedUser, ReservedNames, UserDisplayName,
    UserFilter, UserGroups, UserMetadata, UserPatch, Username,
};

use super::{ApiFailure, ServiceApi};

/// A user in a reply of the API.
#[derive(Deserialize)]
struct UserDocument {
    id: UserId,
    petname: Username,
    username: String,
    external_id: Option<ExternalId>,
    email: Option<String>,
    name: Option<UserDisplayName>,
    groups: Option<UserGroups>,
    metadata: Option<UserMetadata>,
    created_at: Timestamp,
    last_login_at: Option<Timestamp>,
    credentials: Vec<CredentialDocument>,
}

/// A credential in a reply of the API.
#[derive(Deserialize)]
struct CredentialDocument {
    id: CredentialId,
    kind: CredentialKind,
    public_key: String,
    name: String,
    added_at: Timestamp,
    last_used_at: Option<Timestamp>,
}

/// A sign-in in a reply of the API.
#[derive(Deserialize)]
struct SignInDocument {
    id: SignInId,
    client_id: Option<String>,
    created_at: Timestamp,
    last_used_at: Timestamp,
    user_agent: Option<String>,
}

/// A user with all credentials.
pub(in crate::cli) type UserWithCredentials = (HostedUser, Vec<Credential>);

impl ServiceApi {
    /// Returns the users of a domain.
    pub(in crate::cli) async fn list_users(
        &self,
        domain: &Domain,
        filter: &UserFilter,
        max: u32,
    ) -> Result<Vec<UserWithCredentials>, ApiFailure> {
        let path = ["domains", domain.id.as_str(), "users"];
        let UserFilter { external_id, username, text } = filter;
        let mut query = Vec::new();
        query.extend(external_id.as_ref().map(|id| ("external_id", id.as_str())));
        query.extend(username.as_ref().map(|name| ("username", name.as_str())));
        query.extend(text.as_ref().map(|text| ("q", text.as_str())));
        let found: Vec<UserDocument> = self.list(&path, "users", &query, max).await?;
        found.into_iter().map(|document| self.read_user(document, domain, &path)).collect()
    }

    /// Returns the user with this ID or public key.
    pub(in crate::cli) async fn user(&self, domain: &Domain, user: &str) -> Result<UserWithCredentials, ApiFailure> {
        let path = ["domains", domain.id.as_str(), "users", user];
        self.read_user(self.get(&path).await?, domain, &path)
    }

    /// Changes a user.
    pub(in crate::cli) async fn patch_user(
        &self,
        domain: &Domain,
        user: &UserId,
        change: &UserPatch,
    ) -> Result<(), ApiFailure> {
        let path = ["domains", domain.id.as_str(), "users", user.as_str()];
        let _: Value = self.call(Method::PATCH, &path, &[], Some(&change_document(change))).await?;
        Ok(())
    }

    /// Deletes a user with all credentials.
    pub(in crate::cli) async fn delete_user(&self, domain: &Domain, user: &UserId) -> Result<(), ApiFailure> {
        self.call(Method::DELETE, &["domains", domain.id.as_str(), "users", user.as_str()], &[], None).await
    }

    /// Deletes a credential.
    pub(in crate::cli) async fn delete_credential(
        &self,
        domain: &Domain,
        credential: &Credential,
    ) -> Result<(), ApiFailure> {
        let user = credential.user_id.as_str();
        let path = ["domains", domain.id.as_str(), "users", user, "credentials", credential.id.as_str()];
        self.call(Method::DELETE, &path, &[], None).await
    }

    /// Returns the sign-ins of a user, newest first.
    pub(in crate::cli) async fn list_sign_ins(
        &self,
        domain: &Domain,
        user: &UserId,
        max: u32,
    ) -> Result<Vec<SignIn>, ApiFailure> {
        let path = ["domains", domain.id.as_str(), "users", user.as_str(), "sign-ins"];
        let found: Vec<SignInDocument> = self.list(&path, "sign_ins", &[], max).await?;
        Ok(found.into_iter().map(SignIn::from).collect())
    }

    /// Ends a sign-in of a user, or all sign-ins.
    pub(in crate::cli) async fn end_sign_ins(
        &self,
        domain: &Domain,
        user: &UserId,
        one: Option<&SignInId>,
    ) -> Result<(), ApiFailure> {
        let mut path = vec!["domains", domain.id.as_str(), "users", user.as_str(), "sign-ins"];
        path.extend(one.map(SignInId::as_str));
        self.call(Method::DELETE, &path, &[], None).await
    }

    fn read_user(
        &self,
        document: UserDocument,
        domain: &Domain,
        path: &[&str],
    ) -> Result<UserWithCredentials, ApiFailure> {
        let mut username = None;
        if document.username != document.petname.as_str() {
            let chosen = ChosenUsername::parse(&document.username, ReservedNames::Allowed);
            username = Some(chosen.map_err(|reason| self.not_understood(path, reason))?);
        }
        let email = document.email.map(|text| EmailAddress::parse(&text, &domain.name)).transpose();
        let user = HostedUser {
            domain_id: domain.id.clone(),
            id: document.id,
            petname: document.petname,
            created_at: document.created_at,
            passkey_handle: None,
            passkey_declined_at: None,
            name: document.name,
            groups: document.groups,
            username,
            external_id: document.external_id,
            email: email.map_err(|reason| self.not_understood(path, reason))?,
            metadata: document.metadata,
            last_login_at: document.last_login_at,
            signed_out_at: None,
        };
        let credentials = document.credentials.into_iter().map(|document| document.into_credential(&user)).collect();
        Ok((user, credentials))
    }
}

/// Returns the body of a change: the values that are set, and `null` for those that are removed.
fn change_document(change: &UserPatch) -> Value {
    let UserPatch { name, groups, username, external_id, email, metadata } = change;
    let set = [
        ("name", name.as_ref().map(|name| json!(name))),
        ("groups", groups.as_ref().map(|groups| json!(groups))),
        ("username", username.as_ref().map(|username| json!(username))),
        ("external_id", external_id.as_ref().map(|id| json!(id))),
        ("email", email.as_ref().map(|email| json!(email))),
        ("metadata", metadata.as_ref().map(|metadata| json!(metadata))),
    ];
    set.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect::<Map<_, _>>().into()
}

impl CredentialDocument {
    fn into_credential(self, user: &HostedUser) -> Credential {
        let Self { id, kind, public_key, name, added_at, last_used_at } = self;
        let (domain_id, user_id) = (user.domain_id.clone(), user.id.clone());
        Credential { domain_id, id, user_id, kind, public_key, name, added_at, last_used_at, passkey: None }
    }
}

impl From<SignInDocument> for SignIn {
    fn from(document: SignInDocument) -> Self {
        let SignInDocument { id, client_id, created_at, last_used_at, user_agent } = document;
        let mut browser = SignInBrowser::from_user_agent(user_agent.as_deref());
        // Old sign-ins have only the name of the browser.
        browser.browser_family = browser.browser_family.or(user_agent);
        let place = match client_id {
            None => SignInPlace::Browser,
            Some(client_id) => {
                SignInPlace::Application(SignInApplication { client_id, name: None, host: String::new() })
            }
        };
        Self { id, place, created_at, last_used_at, browser }
    }
}
