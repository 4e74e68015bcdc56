//! Handler of `POST /sessions`: creates a login session.

use anyhow::Context;
use axum::extract::State as Extract;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use signpost_auth::{DomainName, Mode};
use signpost_platform::accounts::{Account, Environment};
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{ApiKey, JsonBody, raw_object};
use signpost_store::{WriteError, random};
use url::Url;

use crate::api::sessions::replies::CreatedSession;
use crate::domains::{CachedDomain, Domain, HandlerKind, parse_webhook_url};
use crate::error::Error;
use crate::flows::addresses::make_hosted_url;
use crate::flows::link::{check_has_credential, check_linkable};
use crate::flows::lookup::find_usable_domain;
use crate::ids::{SessionId, UserId};
use crate::service::LoginService;
use crate::sessions::idempotency::REPLAYED;
use crate::sessions::{
    BrowserHash, ClientSecret, ConfirmCode, Flow, IdempotencyKey, Metadata, NewSession, PagePurpose, PageTerms,
    Requester, RequesterBody, Session, SessionEntropy, SessionOptions, can_log_in, idempotency, sql,
    supports_number_matching,
};

/// The body of `POST /sessions`, before its values are validated.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateSessionBody {
    domain: DomainName,
    mode: Option<String>,
    webhook_url: Option<String>,
    #[serde(default, deserialize_with = "raw_object")]
    metadata: Option<Box<RawValue>>,
    confirm: Option<ConfirmationKind>,
    #[serde(default)]
    flow: Flow,
    requester: Option<RequesterBody>,
    browser_hash: Option<String>,
    user: Option<String>,
}

/// The value that a wallet's answer must contain to confirm that its user sees the page of the
/// site.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum ConfirmationKind {
    /// The two-digit number on the page (number matching).
    Code,
}

/// `POST /sessions`: creates a session, or repeats the reply for a repeated idempotency key.
pub(crate) async fn create(
    Extract(service): Extract<LoginService>,
    account: Account,
    key: ApiKey,
    headers: HeaderMap,
    JsonBody(body): JsonBody<CreateSessionBody>,
) -> Result<Response, Error> {
    let request = CreateRequest::try_from(body)?;
    request.check_browser_hash(account.environment)?;
    let idempotency_key = IdempotencyKey::from_headers(&headers, || request.fingerprint())?;
    if let Some(earlier) = find_replay(&service, &account, &key, idempotency_key.as_ref()).await? {
        return Ok(earlier);
    }
    let read = find_usable_domain(&service, &account, &request.domain);
    let domain = service.domains.find(&account, &request.domain, read).await?;
    let creation = Creation { service: &service, account: &account, key: &key, request: &request };
    let mut created = creation.create(&domain, idempotency_key.as_ref()).await;
    // If the user of a link signed out in the meantime, or the user of a login was deleted, the second attempt returns that error.
    if (domain.may_be_outdated() || request.user.is_some()) && may_be_outdated(&created) {
        let domain = CachedDomain::new(find_usable_domain(&service, &account, &request.domain).await?);
        created = creation.create(&domain, idempotency_key.as_ref()).await;
    }
    if let Some(reply) = created? {
        service.metrics.count_session_event(account.environment, "created");
        return Ok(reply);
    }
    // Another request with this idempotency key was committed first, or the domain was deleted.
    let earlier = find_replay(&service, &account, &key, idempotency_key.as_ref()).await?;
    earlier.ok_or_else(|| Error::DomainNotRegistered(request.domain.to_string()))
}

/// The inputs for the creation of a session, except its domain.
struct Creation<'a> {
    service: &'a LoginService,
    account: &'a Account,
    key: &'a ApiKey,
    request: &'a CreateRequest,
}

impl Creation<'_> {
    /// Creates the session on a domain. Returns `None` if the domain is gone or may have changed, or a request with
    /// this idempotency key was first.
    async fn create(
        &self,
        domain: &CachedDomain,
        idempotency_key: Option<&IdempotencyKey>,
    ) -> Result<Option<Response>, Error> {
        let Self { service, account, key, request } = self;
        let now = service.clock.now();
        let mut new = request.for_domain(service, domain)?;
        let mut statements = Vec::new();
        match (&request.user, &mut new.page) {
            (Some(user), Some(page)) if request.mode == Mode::Link => {
                let grant = check_linkable(service, domain, user).await?;
                statements.extend(grant.statements(&domain.id, now));
                page.first_key = grant.is_first_key;
                new.link = Some(grant.link);
            }
            (Some(user), Some(page)) => {
                check_has_credential(service, domain, user).await?;
                page.user = Some(user.clone());
            }
            (Some(_), None) => return Err(Error::PageFlowRequired),
            (None, _) => {}
        }
        let session = Session::open(domain, new, service.settings.session_ttl, now, SessionEntropy::draw());
        let secret = ClientSecret::derive(&key.key, &session.id);
        let session = session.with_client_secret(&secret);
        let reply = serde_json::to_string(&CreatedSession::new(&session, &service.public_address)?)
            .context("a session is JSON")?;
        statements.extend(idempotency_key.map(|key| key.store(account, &reply, now)));
        match sql::insert(&service.store, session, Some(domain), statements).await {
            Ok(()) => Ok(Some(to_response(&reply, Some(&secret)).into_response())),
            Err(WriteError::Conflict) => Ok(None),
            Err(WriteError::Internal(error)) => Err(error.into()),
        }
    }
}

/// Returns true if a concurrent change of the domain may be the reason of a failure. Failures of the database are not
/// retried.
fn may_be_outdated(created: &Result<Option<Response>, Error>) -> bool {
    match created {
        Ok(created) => created.is_none(),
        Err(Error::Problem(Problem::Unavailable(_) | Problem::Internal(_))) => false,
        Err(_) => true,
    }
}

/// Returns the reply to an earlier request with this idempotency key.
async fn find_replay(
    service: &LoginService,
    account: &Account,
    key: &ApiKey,
    idempotency_key: Option<&IdempotencyKey>,
) -> Result<Option<Response>, Error> {
    #[derive(Deserialize)]
    struct StoredReply {
        id: String,
    }
    let Some(idempotency_key) = idempotency_key else { return Ok(None) };
    let now = service.clock.now();
    let Some(reply) = idempotency::find_reply(&service.store, account, idempotency_key, now).await? else {
        return Ok(None);
    };
    let StoredReply { id } = serde_json::from_str(&reply).context("a kept reply is a session")?;
    let id = SessionId::parse(&id).context("a kept reply has an id")?;
    let session = sql::find(&service.store, account, &id).await?;
    // If the request has another API key of the account, the secret derived from it is not the session's.
    let secret = Some(ClientSecret::derive(&key.key, &id))
        .filter(|secret| session.is_some_and(|own| secret.grants_access_to(&own, now)));
    Ok(Some(([REPLAYED], to_response(&reply, secret.as_ref())).into_response()))
}

/// Adds the secret to a stored reply, which does not contain it.
fn to_response(reply: &str, secret: Option<&ClientSecret>) -> impl IntoResponse + use<> {
    let reply = match secret {
        Some(secret) => format!("{},\"client_secret\":{}}}", &reply[..reply.len() - 1], json!(secret.reveal())),
        None => reply.to_owned(),
    };
    (StatusCode::CREATED, [(CONTENT_TYPE, "application/json")], reply)
}

/// A validated request to create a session.
#[derive(Clone)]
struct CreateRequest {
    domain: DomainName,
    mode: Mode,
    webhook_url: Option<String>,
    metadata: Option<Metadata>,
    /// Requires the number on the page in the wallet's answer.
    confirm: bool,
    options: SessionOptions,
    /// The user to whose account the key is added, in mode `link`, or the only user who may log in.
    user: Option<UserId>,
}

impl TryFrom<CreateSessionBody> for CreateRequest {
    type Error = Problem;

    fn try_from(body: CreateSessionBody) -> Result<Self, Problem> {
        let CreateSessionBody { domain, mode, webhook_url, metadata, confirm, flow, requester, browser_hash, user } =
            body;
        let mode = match mode {
            None => Mode::Login,
            Some(word) => word.parse().map_err(|_| Problem::field("mode", "must be 'login', 'register' or 'link'"))?,
        };
        let requester = requester.map(Requester::try_from).transpose()?;
        let browser_hash = match browser_hash {
            Some(text) => Some(parse_browser_hash(flow, &text)?),
            None => None,
        };
        let user = parse_user(mode, flow, user.as_deref())?;
        let metadata = match metadata {
            Some(object) => {
                Some(Metadata::new(object, &domain).map_err(|(field, reason)| Problem::field(field, reason))?)
            }
            None => None,
        };
        if flow != Flow::CrossDevice && metadata.as_ref().and_then(Metadata::return_url).is_none() {
            let reason = format!("is required if flow is '{}'", flow.as_str());
            return Err(Problem::field("metadata.return_url", reason));
        }
        let options = SessionOptions { flow, requester, browser_hash };
        Ok(Self { domain, mode, webhook_url, metadata, confirm: confirm.is_some(), options, user })
    }
}

impl CreateRequest {
    /// Checks that a live login on a page is bound to the browser that started it, so that a link or a code that was
    /// sent to another person does not complete it.
    fn check_browser_hash(&self, environment: Environment) -> Result<(), Problem> {
        let is_required = self.options.flow == Flow::Page && environment == Environment::Live;
        if is_required && self.options.browser_hash.is_none() {
            return Err(Problem::field("browser_hash", "is required in live if flow is 'page'"));
        }
        Ok(())
    }

    /// Returns a canonical text of the request, for comparison with a retry. It must not change in
    /// an upgrade: new members must be skipped when they are absent, and existing members must stay
    /// the same.
    fn fingerprint(&self) -> Result<String, Error> {
        #[derive(Serialize)]
        struct Fingerprint<'a> {
            domain: &'a str,
            mode: &'static str,
            #[serde(skip_serializing_if = "Option::is_none")]
            webhook_url: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            metadata: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            confirm: Option<&'static str>,
            #[serde(flatten)]
            options: &'a SessionOptions,
            #[serde(skip_serializing_if = "Option::is_none")]
            user: Option<&'a UserId>,
        }
        let Self { domain, mode, webhook_url, metadata, confirm, options, user } = self;
        let fingerprint = Fingerprint {
            domain: domain.as_str(),
            mode: mode.as_str(),
            webhook_url: webhook_url.as_deref(),
            metadata: metadata.as_ref().map(Metadata::as_str),
            confirm: confirm.then_some("code"),
            options,
            user: user.as_ref(),
        };
        Ok(serde_json::to_string(&fingerprint).context("a request is JSON")?)
    }

    /// Returns the session to create on this domain. The user is added by the caller.
    fn for_domain(&self, service: &LoginService, domain: &Domain) -> Result<NewSession, Error> {
        let webhook_url = self.webhook_url(service, domain)?;
        let Self { mode, metadata, confirm, options, .. } = self.clone();
        let environment = domain.account.environment;
        let hosted_url = match domain.handler {
            HandlerKind::Direct if options.flow == Flow::Page => {
                return Err(Error::DomainNotHosted(domain.name.to_string()));
            }
            HandlerKind::Direct => None,
            HandlerKind::Hosted => Some(make_hosted_url(service, &domain.account, mode)?),
        };
        // The number protects users of hosted domains against relayed codes. Otherwise an attacker
        // could be logged in by the user's answer, or register an account with the user's key.
        let must_confirm =
            hosted_url.is_some() && environment == Environment::Live && options.flow == Flow::CrossDevice;
        let purpose = PagePurpose::Site;
        let page = match options.flow {
            Flow::Page => Some(PageTerms { mode, confirm, purpose, application: None, user: None, first_key: false }),
            Flow::CrossDevice | Flow::SameDevice => None,
        };
        if page.as_ref().is_some_and(|terms| !can_log_in(domain, terms, &service.supported_methods(environment))) {
            return Err(Error::NoLoginMethod(domain.name.to_string()));
        }
        let must_confirm = must_confirm || (page.is_some() && supports_number_matching(domain));
        let confirm_code = (confirm || must_confirm).then(|| ConfirmCode::new(random()));
        Ok(NewSession { mode, webhook_url, hosted_url, metadata, confirm_code, options, page, link: None })
    }

    /// Returns the webhook of the request, or else of the domain.
    fn webhook_url(&self, service: &LoginService, domain: &Domain) -> Result<Url, Error> {
        let Some(text) = &self.webhook_url else { return Ok(domain.webhook_url.clone()) };
        let egress = service.egress_policy(domain.account.environment);
        let url = parse_webhook_url(text, egress).map_err(|reason| Problem::field("webhook_url", reason))?;
        if domain.owns_webhook(&url) {
            return Ok(url);
        }
        let reason = format!("must be on {0}, below it, or on the host of the domain's own webhook_url", domain.name);
        Err(Problem::field("webhook_url", reason).into())
    }
}

/// Returns the user to whom the key is added in mode `link`, which exists only on pages and requires a user, or the only
/// user who may log in. A registration has no user.
fn parse_user(mode: Mode, flow: Flow, user: Option<&str>) -> Result<Option<UserId>, Problem> {
    if mode == Mode::Link && flow != Flow::Page {
        return Err(Problem::field("flow", "must be 'page' if mode is 'link'"));
    }
    let Some(text) = user else {
        if mode == Mode::Link {
            return Err(Problem::field("user", "is required if mode is 'link': the id of the user, usr_…"));
        }
        return Ok(None);
    };
    if mode == Mode::Register {
        return Err(Problem::field("user", "is allowed if mode is 'login' or 'link' only"));
    }
    let id = UserId::parse(text).ok_or_else(|| Problem::field("user", "must be the id of a user, usr_…"))?;
    Ok(Some(id))
}

fn parse_browser_hash(flow: Flow, text: &str) -> Result<BrowserHash, Problem> {
    if flow != Flow::Page {
        return Err(Problem::field("browser_hash", "is allowed if flow is 'page' only"));
    }
    let wrong = "must be the SHA-256 of the browser's secret in base64url without padding, 43 characters";
    BrowserHash::parse(text).ok_or_else(|| Problem::field("browser_hash", wrong))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(body: &str) -> String {
        let JsonBody(body) = JsonBody::<CreateSessionBody>::parse(body.as_bytes()).unwrap();
        CreateRequest::try_from(body).unwrap().fingerprint().unwrap()
    }

    /// The texts are stored, so a change would reject retries of requests before an upgrade.
    #[test]
    fn fingerprints_are_stable() {
        let minimal = r#"{"domain": "Shop.TEST."}"#;
        assert_eq!(fingerprint(minimal), r#"{"domain":"shop.test","mode":"login","flow":"cross_device"}"#);
        let body = r#"{
            "requester": {"country": "US", "user_agent": "Firefox", "ip": "203.0.113.9"}, "flow": "same_device",
            "confirm": "code", "metadata": {"return_url": "/in", "n": 1.0}, "webhook_url": "https://shop.test/a",
            "mode": "registration", "domain": "shop.test"
        }"#;
        let expected = concat!(
            r#"{"domain":"shop.test","mode":"register","webhook_url":"https://shop.test/a","#,
            r#""metadata":"{\"return_url\": \"/in\", \"n\": 1.0}","confirm":"code","flow":"same_device","#,
            r#""requester":{"ip":"203.0.113.9","country":"US","user_agent":"Firefox"}}"#
        );
        assert_eq!(fingerprint(body), expected);
        let body = r#"{
            "domain": "shop.test", "flow": "page", "metadata": {"return_url": "/"},
            "user": "usr_06h0b0avgy59w2hwkb2v9bypdq5zsyfj88vg"
        }"#;
        let expected = concat!(
            r#"{"domain":"shop.test","mode":"login","metadata":"{\"return_url\": \"/\"}","flow":"page","#,
            r#""user":"usr_06h0b0avgy59w2hwkb2v9bypdq5zsyfj88vg"}"#
        );
        assert_eq!(fingerprint(body), expected);
    }
}
