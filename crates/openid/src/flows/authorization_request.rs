//! Reads authorization requests: finds the client, checks the redirect URI, and validates the
//! parameters.

use std::sync::Arc;

use signpost_login::domains::Domain;

use super::FlowError;
use super::issuer::issuer;
use crate::authorizations::{AuthorizationError, Parameters, RedirectTarget, ValidatedAuthorizationRequest};
use crate::clients::{self, Client};
use crate::ids::ClientId;
use crate::service::OpenidService;

/// An authorization request of a known client with a registered redirect URI.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct AuthorizationRequest {
    pub domain: Arc<Domain>,
    pub client: Client,
    pub target: RedirectTarget,
    /// The validated parameters, or the error for the client.
    pub parameters: Result<ValidatedAuthorizationRequest, AuthorizationError>,
    /// The query as received.
    pub query: String,
}

impl AuthorizationRequest {
    /// Returns the value of `ui_locales`, the preferred languages in order.
    #[must_use]
    pub fn ui_locales(&self) -> Option<&str> {
        self.parameters.as_ref().ok()?.ui_locales.as_deref()
    }
}

/// An error without a trusted redirect URI. It is shown to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientFault {
    /// The issuer has no client with this `client_id`.
    UnknownClient,
    /// `redirect_uri` is missing, or is given more than once.
    NoRedirectUri,
    /// The client has not registered this `redirect_uri`.
    UnknownRedirectUri(String),
}

/// Reads an authorization request to the issuer of a domain.
///
/// # Errors
/// Returns [`ClientFault`], or a failure of the database.
pub async fn read_authorization_request(
    service: &OpenidService,
    domain: &Arc<Domain>,
    query: &str,
) -> Result<AuthorizationRequest, FlowError<ClientFault>> {
    let query_parameters = Parameters::read(query);
    let Some(id) = query_parameters.text("client_id").and_then(ClientId::parse) else {
        return Err(FlowError::Refused(ClientFault::UnknownClient));
    };
    let Some(client) = clients::sql::find(&service.store, &domain.id, &id).await? else {
        return Err(FlowError::Refused(ClientFault::UnknownClient));
    };
    let Some(redirect_uri) = query_parameters.owned_text("redirect_uri") else {
        return Err(FlowError::Refused(ClientFault::NoRedirectUri));
    };
    if !client.has_redirect_uri(&redirect_uri) {
        return Err(FlowError::Refused(ClientFault::UnknownRedirectUri(redirect_uri)));
    }
    let target =
        RedirectTarget { redirect_uri, state: query_parameters.owned_text("state"), issuer: issuer(service, domain) };
    let parameters = ValidatedAuthorizationRequest::read(&query_parameters, &client.settings);
    Ok(AuthorizationRequest { domain: Arc::clone(domain), client, target, parameters, query: query.to_owned() })
}
