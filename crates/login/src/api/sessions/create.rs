//! `POST /sessions`

use std::sync::Arc;

use anyhow::Context;
use axum::extract::State as Extract;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::json;
use signpost_auth::{DomainName, Mode};
use signpost_platform::accounts::{Account, Environment};
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{ApiKey, Fields};
use signpost_store::{WriteError, random};
use url::Url;

use crate::api::sessions::replies::CreatedSession;
use crate::domains::{self, Domain, HandlerKind, KnownDomain, Usable, parse_webhook_url};
use crate::error::Error;
use crate::flows::addresses::make_hosted_url;
use crate::flows::link::check_linkable;
use crate::ids::{SessionId, UserId};
use crate::service::LoginService;
use crate::sessions::{
    BrowserHash, ClientSecret, ConfirmCode, Flow, IdempotencyKey, Metadata, NewSession, PagePurpose, PageTerms,
    Requester, Session, SessionEntropy, SessionOptions, can_log_in, idempotency, sql, takes_numbers,
};
use crate::users::sql::require_login_after_sign_out;

/// Says that a reply was given before.
const REPLAYED: (HeaderName, &str) = (HeaderName::from_static("idempotent-replayed"), "true");

/// `POST /sessions`
pub(crate) async fn create(
    Extract(service): Extract<LoginService>,
    account: Account,
    key: ApiKey,
    headers: HeaderMap,
    fields: Fields,
) -> Result<Response, Error> {
    let request = CreateRequest::parse(fields)?;
    request.check_browser_hash(account.environment)?;
    let idempotency_key = IdempotencyKey::from_headers(&headers, || request.fingerprint())?;
    if let Some(earlier) = find_replay(&service, &account, &key, idempotency_key.as_ref()).await? {
        return Ok(earlier);
    }
    let domain = find_domain(&service, &account, &request.domain).await?;
    let creation = Creation { service: &service, account: &account, key: &key, request: &request };
    let mut created = creation.create(&domain, idempotency_key.as_ref()).await;
    // If the user of a link signed out in the meantime, the second attempt returns that error.
    if (domain.as_of.is_some() || request.link.is_some()) && may_be_outdated(&created) {
        let domain = KnownDomain::read_now(read_domain(&service, &account, &request.domain).await?);
        created = creation.create(&domain, idempotency_key.as_ref()).await;
    }
    if let Some(reply) = created? {
        service.metrics.session(account.environment, "created");
        return Ok(reply);
    }
    // Somebody asked for the same meanwhile, or took the domain away.
    let earlier = find_replay(&service, &account, &key, idempotency_key.as_ref()).await?;
    earlier.ok_or_else(|| Error::DomainNotRegistered(request.domain.to_string()))
}

/// What a session is created of, beside its domain.
struct Creation<'a> {
    service: &'a LoginService,
    account: &'a Account,
    key: &'a ApiKey,
    request: &'a CreateRequest,
}

impl Creation<'_> {
    /// Creates the session on a domain. None where the domain is gone or may be another one meanwhile, or somebody asked for
    /// the same.
    async fn create(
        &self,
        KnownDomain { domain, as_of }: &KnownDomain,
        idempotency_key: Option<&IdempotencyKey>,
    ) -> Result<Option<Response>, Error> {
        let Self { service, account, key, request } = self;
        let (now, ttl) = (service.clock.now(), service.settings.session_ttl);
        let mut new = request.for_domain(service, domain)?;
        let mut with = Vec::new();
        if let Some(user) = &request.link {
            new.link = Some(check_linkable(service, domain, user).await?);
            with.push(require_login_after_sign_out(&domain.id, user));
        }
        let session = Session::open(domain, new, ttl, now, SessionEntropy::draw());
        let secret = ClientSecret::derive(&key.key, &session.id);
        let session = session.with_client_secret(&secret);
        let reply = serde_json::to_string(&CreatedSession::new(&session, &service.public_address)?)
            .context("a session is JSON")?;
        with.extend(idempotency_key.map(|key| key.store(account, &reply, now)));
        match sql::insert(&service.store, session, *as_of, with).await {
            Ok(()) => Ok(Some(to_response(&reply, Some(&secret)).into_response())),
            Err(WriteError::Conflict) => Ok(None),
            Err(WriteError::Internal(error)) => Err(error.into()),
        }
    }
}

/// Whether a domain that changed meanwhile may be the reason. What the database says of itself is not asked twice.
fn may_be_outdated(created: &Result<Option<Response>, Error>) -> bool {
    match created {
        Ok(created) => created.is_none(),
        Err(Error::Problem(Problem::Unavailable(_) | Problem::Internal(_))) => false,
        Err(_) => true,
    }
}

/// What was answered before to a request that names the same key.
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
    // Another key of the account asks under the same Idempotency-Key: that one's secret is not the session's.
    let secret =
        Some(ClientSecret::derive(&key.key, &id)).filter(|secret| session.is_some_and(|own| secret.reads(&own, now)));
    Ok(Some(([REPLAYED], to_response(&reply, secret.as_ref())).into_response()))
}

/// A reply with the secret behind what is kept of it, which must not hold the secret.
fn to_response(reply: &str, secret: Option<&ClientSecret>) -> impl IntoResponse + use<> {
    let reply = match secret {
        Some(secret) => format!("{},\"client_secret\":{}}}", &reply[..reply.len() - 1], json!(secret.reveal())),
        None => reply.to_owned(),
    };
    (StatusCode::CREATED, [(CONTENT_TYPE, "application/json")], reply)
}

/// What a creation asks for.
#[derive(Clone)]
struct CreateRequest {
    domain: DomainName,
    mode: Mode,
    webhook_url: Option<String>,
    metadata: Option<Metadata>,
    /// Whether the wallet must send back what the page shows.
    confirm: bool,
    options: SessionOptions,
    /// Whose account a key joins.
    link: Option<UserId>,
}

impl CreateRequest {
    fn parse(mut fields: Fields) -> Result<Self, Error> {
        let domain = fields.text("domain")?;
        let mode = match fields.optional_text("mode")? {
            None => Mode::Login,
            Some(word) => word.parse().map_err(|_| Problem::field("mode", "must be 'login', 'register' or 'link'"))?,
        };
        let webhook_url = fields.optional_text("webhook_url")?;
        let metadata = fields.optional_object("metadata")?;
        let confirm = match fields.optional_text("confirm")?.as_deref() {
            None => false,
            Some("code") => true,
            Some(_) => return Err(Problem::field("confirm", "must be 'code'").into()),
        };
        let options = parse_options(&mut fields)?;
        let link = parse_link(mode, options.flow, fields.optional_text("user")?.as_deref())?;
        fields.done()?;
        let domain = DomainName::parse(&domain).map_err(|error| Problem::field("domain", error.to_string()))?;
        let metadata = metadata.map(|object| Metadata::new(object, &domain)).transpose();
        let metadata = metadata.map_err(|(field, reason)| Problem::field(field, reason))?;
        if options.flow != Flow::CrossDevice && metadata.as_ref().and_then(Metadata::return_url).is_none() {
            let reason = format!("is required if flow is '{}'", options.flow.as_str());
            return Err(Problem::field("metadata.return_url", reason).into());
        }
        Ok(Self { domain, mode, webhook_url, metadata, confirm, options, link })
    }

    /// A live login on a page is bound to the browser that began it: a link to the page, or a code, that somebody was sent
    /// completes nothing.
    fn check_browser_hash(&self, environment: Environment) -> Result<(), Problem> {
        let is_required = self.options.flow == Flow::Page && environment == Environment::Live;
        if is_required && self.options.browser_hash.is_none() {
            return Err(Problem::field("browser_hash", "is required in live if flow is 'page'"));
        }
        Ok(())
    }

    /// All of it that counts, in one spelling, which a retry after an upgrade must meet again: members may be added where
    /// they are said, and none may change.
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
        let Self { domain, mode, webhook_url, metadata, confirm, options, link } = self;
        let fingerprint = Fingerprint {
            domain: domain.as_str(),
            mode: mode.as_str(),
            webhook_url: webhook_url.as_deref(),
            metadata: metadata.as_ref().map(Metadata::as_str),
            confirm: confirm.then_some("code"),
            options,
            user: link.as_ref(),
        };
        Ok(serde_json::to_string(&fingerprint).context("a request is JSON")?)
    }

    /// What the session will be, on this domain; the link is found by its user afterwards.
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
        // Nobody else can ask the person of a hosted session, and a relayed code must not be enough: not to log in, and
        // not to have a thief's account opened with the person's key.
        let must_confirm =
            hosted_url.is_some() && environment == Environment::Live && options.flow == Flow::CrossDevice;
        let purpose = PagePurpose::Site;
        let page = (options.flow == Flow::Page).then_some(PageTerms { mode, confirm, purpose, application: None });
        if page.as_ref().is_some_and(|terms| !can_log_in(domain, terms, &service.supported_methods(environment))) {
            return Err(Error::NoLoginMethod(domain.name.to_string()));
        }
        let must_confirm = must_confirm || (page.is_some() && takes_numbers(domain));
        let confirm_code = (confirm || must_confirm).then(|| ConfirmCode::new(random()));
        Ok(NewSession { mode, webhook_url, hosted_url, metadata, confirm_code, options, page, link: None })
    }

    /// The session's own webhook if it names one, else the domain's.
    fn webhook_url(&self, service: &LoginService, domain: &Domain) -> Result<Url, Error> {
        let Some(text) = &self.webhook_url else { return Ok(domain.webhook_url.clone()) };
        let reach = service.reach(domain.account.environment);
        let url = parse_webhook_url(text, reach).map_err(|reason| Problem::field("webhook_url", reason))?;
        if domain.owns_webhook(&url) {
            return Ok(url);
        }
        let reason = format!("must be on {0}, below it, or on the host of the domain's own webhook_url", domain.name);
        Err(Problem::field("webhook_url", reason).into())
    }
}

fn parse_options(fields: &mut Fields) -> Result<SessionOptions, Error> {
    let flow = fields.optional_text("flow")?.map_or(Some(Flow::CrossDevice), |word| Flow::parse(&word));
    let flow = flow.ok_or_else(|| Problem::field("flow", "must be 'cross_device', 'same_device' or 'page'"))?;
    let requester = fields.optional_object("requester")?.map(|object| Requester::parse(object.get())).transpose()?;
    let browser_hash = fields.optional_text("browser_hash")?.map(|text| parse_browser_hash(flow, &text)).transpose()?;
    Ok(SessionOptions { flow, requester, browser_hash })
}

/// Whose account a key joins: said in that mode, which is there on pages alone, and in no other.
fn parse_link(mode: Mode, flow: Flow, user: Option<&str>) -> Result<Option<UserId>, Problem> {
    match (mode, user) {
        (Mode::Link, _) if flow != Flow::Page => Err(Problem::field("flow", "must be 'page' if mode is 'link'")),
        (Mode::Link, None) => Err(Problem::field("user", "is required if mode is 'link': the id of the user, usr_…")),
        (Mode::Link, Some(text)) => {
            let id = UserId::parse(text).ok_or_else(|| Problem::field("user", "must be the id of a user, usr_…"))?;
            Ok(Some(id))
        }
        (_, Some(_)) => Err(Problem::field("user", "is allowed if mode is 'link' only")),
        (_, None) => Ok(None),
    }
}

fn parse_browser_hash(flow: Flow, text: &str) -> Result<BrowserHash, Problem> {
    if flow != Flow::Page {
        return Err(Problem::field("browser_hash", "is allowed if flow is 'page' only"));
    }
    let wrong = "must be the SHA-256 of the browser's secret in base64url without padding, 43 characters";
    BrowserHash::parse(text).ok_or_else(|| Problem::field("browser_hash", wrong))
}

/// The account's domain, if sessions may be created on it: as it is kept, or else as it is.
async fn find_domain(service: &LoginService, account: &Account, name: &DomainName) -> Result<KnownDomain, Error> {
    // Before it is read: what changes from now on makes it another state.
    let as_of = service.store.watched_version();
    let (key, mut refused) = ((account.clone(), name.clone()), None);
    if service.domains.get(&key).is_some_and(|kept| kept.as_of != as_of) {
        service.domains.invalidate(&key);
    }
    let read = async {
        match read_domain(service, account, name).await {
            Ok(domain) => Ok(Some(KnownDomain { domain: Arc::new(domain), as_of })),
            Err(error) => {
                refused = Some(error);
                Ok(None)
            }
        }
    };
    let found = service.domains.find(&key, read).await?;
    found.ok_or_else(|| refused.unwrap_or_else(|| Error::DomainNotRegistered(name.to_string())))
}

/// The account's domain as it is, if sessions may be created on it.
async fn read_domain(service: &LoginService, account: &Account, name: &DomainName) -> Result<Domain, Error> {
    let not_verified = |reason| Err(Error::DomainNotVerified { domain: name.to_string(), reason });
    let only_verified = service.settings.require_verified_domains;
    match domains::sql::find_usable(&service.store, account, name, only_verified).await? {
        Usable::Yes(domain) => Ok(*domain),
        Usable::NotRegistered => Err(Error::DomainNotRegistered(name.to_string())),
        Usable::NotVerified => not_verified("this server creates sessions for verified domains only"),
        Usable::ClaimedByAnother => not_verified("another account has verified this name or a related one"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(body: &str) -> String {
        CreateRequest::parse(Fields::parse(body.as_bytes()).unwrap()).unwrap().fingerprint().unwrap()
    }

    /// These texts are in databases: whoever changes one refuses the retries of an hour before.
    #[test]
    fn the_text_that_tells_one_creation_from_another_stays_as_it_is() {
        let least = r#"{"domain": "Shop.TEST."}"#;
        assert_eq!(fingerprint(least), r#"{"domain":"shop.test","mode":"login","flow":"cross_device"}"#);
        let most = r#"{
            "requester": {"country": "US", "user_agent": "Firefox", "ip": "203.0.113.9"}, "flow": "same_device",
            "confirm": "code", "metadata": {"return_url": "/in", "n": 1.0}, "webhook_url": "https://shop.test/a",
            "mode": "registration", "domain": "shop.test"
        }"#;
        let expected = concat!(
            r#"{"domain":"shop.test","mode":"register","webhook_url":"https://shop.test/a","#,
            r#""metadata":"{\"return_url\": \"/in\", \"n\": 1.0}","confirm":"code","flow":"same_device","#,
            r#""requester":{"ip":"203.0.113.9","country":"US","user_agent":"Firefox"}}"#
        );
        assert_eq!(fingerprint(most), expected);
    }
}
