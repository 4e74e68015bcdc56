//! A request as it is read: who asks, where the answer goes, and for what.

use signpost_login::domains::Domain;

use super::FlowError;
use super::realm::issuer;
use crate::authorizations::{AuthorizationRefusal, AuthorizationRequest, Parameters, ReturnAddress};
use crate::clients::{self, Client};
use crate::ids::ClientId;
use crate::service::OpenidService;

/// A request whose client is known, and whose answer goes to an address that the client registered.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct AskedAuthorization {
    pub realm: Domain,
    pub client: Client,
    pub address: ReturnAddress,
    /// What is asked for, or what is wrong with it.
    pub request: Result<AuthorizationRequest, AuthorizationRefusal>,
    /// As it came.
    pub query: String,
}

impl AskedAuthorization {
    /// The languages that the application speaks with the person, the best first.
    #[must_use]
    pub fn ui_locales(&self) -> Option<&str> {
        self.request.as_ref().ok().and_then(|request| request.ui_locales.as_deref())
    }
}

/// What is wrong with a request that must not be answered where it says: the person sees it here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientFault {
    /// No client of the realm has this `client_id`.
    UnknownClient,
    /// It names no `redirect_uri`, or several.
    NoRedirectUri,
    /// It names one that the client did not register.
    UnknownRedirectUri(String),
}

/// Finds out who asks, and where the answer goes.
///
/// # Errors
/// [`ClientFault`], or a failure of the database.
pub async fn read_asked(
    service: &OpenidService,
    realm: &Domain,
    query: &str,
) -> Result<AskedAuthorization, FlowError<ClientFault>> {
    let given = Parameters::read(query);
    let client = match given.text("client_id").and_then(ClientId::parse) {
        Some(id) => clients::sql::find(&service.store, &realm.id, &id).await?,
        None => None,
    };
    let client = client.ok_or(FlowError::Refused(ClientFault::UnknownClient))?;
    let redirect_uri = given.text("redirect_uri").ok_or(FlowError::Refused(ClientFault::NoRedirectUri))?;
    if !client.has_redirect_uri(redirect_uri) {
        return Err(FlowError::Refused(ClientFault::UnknownRedirectUri(redirect_uri.to_owned())));
    }
    let address = ReturnAddress {
        redirect_uri: redirect_uri.to_owned(),
        state: given.text("state").map(str::to_owned),
        issuer: issuer(service, realm),
    };
    let request = AuthorizationRequest::read(&given, &client.settings);
    Ok(AskedAuthorization { realm: realm.clone(), client, address, request, query: query.to_owned() })
}
