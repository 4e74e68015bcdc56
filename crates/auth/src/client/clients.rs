//! Calls about the OpenID Connect clients of hosted domains.

use reqwest::Method;
use secrecy::SecretString;
use serde::{Deserialize, Deserializer, Serialize};

use super::shared_types::{Change, Paging};
use super::{Signpost, SignpostError};

/// The calls about OpenID Connect clients; see [`Signpost::clients`].
#[derive(Clone, Copy, Debug)]
pub struct Clients<'a>(pub(super) &'a Signpost);

/// An application that users of a hosted domain log in to by OpenID Connect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    /// The client ID.
    pub client_id: String,
    /// The name of the application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The issuer, for the configuration of the application.
    pub issuer: String,
    /// Whether the client has no secret.
    pub public: bool,
    /// The redirect URIs.
    pub redirect_uris: Vec<String>,
    /// The URIs that browsers may be redirected to after a logout.
    pub post_logout_uris: Vec<String>,
    /// The signing algorithm of ID tokens.
    pub alg: SigningAlgorithm,
    /// The claim of the scope `email`.
    pub email: EmailClaim,
    /// Whether authorization requests must use PKCE.
    pub pkce: bool,
    /// Whether the client requires no consent.
    pub trusted: bool,
    /// The users who may log in: `usr_…`, a public key, `group:NAME`, or `*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// The method by which the client sends its secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_endpoint_auth_method: Option<ClientAuthMethod>,
    /// When the client was created.
    pub created_at: String,
    /// The time until which the previous secret is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_secret_until: Option<String>,
}

/// A client with a new secret.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClientWithSecret {
    /// The client ID.
    pub client_id: String,
    /// The name of the application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The issuer, for the configuration of the application.
    pub issuer: String,
    /// Whether the client has no secret.
    pub public: bool,
    /// The redirect URIs.
    pub redirect_uris: Vec<String>,
    /// The URIs that browsers may be redirected to after a logout.
    pub post_logout_uris: Vec<String>,
    /// The signing algorithm of ID tokens.
    pub alg: SigningAlgorithm,
    /// The claim of the scope `email`.
    pub email: EmailClaim,
    /// Whether authorization requests must use PKCE.
    pub pkce: bool,
    /// Whether the client requires no consent.
    pub trusted: bool,
    /// The users who may log in: `usr_…`, a public key, `group:NAME`, or `*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// The method by which the client sends its secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_endpoint_auth_method: Option<ClientAuthMethod>,
    /// When the client was created.
    pub created_at: String,
    /// The time until which the previous secret is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_secret_until: Option<String>,
    /// The secret, or `None` for a public client. It is omitted when serialized.
    #[serde(default, skip_serializing, deserialize_with = "secret")]
    pub client_secret: Option<SecretString>,
}

/// The signing algorithm of a client's ID tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SigningAlgorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    #[serde(rename = "RS256")]
    Rs256,
    /// ECDSA on P-256 with SHA-256.
    #[serde(rename = "ES256")]
    Es256,
    /// An algorithm that a later version of the service introduced.
    #[serde(untagged)]
    Other(String),
}

/// The claim of the scope `email`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmailClaim {
    /// A generated address that receives no mail.
    Synthetic,
    /// No address.
    None,
    /// The generated address, marked as verified.
    Verified,
    /// A value that a later version of the service introduced.
    #[serde(untagged)]
    Other(String),
}

/// The method by which a confidential client sends its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientAuthMethod {
    /// In the header `Authorization`.
    ClientSecretBasic,
    /// In the body.
    ClientSecretPost,
    /// In the header, in the body, or in both.
    Any,
    /// A method that a later version of the service introduced.
    #[serde(untagged)]
    Other(String),
}

/// A client to create. The default values of the service apply to missing members.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewClient {
    /// The redirect URIs, 1 to 20.
    pub redirect_uris: Vec<String>,
    /// `true` for a client that cannot store a secret.
    #[serde(default)]
    pub public: bool,
    /// The name of the application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The URIs that browsers may be redirected to after a logout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post_logout_uris: Option<Vec<String>>,
    /// The signing algorithm of ID tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alg: Option<SigningAlgorithm>,
    /// The claim of the scope `email`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<EmailClaim>,
    /// Whether authorization requests must use PKCE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pkce: Option<bool>,
    /// Whether the client requires no consent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted: Option<bool>,
    /// The users who may log in, by default all users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// The method by which the client sends its secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_endpoint_auth_method: Option<ClientAuthMethod>,
}

/// Changes of a client. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientChange {
    /// The name of the application.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub name: Change<String>,
    /// The redirect URIs, 1 to 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect_uris: Option<Vec<String>>,
    /// The URIs that browsers may be redirected to after a logout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post_logout_uris: Option<Vec<String>>,
    /// The signing algorithm of ID tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alg: Option<SigningAlgorithm>,
    /// The claim of the scope `email`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<EmailClaim>,
    /// Whether authorization requests must use PKCE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pkce: Option<bool>,
    /// Whether the client requires no consent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted: Option<bool>,
    /// The users who may log in.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub allow: Change<Vec<String>>,
    /// The method by which the client sends its secret.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub token_endpoint_auth_method: Change<ClientAuthMethod>,
}

/// The parameters of a secret rotation. By default, the previous secret is accepted for 24 hours
/// more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientRotation {
    /// Whether the previous secret expires immediately.
    #[serde(default)]
    pub now: bool,
}

/// A page of clients.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientList {
    /// The clients, oldest first.
    pub clients: Vec<Client>,
    /// The cursor of the next page, or `None` on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Clients<'_> {
    /// Creates a client. Only this response contains its secret.
    ///
    /// Sends `POST /domains/{id}/clients`.
    ///
    /// # Errors
    /// Returns `domain_not_hosted` for a domain without the login page, or `too_many_clients`.
    pub async fn create(&self, domain_id: &str, new: &NewClient) -> Result<ClientWithSecret, SignpostError> {
        let call = self.0.call(Method::POST, &["domains", domain_id, "clients"])?.json(new)?;
        self.0.fetch(call.not_idempotent()).await
    }

    /// Returns a page of clients, oldest first.
    ///
    /// Sends `GET /domains/{id}/clients`.
    ///
    /// # Errors
    /// Returns `domain_not_found` for an unknown domain.
    pub async fn list(&self, domain_id: &str, paging: &Paging) -> Result<ClientList, SignpostError> {
        self.0.fetch(self.0.call(Method::GET, &["domains", domain_id, "clients"])?.page(paging)).await
    }

    /// Returns a client.
    ///
    /// Sends `GET /domains/{id}/clients/{client}`.
    ///
    /// # Errors
    /// Returns `client_not_found` for an unknown client.
    pub async fn get(&self, domain_id: &str, client: &str) -> Result<Client, SignpostError> {
        self.0.fetch(self.0.call(Method::GET, &["domains", domain_id, "clients", client])?).await
    }

    /// Changes a client.
    ///
    /// Sends `PATCH /domains/{id}/clients/{client}`.
    ///
    /// # Errors
    /// Returns `client_not_found` for an unknown client.
    pub async fn update(&self, domain_id: &str, client: &str, change: &ClientChange) -> Result<Client, SignpostError> {
        self.0.fetch(self.0.call(Method::PATCH, &["domains", domain_id, "clients", client])?.json(change)?).await
    }

    /// Replaces the secret of a client. Only this response contains the new secret.
    ///
    /// Sends `POST /domains/{id}/clients/{client}/rotate`.
    ///
    /// # Errors
    /// Returns `client_not_found` for an unknown client, or `client_is_public` for a public client.
    pub async fn rotate_secret(
        &self,
        domain_id: &str,
        client: &str,
        rotation: ClientRotation,
    ) -> Result<ClientWithSecret, SignpostError> {
        let call = self.0.call(Method::POST, &["domains", domain_id, "clients", client, "rotate"])?;
        self.0.fetch(call.json(&rotation)?.not_idempotent()).await
    }

    /// Deletes a client and revokes its tokens.
    ///
    /// Sends `DELETE /domains/{id}/clients/{client}`.
    ///
    /// # Errors
    /// Returns `client_not_found` for an unknown client.
    pub async fn delete(&self, domain_id: &str, client: &str) -> Result<(), SignpostError> {
        let call = self.0.call(Method::DELETE, &["domains", domain_id, "clients", client])?.not_idempotent();
        self.0.send(call).await?.expect_no_content()
    }
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SecretString>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(SecretString::from))
}
