//! Who asks, and whether they may ask again so soon: before anything of the body is read.

use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;
use secrecy::{ExposeSecret, SecretString};

use crate::accounts::audit::Actor;
use crate::accounts::keys::KeyHash;
use crate::accounts::{Account, Environment, KeyId, Scope};
use crate::limits::{Caller, Limit, release_in_progress};
use crate::shared::Platform;
use crate::web::around::{Behind, Surround, Surrounding};
use crate::web::problem::Problem;

/// What a group of addresses requires of a request: a key of an environment with a scope, and a limit not exceeded.
#[derive(Clone)]
pub struct Door {
    platform: Platform,
    environment: Environment,
    limit: Limit,
    scope: Scope,
}

impl Surrounding for Door {
    async fn answer(self, request: Request, behind: Behind) -> Response {
        match self.admit(request).await {
            Ok(request) => behind.answer(request).await,
            Err(problem) => problem.into_response(),
        }
    }
}

/// The key that a request came with.
#[derive(Clone, Debug)]
pub struct ApiKey {
    /// Its name.
    pub id: KeyId,
    /// All of it.
    pub key: SecretString,
}

impl ApiKey {
    /// Whoever holds it, as the audit log names them.
    #[must_use]
    pub fn actor(&self) -> Actor {
        Actor::Key(self.id.clone())
    }
}

impl Door {
    /// A door to addresses of an environment, which need a key with this scope and count against this limit.
    #[must_use]
    pub fn new(platform: &Platform, environment: Environment, limit: Limit, scope: Scope) -> Self {
        Self { platform: platform.clone(), environment, limit, scope }
    }

    /// Listing sessions is reading, whatever opening them is.
    fn limit_of(&self, method: &Method) -> Limit {
        match self.limit {
            Limit::CreateSession if method != Method::POST => Limit::GetSession,
            limit => limit,
        }
    }

    /// Lets a request with a valid key in, counted for its account; one without is counted for its address.
    ///
    /// # Errors
    /// Where the key is missing, unknown or of another scope, or the limit is exceeded.
    pub async fn admit(&self, mut request: Request) -> Result<Request, Problem> {
        let Self { platform, environment, scope, .. } = self;
        let (limit, now) = (self.limit_of(request.method()), platform.clock.now());
        // A key of the other environment is no key here.
        let sent = bearer(request.headers()).map(SecretString::from);
        let opened = match sent.as_ref().and_then(|key| KeyHash::parse(key.expose_secret())) {
            Some((of, hash)) if of == *environment => platform.keys.find_grant(&platform.store, of, hash, now).await?,
            _ => None,
        };
        let Some(grant) = opened.filter(|grant| !grant.account.is_server()) else {
            let address = crate::web::peer::client_address(platform, &request);
            platform.refusals.count(&address, "invalid_api_key");
            let caller = address.without_key();
            platform.limits.check(limit, &caller, platform.clock.elapsed()).await.map_err(Problem::RateLimited)?;
            return Err(Problem::InvalidApiKey);
        };
        release_in_progress(request.extensions());
        let caller = Caller::from(&grant.account);
        platform.limits.check(limit, &caller, platform.clock.elapsed()).await.map_err(Problem::RateLimited)?;
        if grant.scope != *scope {
            platform.refusals.count(&caller, "insufficient_scope");
            return Err(Problem::InsufficientScope { needed: *scope, opened: grant.scope });
        }
        request.extensions_mut().insert(grant.account.clone());
        if let Some(sent) = sent {
            request.extensions_mut().insert(ApiKey { id: grant.key.clone(), key: sent });
        }
        Ok(request)
    }
}

/// Lets those in who have a key for `scope`, each as often as `limit` says.
pub fn door<S: Clone + Send + Sync + 'static>(
    platform: &Platform,
    environment: Environment,
    limit: Limit,
    scope: Scope,
) -> impl Fn(MethodRouter<S>) -> MethodRouter<S> {
    let door = Door::new(platform, environment, limit, scope);
    move |routes| routes.fallback(async || Problem::MethodNotAllowed).layer(Surround(door.clone()))
}

/// Returns the account of the API key that a request carries, of either environment and of any scope; `None` if it carries
/// no valid key.
///
/// # Errors
/// If the key is not cached and the database cannot be read.
pub async fn find_account(platform: &Platform, headers: &HeaderMap) -> Result<Option<Account>, Problem> {
    let Some((environment, hash)) = bearer(headers).and_then(KeyHash::parse) else { return Ok(None) };
    let grant = platform.keys.find_grant(&platform.store, environment, hash, platform.clock.now()).await?;
    Ok(grant.map(|grant| grant.account.clone()).filter(|account| !account.is_server()))
}

/// The bearer that a request carries.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let sent = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = sent.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

impl<S: Send + Sync> FromRequestParts<S> for ApiKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get::<Self>().cloned().ok_or(Problem::InvalidApiKey)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Account {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        // Fails closed: a route without a door has no account to act for.
        parts.extensions.get::<Self>().cloned().ok_or(Problem::InvalidApiKey)
    }
}
