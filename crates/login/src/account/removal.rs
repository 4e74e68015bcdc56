//! `POST /account/{domain}/remove`: asks for confirmation on a separate page, and then removes a key.

use axum::extract::Request;
use axum::response::{IntoResponse, Response, Result};
use maud::{Markup, html};
use signpost_platform::pages::icons::PageIcon;
use signpost_store::WriteError;

use super::ACCOUNT_SCRIPT;
use super::context::{AccountContext, AccountNotice, OwnAccount};
use super::document::{headed, name};
use super::outcomes;
use crate::error::Error;
use crate::flows::removal::remove_credential;
use crate::users::Credential;

/// `POST /account/{domain}/remove`: `credential`. The form on the list of keys asks for confirmation. The form of the
/// confirmation page removes the key; its token is valid for this key only.
pub(super) async fn remove(context: AccountContext, request: Request) -> Result<Response> {
    let form = context.receive_unchecked(request).await?;
    let credential = form.text("credential").unwrap_or_default();
    let needs_confirmation = context.check(&form, "ask").is_ok();
    if !needs_confirmation {
        let checked = context.check(&form, &confirmed(credential));
        checked.map_err(|refusal| context.refuse(refusal))?;
    }
    let own = context.require_recent_login().await?;
    let Some(credential) = own.find_credential(Some(credential)) else {
        return Ok(context.redirect_to_account(Some(AccountNotice::Gone)));
    };
    if needs_confirmation {
        return Ok(context.page(render_confirmation(&context, &own, credential)).into_response());
    }
    match remove_credential(&context.service.store, credential, &own.actor(), context.now).await {
        Ok(()) => {}
        // It was removed in another browser, or is the last key: the page shows the reason.
        Err(WriteError::Conflict) => {
            return Ok(context.redirect_to_account(Some(AccountNotice::Unchanged)));
        }
        Err(WriteError::Internal(error)) => return Err(Error::from(error).into()),
    }
    let was_own = credential.public_key == own.sign_in.proof.public_key;
    let document = outcomes::render_removed(&context, &own, was_own, &passkey_signal(&context, credential));
    Ok(context.page(document).into_response())
}

/// Returns the purpose of the form that removes this credential.
fn confirmed(credential: &str) -> String {
    format!("remove {credential}")
}

fn render_confirmation(context: &AccountContext, own: &OwnAccount, credential: &Credential) -> String {
    let words = context.words();
    let id = credential.id.as_str();
    let is_own = credential.public_key == own.sign_in.proof.public_key;
    let question = (words.remove_question)(&name(&credential.name));
    let body = html! {
        (headed(PageIcon::Stop, &question, &html! { (words.remove_text) }))
        @if is_own { p { (words.remove_own) } }
        form #remove method="post" action=(context.form_link("remove")) {
            (context.token(&confirmed(id)))
            input type="hidden" name="credential" value=(id);
            div.row {
                a.btn href=(context.link()) { (words.remove_no) }
                button.btn.danger { (words.remove_yes) }
            }
        }
    };
    context.render(&format!("{} · {}", words.tab_remove, own.domain.name), "remove", &body)
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
