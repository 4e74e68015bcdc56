//! Calls of the API about OpenID Connect clients.

use jiff::Timestamp;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use signpost_login::ids::DomainId;
use signpost_openid::clients::{
    AllowList, Client, ClientAuthMethod, ClientName, ClientPatch, ClientSettings, EmailClaim, RedirectUris,
};
use signpost_openid::ids::ClientId;
use signpost_openid::jose::SigningAlgorithm;

use super::{ApiFailure, ServiceApi};

/// A client in a reply of the API.
#[derive(Deserialize)]
struct ClientDocument {
    client_id: ClientId,
    name: Option<ClientName>,
    issuer: String,
    public: bool,
    redirect_uris: RedirectUris,
    post_logout_uris: RedirectUris,
    alg: SigningAlgorithm,
    email: EmailClaim,
    pkce: bool,
    trusted: bool,
    allow: Option<AllowList>,
    token_endpoint_auth_method: Option<ClientAuthMethod>,
    created_at: Timestamp,
    previous_secret_until: Option<Timestamp>,
    /// The secret, only after a registration and a rotation.
    client_secret: Option<String>,
}

/// A client with its issuer, and with its secret if that is new.
pub(in crate::cli) struct ClientOfApi {
    pub(in crate::cli) client: Client,
    pub(in crate::cli) issuer: String,
    pub(in crate::cli) secret: Option<String>,
}

impl ServiceApi {
    /// Returns the clients of a domain.
    pub(in crate::cli) async fn list_clients(
        &self,
        domain: &DomainId,
        max: u32,
    ) -> Result<Vec<ClientOfApi>, ApiFailure> {
        let path = ["domains", domain.as_str(), "clients"];
        let found: Vec<ClientDocument> = self.list(&path, "clients", &[], max).await?;
        Ok(found.into_iter().map(|document| document.into_client(domain)).collect())
    }

    /// Returns a client of a domain.
    pub(in crate::cli) async fn client(&self, domain: &DomainId, id: &ClientId) -> Result<ClientOfApi, ApiFailure> {
        let document: ClientDocument = self.get(&["domains", domain.as_str(), "clients", id.as_str()]).await?;
        Ok(document.into_client(domain))
    }

    /// Registers a client.
    pub(in crate::cli) async fn create_client(
        &self,
        domain: &DomainId,
        settings: &ClientSettings,
    ) -> Result<ClientOfApi, ApiFailure> {
        let path = ["domains", domain.as_str(), "clients"];
        let document: ClientDocument = self.call(Method::POST, &path, &[], Some(&creation(settings))).await?;
        Ok(document.into_client(domain))
    }

    /// Changes a client.
    pub(in crate::cli) async fn patch_client(
        &self,
        domain: &DomainId,
        id: &ClientId,
        change: &ClientPatch,
    ) -> Result<ClientOfApi, ApiFailure> {
        let path = ["domains", domain.as_str(), "clients", id.as_str()];
        let document: ClientDocument = self.call(Method::PATCH, &path, &[], Some(&change.to_details())).await?;
        Ok(document.into_client(domain))
    }

    /// Replaces the secret of a client. The previous secret becomes invalid at once if `now` is set.
    pub(in crate::cli) async fn rotate_client_secret(
        &self,
        domain: &DomainId,
        id: &ClientId,
        now: bool,
    ) -> Result<ClientOfApi, ApiFailure> {
        let path = ["domains", domain.as_str(), "clients", id.as_str(), "rotate"];
        let document: ClientDocument = self.call(Method::POST, &path, &[], Some(&json!({ "now": now }))).await?;
        Ok(document.into_client(domain))
    }

    /// Deletes a client.
    pub(in crate::cli) async fn delete_client(&self, domain: &DomainId, id: &ClientId) -> Result<(), ApiFailure> {
        self.call(Method::DELETE, &["domains", domain.as_str(), "clients", id.as_str()], &[], None).await
    }
}

/// Returns the body of a registration: all settings.
fn creation(settings: &ClientSettings) -> Value {
    let all = ClientPatch {
        name: settings.name.clone().map(Some),
        redirect_uris: Some(settings.redirect_uris.clone()),
        post_logout_uris: Some(settings.post_logout_uris.clone()),
        algorithm: Some(settings.algorithm),
        email: Some(settings.email),
        requires_pkce: Some(settings.requires_pkce),
        is_trusted: Some(settings.is_trusted),
        allowed: settings.allowed.clone().map(Some),
        auth_method: settings.auth_method.map(Some),
    };
    let mut body = all.to_details();
    body["public"] = settings.is_public.into();
    body
}

impl ClientDocument {
    fn into_client(self, domain: &DomainId) -> ClientOfApi {
        let settings = ClientSettings {
            name: self.name,
            is_public: self.public,
            redirect_uris: self.redirect_uris,
            post_logout_uris: self.post_logout_uris,
            algorithm: self.alg,
            email: self.email,
            requires_pkce: self.pkce,
            is_trusted: self.trusted,
            allowed: self.allow,
            auth_method: self.token_endpoint_auth_method,
        };
        let client = Client {
            id: self.client_id,
            domain_id: domain.clone(),
            settings,
            created_at: self.created_at,
            secret_hash: None,
            previous_secret_hash: None,
            previous_until: self.previous_secret_until,
        };
        ClientOfApi { client, issuer: self.issuer, secret: self.client_secret }
    }
}

#[cfg(test)]
mod tests {
    use signpost_openid::api::clients::ClientView;

    use super::*;

    #[test]
    fn client_document_is_read_completely() {
        let client_id = ClientId::new(Timestamp::UNIX_EPOCH, [2; 16]);
        let document = json!({
            "client_id": client_id, "name": "Wiki", "issuer": "https://login.example/i",
            "public": false, "redirect_uris": ["https://wiki.example/cb"], "post_logout_uris": [], "alg": "ES256",
            "email": "none", "pkce": true, "trusted": true, "allow": ["group:staff"],
            "token_endpoint_auth_method": "any", "created_at": "2026-01-02T03:04:05Z",
            "previous_secret_until": "2026-01-03T03:04:05Z",
        });
        let id = DomainId::new(Timestamp::UNIX_EPOCH, [1; 16]);
        let read: ClientDocument = serde_json::from_value(document.clone()).unwrap();
        let ClientOfApi { client, issuer, .. } = read.into_client(&id);
        assert_eq!(json!(ClientView::new(client, issuer, Timestamp::UNIX_EPOCH)), document);
    }
}
