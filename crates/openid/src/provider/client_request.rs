//! Extracts requests that clients send directly: their form fields and the client authentication.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use signpost_login::domains::Domain;
use signpost_platform::limits::{Caller, Limit};
use signpost_platform::pages::form::MAX_FORM_BYTES;
use signpost_platform::web::peer::peer;
use signpost_platform::web::problem::Problem;
use signpost_platform::web::single_header;
use signpost_store::FileState;
use url::form_urlencoded;

use super::context::{is_form, path_domain_id};
use super::oauth_reply::OauthRefusal;
use crate::clients::{Client, ClientAuthMethod};
use crate::flows::{ClientCredentials, ClientRefusal, FlowError, find_client, find_issuer_domain, issuer};
use crate::service::{IssuerState, OpenidService};

/// Maximum number of form fields: several times the number of known fields.
const MAX_FIELDS: usize = 64;

/// A request of a client to an issuer.
#[derive(Debug)]
pub(super) struct ClientRequest {
    pub(super) service: OpenidService,
    pub(super) domain: Arc<Domain>,
    /// The state of an embedded database when the request was complete: rows that were read in this state may be used.
    pub(super) file_state: Option<FileState>,
    address: Caller,
    /// The header `Authorization`.
    authorization: Option<String>,
    fields: BTreeMap<String, String>,
}

impl FromRequest<IssuerState> for ClientRequest {
    type Rejection = OauthRefusal;

    async fn from_request(request: Request, state: &IssuerState) -> Result<Self, OauthRefusal> {
        let service = state.service.clone();
        let (mut parts, body) = request.into_parts();
        let address = peer(&service, &parts.extensions, &parts.headers);
        let mut file_state = service.store.file_state();
        let Some(id) = path_domain_id(&mut parts).await else { return Err(OauthRefusal::NotFound) };
        let domain = find_issuer_domain(&service, state.environment, &id, file_state).await?;
        let domain = domain.ok_or(OauthRefusal::NotFound)?;
        let authorization = read_authorization(&parts.headers)?;
        let mut fields = BTreeMap::new();
        if parts.method == Method::POST {
            fields = read_form(&parts.headers, body).await?;
            // The form may have arrived slowly: a token that was revoked in this time must not be accepted.
            file_state = service.store.file_state();
        }
        Ok(Self { service, domain, file_state, address, authorization, fields })
    }
}

impl ClientRequest {
    /// Returns the value of a field; `None` if it is missing or empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns the value of a required field.
    pub(super) fn required(&self, name: &str) -> Result<&str, OauthRefusal> {
        self.text(name).ok_or_else(|| OauthRefusal::request(format!("{name} is missing")))
    }

    /// Returns the bearer token of the header `Authorization`.
    pub(super) fn bearer_token(&self) -> Option<&str> {
        let (scheme, token) = self.authorization.as_deref()?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    }

    /// Authenticates the client, and counts the request: for the client if it showed its secret, else for the client
    /// IP.
    pub(super) async fn find_client(&self) -> Result<Client, OauthRefusal> {
        if self.text("client_assertion").is_some() {
            return Err(self.invalid_client("client_assertion is not supported; send the client secret"));
        }
        match self.authenticate().await {
            Ok(client) => {
                // The ID of a public client is not secret: with a shared counter, an attacker could lock out its users.
                let is_public = client.settings.is_public;
                let caller = if is_public { self.address.clone() } else { Caller::Client(client.id.to_string()) };
                self.count(&caller).await?;
                Ok(client)
            }
            Err(FlowError::Refused(refusal)) => {
                self.count_unauthenticated().await?;
                Err(self.refuse_client(refusal))
            }
            Err(FlowError::Internal(error)) => Err(error.into()),
        }
    }

    async fn authenticate(&self) -> Result<Client, FlowError<ClientRefusal>> {
        let authorization = self.authorization.as_deref();
        let credentials = ClientCredentials::read(authorization, self.text("client_id"), self.text("client_secret"));
        find_client(&self.service, &self.domain, &credentials.map_err(FlowError::Refused)?).await
    }

    /// Counts a request without valid credentials for the client IP.
    pub(super) async fn count_unauthenticated(&self) -> Result<(), OauthRefusal> {
        self.count(&self.address).await
    }

    pub(super) async fn count(&self, caller: &Caller) -> Result<(), OauthRefusal> {
        let counted = self.service.limits.check(Limit::Token, caller, self.service.clock.elapsed()).await;
        counted.map_err(|exceeded| Problem::RateLimited(exceeded).into())
    }

    fn refuse_client(&self, refusal: ClientRefusal) -> OauthRefusal {
        self.invalid_client(match refusal {
            ClientRefusal::MultipleMethods => {
                return OauthRefusal::request(
                    "the client authenticates in several ways, or as several clients; choose one",
                );
            }
            ClientRefusal::Method(ClientAuthMethod::Post) => {
                "this client must send its secret in the form: client_secret_post"
            }
            ClientRefusal::Method(_) => {
                "this client must send its secret in the header Authorization: client_secret_basic"
            }
            ClientRefusal::Invalid => {
                "the client is unknown, or its secret is missing or wrong; a public client sends none"
            }
        })
    }

    fn invalid_client(&self, description: &'static str) -> OauthRefusal {
        let challenge = format!("Basic realm=\"{}\", charset=\"UTF-8\"", issuer(&self.service, &self.domain));
        OauthRefusal::Unauthorized { error: Some("invalid_client"), description, challenge }
    }
}

fn read_authorization(headers: &HeaderMap) -> Result<Option<String>, OauthRefusal> {
    const EXPECTED: &str = "send one Authorization header, in ASCII";
    let value = single_header(headers, &header::AUTHORIZATION).map_err(|_| OauthRefusal::request(EXPECTED))?;
    match value.map(HeaderValue::to_str) {
        Some(Ok(text)) => Ok(Some(text.to_owned())),
        Some(Err(_)) => Err(OauthRefusal::request(EXPECTED)),
        None => Ok(None),
    }
}

/// Reads the fields of a form. A body without a content type is read and ignored.
async fn read_form(headers: &HeaderMap, body: Body) -> Result<BTreeMap<String, String>, OauthRefusal> {
    let has_type = headers.contains_key(header::CONTENT_TYPE);
    if has_type && !is_form(headers) {
        return Err(OauthRefusal::request("send a form: Content-Type: application/x-www-form-urlencoded"));
    }
    let body = axum::body::to_bytes(body, MAX_FORM_BYTES).await;
    let body = body.map_err(|_| Problem::PayloadTooLarge { limit: MAX_FORM_BYTES })?;
    let mut fields = BTreeMap::new();
    for (name, value) in form_urlencoded::parse(&body).into_owned() {
        if fields.len() == MAX_FIELDS {
            return Err(OauthRefusal::request(format!("send at most {MAX_FIELDS} parameters")));
        }
        if fields.insert(name, value).is_some() {
            return Err(OauthRefusal::request("a parameter is given twice; send each once"));
        }
    }
    Ok(if has_type { fields } else { BTreeMap::new() })
}
