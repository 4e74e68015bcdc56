//! Who asks, and whether they may ask again so soon: before anything of the body is read.

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::account::{Account, Environment, Scope};
use crate::app::App;
use crate::error::Error;
use crate::keys::{KeyHash, Opened};
use crate::limits::{Caller, Limit};

/// What a group of addresses asks of those who come.
#[derive(Clone)]
pub(super) struct Door {
    pub(super) app: App,
    pub(super) environment: Environment,
    pub(super) limit: Limit,
    pub(super) scope: Scope,
}

/// Lets a request with a valid key in, counted for its account; one without is counted for its address.
pub(super) async fn admit(State(door): State<Door>, mut request: Request, next: Next) -> Result<Response, Error> {
    // A key of the other environment is no key here.
    let Door { app, environment, limit, scope } = door;
    let now = app.clock.now();
    let opened = match key(request.headers()) {
        Some((of, hash)) if of == environment => app.keys.opened(&app.store, of, hash, now).await?,
        _ => None,
    };
    let Some(Opened { account, scope: opened }) = opened else {
        let address = super::client_address(&app, &request);
        app.limits.check(limit, &address, now).map_err(Error::RateLimited)?;
        return Err(Error::InvalidApiKey);
    };
    let caller = Caller::Account(format!("{environment}/{}", account.name));
    app.limits.check(limit, &caller, now).map_err(Error::RateLimited)?;
    if opened != scope {
        return Err(Error::InsufficientScope { needed: scope, opened });
    }
    request.extensions_mut().insert(account);
    Ok(next.run(request).await)
}

/// The key that a request carries, if it is one of ours.
fn key(headers: &HeaderMap) -> Option<(Environment, KeyHash)> {
    let sent = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = sent.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") { KeyHash::read(key.trim()) } else { None }
}

impl<S: Send + Sync> FromRequestParts<S> for Account {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        // Fails closed: a route without a door has no account to act for.
        parts.extensions.get::<Self>().cloned().ok_or(Error::InvalidApiKey)
    }
}
