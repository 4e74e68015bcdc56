//! Handlers of the account forms that need no confirmation page: renaming a key, and signing out.

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response, Result};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::pages::HtmlPage;
use signpost_platform::web::problem::Problem;
use signpost_store::WriteError;

use super::context::{AccountContext, AccountNotice, SignedInAccount};
use super::keys_page::{RefusedName, render_keys};
use super::outcomes;
use super::sign_ins::ShownSignIns;
use crate::error::Error;
use crate::flows::sign_in::sign_out_statements;
use crate::flows::sign_ins::end_all_sign_ins;
use crate::users::credential_sql::rename_credential;
use crate::users::{Credential, CredentialName};

/// `POST /account/{domain}/rename`: renames the key `credential` to `name`.
pub(super) async fn rename(context: AccountContext, request: Request) -> Result<Response> {
    let form = context.receive(request, "rename").await?;
    let account = context.require_recent_login().await?;
    let Some(credential) = account.find_credential(form.text("credential")) else {
        return Ok(context.redirect_to_account(Some(AccountNotice::KeyNotFound)));
    };
    let typed = form.text("name").unwrap_or_default();
    let Ok(name) = CredentialName::parse(typed) else {
        let refused = RefusedName { credential: credential.id.to_string(), typed: typed.chars().take(200).collect() };
        let sign_ins = ShownSignIns::find(&context, &account).await?;
        let page = context.page(render_keys(&context, &account, &sign_ins, None, Some(&refused)));
        return Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response());
    };
    match rename_credential(&context.service.store, credential, &name, &account.actor(), context.now).await {
        Ok(()) => Ok(context.redirect_to_account(Some(AccountNotice::KeyRenamed))),
        Err(WriteError::Conflict) => Ok(context.redirect_to_account(Some(AccountNotice::KeyNotFound))),
        Err(WriteError::Internal(error)) => Err(Error::from(error).into()),
    }
}

/// `POST /account/{domain}/sign-out`: signs out in this browser. Requires no recent login.
pub(super) async fn sign_out(context: AccountContext, request: Request) -> Result<Redirect> {
    context.receive(request, "sign-out").await?;
    let account = context.require_account().await?;
    let statements = sign_out_statements(&account.sign_in, Some(&account.domain), context.now);
    context.service.store.write(statements).await.map_err(Error::from)?;
    context.service.outbox.notify_one();
    Ok(Redirect::to(&context.link_to_list()))
}

/// `POST /account/{domain}/sign-out-everywhere`: signs the user out in all browsers. Requires no
/// recent login, because a sign-out also protects an unattended browser.
pub(super) async fn sign_out_everywhere(context: AccountContext, request: Request) -> Result<HtmlPage> {
    context.receive(request, "sign-out-everywhere").await?;
    let account = context.require_account().await?;
    let user = &account.sign_in.user.id;
    let ended = end_all_sign_ins(&context.service.store, (&account.domain, user), &account.actor(), context.now).await;
    ended.map_err(|error| Error::from(error.on_conflict(Problem::NotFound)))?;
    context.service.outbox.notify_one();
    tracing::info!(domain = %account.domain.name, %user, "signed out in all browsers");
    Ok(context.page(outcomes::render_signed_out(&context, &account)))
}

impl SignedInAccount {
    /// Returns the user's own credential with this ID.
    pub(super) fn find_credential(&self, id: Option<&str>) -> Option<&Credential> {
        self.sign_in.credentials.iter().find(|credential| Some(credential.id.as_str()) == id)
    }

    /// Returns the user as the actor of audit log entries.
    pub(super) fn actor(&self) -> Actor {
        Actor::User(self.sign_in.user.id.to_string())
    }
}
