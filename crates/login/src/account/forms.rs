//! Forms of an account without a confirmation page: renaming a key, and signing out.

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response, Result};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::pages::HtmlPage;
use signpost_platform::web::problem::Problem;
use signpost_store::WriteError;

use super::context::{AccountContext, AccountNotice, OwnAccount};
use super::keys_page::{RefusedName, render_keys};
use super::outcomes;
use crate::browser_sessions;
use crate::error::Error;
use crate::flows::sign_in::sign_out_statements;
use crate::sessions::link_sql;
use crate::users::credential_sql::rename_credential;
use crate::users::{Credential, CredentialName};

/// `POST /account/{domain}/rename`: `credential`, `name`.
pub(super) async fn rename(context: AccountContext, request: Request) -> Result<Response> {
    let form = context.receive(request, "rename").await?;
    let own = context.require_recent_login().await?;
    let Some(credential) = own.find_credential(form.text("credential")) else {
        return Ok(context.redirect_to_account(Some(AccountNotice::Gone)));
    };
    let typed = form.text("name").unwrap_or_default();
    let Ok(name) = CredentialName::parse(typed) else {
        let refused = RefusedName { credential: credential.id.to_string(), typed: typed.chars().take(200).collect() };
        let page = context.page(render_keys(&context, &own, None, Some(&refused)));
        return Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response());
    };
    match rename_credential(&context.service.store, credential, &name, &own.actor(), context.now).await {
        Ok(()) => Ok(context.redirect_to_account(Some(AccountNotice::Renamed))),
        Err(WriteError::Conflict) => Ok(context.redirect_to_account(Some(AccountNotice::Gone))),
        Err(WriteError::Internal(error)) => Err(Error::from(error).into()),
    }
}

/// `POST /account/{domain}/sign-out`: signs out in this browser. Requires no recent login.
pub(super) async fn sign_out(context: AccountContext, request: Request) -> Result<Redirect> {
    context.receive(request, "sign-out").await?;
    let own = context.require_own().await?;
    context.service.store.write(sign_out_statements(&own.sign_in, context.now)).await.map_err(Error::from)?;
    Ok(Redirect::to(&context.link_to_list()))
}

/// `POST /account/{domain}/sign-out-everywhere`: signs out in all browsers. Requires no recent login: another person at
/// an open browser loses access too.
pub(super) async fn sign_out_everywhere(context: AccountContext, request: Request) -> Result<HtmlPage> {
    context.receive(request, "sign-out-everywhere").await?;
    let own = context.require_own().await?;
    let store = &context.service.store;
    let user = &own.sign_in.user.id;
    // A page that adds a key may be open in a browser that is signed out now.
    let cancel_links = link_sql::cancel_links_of(&own.domain.id, user, context.now);
    browser_sessions::sql::sign_out_everywhere(store, &own.domain.id, user, cancel_links, &own.actor(), context.now)
        .await
        .map_err(|error| Error::from(error.on_conflict(Problem::NotFound)))?;
    tracing::info!(domain = %own.domain.name, %user, "signed out in all browsers");
    Ok(context.page(outcomes::render_signed_out(&context, &own)))
}

impl OwnAccount {
    /// Returns the user's own credential with this ID.
    pub(super) fn find_credential(&self, id: Option<&str>) -> Option<&Credential> {
        self.sign_in.credentials.iter().find(|own| Some(own.id.as_str()) == id)
    }

    /// Returns the user as the actor of audit log entries.
    pub(super) fn actor(&self) -> Actor {
        Actor::User(self.sign_in.user.id.to_string())
    }
}
