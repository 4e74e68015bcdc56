//! `POST /account/{domain}/remove`: asks first, on a page of its own, and removes a key when its button comes.

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use signpost_platform::pages::icons::Sign;
use signpost_store::WriteError;

use super::ACCOUNT_SCRIPT;
use super::document::{headed, name};
use super::outcomes;
use super::realm_forms::failed;
use super::visit::{AccountVisit, Deed, OwnRealm};
use crate::flows::credential_end::remove_credential;
use crate::users::Credential;

/// `POST /account/{domain}/remove`: `credential`. The button of the keys asks; that of the question removes, for its token
/// is for this key and for nothing else.
pub(super) async fn remove(visit: AccountVisit, id: &str, request: Request) -> Result<Response, Response> {
    let form = visit.receive_unchecked(id, request).await?;
    let credential = form.text("credential").unwrap_or_default();
    let is_asked = visit.check(id, &form, "ask").is_ok();
    if !is_asked {
        visit.check(id, &form, &confirmed(credential)).map_err(|refusal| visit.refuse(id, refusal))?;
    }
    let own = visit.require_own(id, true).await?;
    let Some(credential) = own.find_credential(Some(credential)) else {
        return Ok(visit.to_realm(&own.domain, Some(Deed::Gone)));
    };
    if is_asked {
        return Ok(visit.page(ask(&visit, &own, credential)).into_response());
    }
    let removed = remove_credential(&visit.service.store, credential, &own.actor(), visit.now).await;
    match removed {
        Ok(()) => {}
        // It was removed in another browser, or is the last one: the page shows which.
        Err(WriteError::Conflict) => return Ok(visit.to_realm(&own.domain, Some(Deed::Nothing))),
        Err(WriteError::Internal(error)) => return Err(failed(error)),
    }
    let was_own = credential.public_key == own.who.proof.public_key;
    let document = outcomes::render_removed(&visit, &own, was_own, &signal(&visit, credential));
    Ok(visit.page(document).into_response())
}

fn confirmed(credential: &str) -> String {
    format!("remove {credential}")
}

fn ask(visit: &AccountVisit, own: &OwnRealm, credential: &Credential) -> String {
    let (words, realm, id) = (visit.words(), own.domain.id.as_str(), credential.id.as_str());
    let is_own = credential.public_key == own.who.proof.public_key;
    let question = (words.remove_question)(&name(&credential.name));
    let body = html! {
        (headed(Sign::Stop, &question, &html! { (words.remove_text) }))
        @if is_own { p { (words.remove_own) } }
        form #remove method="post" action=(visit.link(realm, "remove")) {
            (visit.token(realm, &confirmed(id)))
            input type="hidden" name="credential" value=(id);
            div.row {
                a.btn href=(visit.link(realm, "")) { (words.remove_no) }
                button.btn.danger { (words.remove_yes) }
            }
        }
    };
    visit.draw(&format!("{} · {}", words.tab_remove, own.domain.name), "remove", &body)
}

/// What tells the browser that this host knows a passkey no more: an id is of one realm alone, so nobody has it now.
fn signal(visit: &AccountVisit, credential: &Credential) -> Markup {
    let (Some(passkey), Some(rp)) = (&credential.passkey, &visit.service.relying_party) else { return html! {} };
    html! {
        script type="module" src=(ACCOUNT_SCRIPT.link(&visit.service.origin))
            data-rp=(rp.id()) data-passkey=(passkey.id) {}
    }
}
