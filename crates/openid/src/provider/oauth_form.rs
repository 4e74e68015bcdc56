//! What applications send: a form, and who they are.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderMap, Method, header};
use signpost_login::domains::Domain;
use signpost_login::ids::DomainId;
use signpost_platform::accounts::Environment;
use signpost_platform::limits::{Caller, Limit};
use signpost_platform::pages::form::MOST_FORM_BYTES;
use signpost_platform::web::peer::client_address;
use signpost_platform::web::problem::Problem;
use signpost_store::FileState;
use url::form_urlencoded;

use super::oauth_reply::OauthRefusal;
use super::visit::is_form;
use crate::clients::{Client, ClientAuthMethod};
use crate::flows::{ClientCredentials, ClientRefusal, FlowError, find_client, find_realm, issuer};
use crate::service::OpenidService;

/// Most fields of a form: several times those that mean something.
const MAX_FIELDS: usize = 64;

/// A request of an application.
#[derive(Debug)]
pub(super) struct OauthVisit {
    pub(super) service: OpenidService,
    pub(super) realm: Arc<Domain>,
    /// The state of an embedded database when all of the request was there: what was read in it counts for this request.
    pub(super) state: Option<FileState>,
    address: Caller,
    /// Those with the name `Authorization`.
    authorization: Vec<String>,
    /// Each name once.
    fields: Vec<(String, String)>,
}

impl OauthVisit {
    /// Reads the request, where the id is that of a realm of this environment.
    pub(super) async fn receive(
        service: OpenidService,
        environment: Environment,
        id: String,
        request: Request,
    ) -> Result<Self, OauthRefusal> {
        let (address, state) = (client_address(&service, &request), service.store.file_state());
        let realm = match DomainId::parse(&id) {
            Some(id) => find_realm(&service, environment, &id, state).await?,
            None => None,
        };
        let realm = realm.ok_or(OauthRefusal::NotFound)?;
        let authorization = read_authorization(request.headers())?;
        let is_post = request.method() == Method::POST;
        let fields = if is_post { read_form(request).await? } else { Vec::new() };
        // A form may take its time, in which what it shows can be revoked.
        let state = if is_post { service.store.file_state() } else { state };
        Ok(Self { service, realm, state, address, authorization, fields })
    }

    /// What a field holds; without a value it is none.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(field, value)| field == name && !value.is_empty());
        found.map(|(_, value)| value.as_str())
    }

    /// What a field holds that must be there.
    pub(super) fn required(&self, name: &str) -> Result<&str, OauthRefusal> {
        self.text(name).ok_or_else(|| OauthRefusal::request(format!("{name} is missing")))
    }

    /// The header `Authorization`, where there is one.
    pub(super) fn authorization(&self) -> Option<&str> {
        self.authorization.first().map(String::as_str)
    }

    /// The client that asks. One that showed its secret counts as itself, all else for its address.
    pub(super) async fn find_client(&self) -> Result<Client, OauthRefusal> {
        if self.text("client_assertion").is_some() {
            return Err(self.refuse_client("client_assertion is not supported; send the client secret"));
        }
        let credentials =
            ClientCredentials::read(self.authorization(), self.text("client_id"), self.text("client_secret"));
        let found = match credentials {
            Ok(credentials) => match find_client(&self.service, &self.realm, &credentials).await {
                Ok(client) => Ok(client),
                Err(FlowError::Refused(refusal)) => Err(refusal),
                Err(FlowError::Internal(error)) => return Err(error.into()),
            },
            Err(refusal) => Err(refusal),
        };
        // Anybody can name a public client: counted together, one stranger would keep out everybody who uses it.
        let caller = match &found {
            Ok(client) if !client.settings.is_public => Caller::Client(client.id.to_string()),
            _ => self.address.clone(),
        };
        self.count(&caller).await?;
        found.map_err(|refusal| match refusal {
            ClientRefusal::Several => {
                OauthRefusal::request("the client authenticates in several ways, or as several clients; choose one")
            }
            ClientRefusal::Method(method) => self.refuse_client(match method {
                ClientAuthMethod::Post => "this client must send its secret in the form: client_secret_post",
                _ => "this client must send its secret in the header Authorization: client_secret_basic",
            }),
            ClientRefusal::Invalid => self
                .refuse_client("the client is unknown, or its secret is missing or wrong; a public client sends none"),
        })
    }

    /// Counts a request that shows no token of ours.
    pub(super) async fn count_stranger(&self) -> Result<(), OauthRefusal> {
        self.count(&self.address).await
    }

    pub(super) async fn count(&self, caller: &Caller) -> Result<(), OauthRefusal> {
        let counted = self.service.limits.check(Limit::Token, caller, self.service.clock.elapsed()).await;
        counted.map_err(|exceeded| Problem::RateLimited(exceeded).into())
    }

    fn refuse_client(&self, description: &'static str) -> OauthRefusal {
        let challenge = format!("Basic realm=\"{}\", charset=\"UTF-8\"", issuer(&self.service, &self.realm));
        OauthRefusal::Unauthorized { error: Some("invalid_client"), description, challenge }
    }
}

fn read_authorization(headers: &HeaderMap) -> Result<Vec<String>, OauthRefusal> {
    let sent = headers.get_all(header::AUTHORIZATION).iter().map(|value| value.to_str().map(str::to_owned));
    let sent: Result<Vec<_>, _> = sent.collect();
    sent.ok()
        .filter(|sent| sent.len() < 2)
        .ok_or_else(|| OauthRefusal::request("send one Authorization header, in ASCII"))
}

async fn read_form(request: Request) -> Result<Vec<(String, String)>, OauthRefusal> {
    let has_body = request.headers().contains_key(header::CONTENT_TYPE);
    if has_body && !is_form(&request) {
        return Err(OauthRefusal::request("send a form: Content-Type: application/x-www-form-urlencoded"));
    }
    let body = axum::body::to_bytes(request.into_body(), MOST_FORM_BYTES).await;
    let body = body.map_err(|_| Problem::PayloadTooLarge { limit: MOST_FORM_BYTES })?;
    let mut fields: Vec<(String, String)> = Vec::new();
    for (name, value) in form_urlencoded::parse(&body).into_owned() {
        if fields.len() == MAX_FIELDS {
            return Err(OauthRefusal::request(format!("send at most {MAX_FIELDS} parameters")));
        }
        if fields.iter().any(|(field, _)| *field == name) {
            return Err(OauthRefusal::request("a parameter is given twice; send each once"));
        }
        fields.push((name, value));
    }
    Ok(if has_body { fields } else { Vec::new() })
}
