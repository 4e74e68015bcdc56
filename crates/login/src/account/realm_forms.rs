//! The forms of a realm that change something at once: a key's name, and being signed in.

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use signpost_store::WriteError;

use super::keys_page::{BadName, draw_keys};
use super::outcomes;
use super::visit::{AccountVisit, Deed, OwnRealm};
use crate::browser_sessions;
use crate::error::Error;
use crate::flows::sign_in::sign_out_steps;
use crate::sessions::link_sql;
use crate::users::{Credential, CredentialName, credential_sql};
use signpost_platform::web::problem::Problem;

/// `POST /account/{domain}/rename`: `credential`, `name`.
pub(super) async fn rename(visit: AccountVisit, id: &str, request: Request) -> Result<Response, Response> {
    let (own, form) = visit.receive_own(id, request, ("rename", true)).await?;
    let Some(credential) = own.find_credential(form.text("credential")) else {
        return Ok(visit.to_realm(&own.domain, Some(Deed::Gone)));
    };
    let typed = form.text("name").unwrap_or_default();
    let Ok(name) = CredentialName::parse(typed) else {
        let bad = BadName { credential: credential.id.to_string(), typed: typed.chars().take(200).collect() };
        let page = visit.page(draw_keys(&visit, &own, None, Some(&bad)));
        return Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response());
    };
    let (store, by) = (&visit.service.store, own.actor());
    let renamed = credential_sql::rename_credential(store, credential, &name, &by, visit.now).await;
    match renamed {
        Ok(()) => Ok(visit.to_realm(&own.domain, Some(Deed::Renamed))),
        Err(WriteError::Conflict) => Ok(visit.to_realm(&own.domain, Some(Deed::Gone))),
        Err(WriteError::Internal(error)) => Err(failed(error)),
    }
}

/// `POST /account/{domain}/sign-out`: in this browser. No proof is asked for: it takes nothing from anybody.
pub(super) async fn sign_out(visit: AccountVisit, id: &str, request: Request) -> Result<Response, Response> {
    let (own, _) = visit.receive_own(id, request, ("sign-out", false)).await?;
    visit.service.store.write(sign_out_steps(&own.who, visit.now)).await.map_err(failed)?;
    Ok(Redirect::to(&visit.link_to_list()).into_response())
}

/// `POST /account/{domain}/sign-out-everywhere`: in all browsers. Nor here: who finds a browser open that is not theirs is
/// out as well.
pub(super) async fn sign_out_everywhere(visit: AccountVisit, id: &str, request: Request) -> Result<Response, Response> {
    let (own, _) = visit.receive_own(id, request, ("sign-out-everywhere", false)).await?;
    let (store, user) = (&visit.service.store, &own.who.user.id);
    // A page that adds a key may be open where the user is out now.
    let (by, links) = (own.actor(), link_sql::cancel_links_of(&own.domain.id, user, visit.now));
    let out = browser_sessions::sql::sign_out_everywhere(store, &own.domain.id, user, links, &by, visit.now).await;
    out.map_err(|error| Error::from(error.on_conflict(Problem::NotFound)).into_response())?;
    tracing::info!(domain = %own.domain.name, %user, "signed out in all browsers");
    Ok(visit.page(outcomes::render_signed_out(&visit, &own)).into_response())
}

impl OwnRealm {
    /// The user's own credential with this id.
    pub(super) fn find_credential(&self, id: Option<&str>) -> Option<&Credential> {
        self.who.credentials.iter().find(|own| Some(own.id.as_str()) == id)
    }

    /// Who acts here, for the audit log.
    pub(super) fn actor(&self) -> signpost_platform::accounts::audit::Actor {
        signpost_platform::accounts::audit::Actor::User(self.who.user.id.to_string())
    }
}

/// The page for a failure of ours.
pub(super) fn failed(error: anyhow::Error) -> Response {
    Error::from(error).into_response()
}
