//! Handler of `POST /account/{domain}/remove`: asks for confirmation on a separate page, and then
//! removes a key.

use axum::extract::Request;
use axum::response::{IntoResponse, Response, Result};
use maud::{Markup, html};
use signpost_platform::pages::icons::PageIcon;
use signpost_store::WriteError;

use super::ACCOUNT_SCRIPT;
use super::context::{AccountContext, AccountNotice, SignedInAccount};
use super::document::{headed, name};
use super::outcomes;
use crate::error::Error;
use crate::flows::removal::remove_credential;
use crate::users::Credential;

/// `POST /account/{domain}/remove`: removes the key `credential`. The form on the list of keys
/// leads to a confirmation page; the form on that page removes the key, and its CSRF token is valid
/// for this key only.
pub(super) async fn remove(context: AccountContext, request: Request) -> Result<Response> {
    let form = context.receive_unchecked(request).await?;
    let credential = form.text("credential").unwrap_or_default();
    let needs_confirmation = context.check(&form, "ask").is_ok();
    if !needs_confirmation {
        let checked = context.check(&form, &confirmed(credential));
        checked.map_err(|refusal| context.refuse(refusal))?;
    }
    let account = context.require_recent_login().await?;
    let Some(credential) = account.find_credential(Some(credential)) else {
        return Ok(context.redirect_to_account(Some(AccountNotice::KeyNotFound)));
    };
    if needs_confirmation {
        return Ok(context.page(render_confirmation(&context, &account, credential)).into_response());
    }
    match remove_credential(&context.service.store, &account.domain, credential, &account.actor(), context.now).await {
        Ok(()) => {}
        // The key was removed in another browser, or is the user's last key. The page shows the
        // reason.
        Err(WriteError::Conflict) => {
            return Ok(context.redirect_to_account(Some(AccountNotice::Unchanged)));
        }
        Err(WriteError::Internal(error)) => return Err(Error::from(error).into()),
    }
    let was_own = credential.public_key == account.sign_in.proof.public_key;
    let document = outcomes::render_removed(&context, &account, was_own, &passkey_signal(&context, credential));
    Ok(context.page(document).into_response())
}

/// Returns the purpose of the form that removes this credential.
fn confirmed(credential: &str) -> String {
    format!("remove {credential}")
}

fn render_confirmation(context: &AccountContext, account: &SignedInAccount, credential: &Credential) -> String {
    let words = context.words();
    let id = credential.id.as_str();
    let is_own = credential.public_key == account.sign_in.proof.public_key;
    let question = (words.remove_question)(&name(&credential.name));
    let body = html! {
        (headed(PageIcon::Stop, &question, &html! { (words.remove_text) }))
        @if is_own { p { (words.remove_own) } }
        form #remove method="post" action=(context.form_link("remove")) {
            (context.token(&confirmed(id)))
            input type="hidden" name="credential" value=(id);
            div.row {
                a.btn href=(context.link()) { (words.cancel_removal) }
                button.btn.danger { (words.confirm_removal) }
            }
        }
    };
    context.render(&format!("{} · {}", words.tab_remove, account.domain.name), "remove", &body)
}

/// Returns the script that signals the removal of a passkey to the browser. No other domain has a passkey with this ID.
fn passkey_signal(context: &AccountContext, credential: &Credential) -> Markup {
    let Some(passkey) = &credential.passkey else { return html! {} };
    let Some(rp) = &context.service.relying_party else { return html! {} };
    html! {
        script type="module" src=(ACCOUNT_SCRIPT.link(&context.service.origin))
            data-rp=(rp.id()) data-passkey=(passkey.id) {}
    }
}
