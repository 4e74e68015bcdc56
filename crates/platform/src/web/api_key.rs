//! Authenticates requests by API key and applies the rate limits of accounts, before the body is
//! read.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;
use secrecy::SecretString;

use crate::accounts::audit::Actor;
use crate::accounts::keys::{KeyGrant, KeyHash};
use crate::accounts::{Account, Environment, KeyId, KeyScopes, Scope};
use crate::limits::{Caller, Limit, release_request_slot};
use crate::shared::Platform;
use crate::web::peer::client_address;
use crate::web::problem::Problem;

/// The requirements of a group of routes: a valid API key of an environment with a scope, within a
/// rate limit.
#[derive(Clone)]
pub struct ApiKeyGuard {
    platform: Platform,
    environment: Environment,
    limit: Limit,
    scope: Scope,
}

/// The API key that authenticated a request.
#[derive(Clone, Debug)]
pub struct ApiKey {
    /// The ID of the key.
    pub id: KeyId,
    /// The secret text of the key.
    pub key: SecretString,
    /// The scopes of the key.
    pub scopes: KeyScopes,
}

impl ApiKey {
    /// Returns this key as the actor of audit log entries.
    #[must_use]
    pub fn actor(&self) -> Actor {
        Actor::Key(self.id.clone())
    }

    /// Checks that the key has a scope.
    ///
    /// # Errors
    /// Returns [`Problem::InsufficientScope`] if it does not.
    pub fn require(&self, scope: Scope) -> Result<(), Problem> {
        if self.scopes.includes(scope) {
            return Ok(());
        }
        Err(Problem::InsufficientScope { needed: scope, opened: self.scopes.clone() })
    }
}

impl ApiKeyGuard {
    /// Creates a guard for routes of an environment, which require this scope and count against
    /// this limit.
    #[must_use]
    pub fn new(platform: &Platform, environment: Environment, limit: Limit, scope: Scope) -> Self {
        Self { platform: platform.clone(), environment, limit, scope }
    }

    /// Returns the limit for a method. Listing sessions counts as reading a session.
    fn limit_of(&self, method: &Method) -> Limit {
        match self.limit {
            Limit::CreateSession if method != Method::POST => Limit::GetSession,
            limit => limit,
        }
    }

    /// Authenticates a request and counts it against its account, or against its client address if
    /// it has no valid key. Adds the [`Account`] and the [`ApiKey`] to the extensions of the
    /// request.
    ///
    /// # Errors
    /// Returns [`Problem::InvalidApiKey`], [`Problem::InsufficientScope`] or
    /// [`Problem::RateLimited`], or an error if the database cannot be read.
    pub async fn admit(&self, mut request: Request) -> Result<Request, Problem> {
        let Self { platform, scope, .. } = self;
        let limit = self.limit_of(request.method());
        let Some((grant, key)) = self.find_key(request.headers()).await? else {
            let address = client_address(platform, &request);
            platform.refusals.count(&address, "invalid_api_key");
            let caller = address.without_key();
            platform.limits.check(limit, &caller, platform.clock.elapsed()).await.map_err(Problem::RateLimited)?;
            return Err(Problem::InvalidApiKey);
        };
        release_request_slot(request.extensions());
        let caller = Caller::from(&grant.account);
        platform.limits.check(limit, &caller, platform.clock.elapsed()).await.map_err(Problem::RateLimited)?;
        if let Err(problem) = key.require(*scope) {
            platform.refusals.count(&caller, "insufficient_scope");
            return Err(problem);
        }
        request.extensions_mut().insert(grant.account.clone());
        request.extensions_mut().insert(key);
        Ok(request)
    }

    /// Returns the grant and the API key of a request if the key is valid in this environment.
    async fn find_key(&self, headers: &HeaderMap) -> Result<Option<(Arc<KeyGrant>, ApiKey)>, Problem> {
        let Some(key) = bearer(headers) else { return Ok(None) };
        let Some(grant) = find_grant(&self.platform, key, Some(self.environment)).await? else { return Ok(None) };
        let key = ApiKey { id: grant.key.clone(), key: key.into(), scopes: grant.scope.clone() };
        Ok(Some((grant, key)))
    }
}

/// Returns a function that adds an [`ApiKeyGuard`] to routes.
pub fn require_api_key<S: Clone + Send + Sync + 'static>(
    platform: &Platform,
    environment: Environment,
    limit: Limit,
    scope: Scope,
) -> impl Fn(MethodRouter<S>) -> MethodRouter<S> {
    let guard = ApiKeyGuard::new(platform, environment, limit, scope);
    move |routes| {
        let layer = from_fn_with_state(guard.clone(), authenticate);
        routes.fallback(async || Problem::MethodNotAllowed).layer(layer)
    }
}

/// Middleware that rejects requests that an [`ApiKeyGuard`] does not admit.
pub async fn authenticate(State(guard): State<ApiKeyGuard>, request: Request, next: Next) -> Response {
    match guard.admit(request).await {
        Ok(request) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// Returns the account of the API key in a request, in either environment and with any scope.
/// Returns `None` without a valid key.
///
/// # Errors
/// Returns an error if the key is not cached and the database cannot be read.
pub async fn find_account(platform: &Platform, headers: &HeaderMap) -> Result<Option<Account>, Problem> {
    let Some(key) = bearer(headers) else { return Ok(None) };
    Ok(find_grant(platform, key, None).await?.map(|grant| grant.account.clone()))
}

/// Returns the grant of a valid API key, in `environment` if given. Keys of the system account are
/// rejected.
async fn find_grant(
    platform: &Platform,
    key: &str,
    environment: Option<Environment>,
) -> Result<Option<Arc<KeyGrant>>, Problem> {
    let Some((of, hash)) = KeyHash::parse(key) else { return Ok(None) };
    if environment.is_some_and(|environment| environment != of) {
        return Ok(None);
    }
    let grant = platform.keys.find_grant(&platform.store, of, hash, platform.clock.now()).await?;
    Ok(grant.filter(|grant| !grant.account.is_server()))
}

/// Returns the bearer token of a request (RFC 6750, section 2.1).
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
        // Fails closed: a route without an API key guard has no account.
        parts.extensions.get::<Self>().cloned().ok_or(Problem::InvalidApiKey)
    }
}
