//! The part of the account page that lists where the user is signed in, and the form that ends a sign-in.

use axum::extract::Request;
use axum::response::{Response, Result};
use maud::{Markup, html};
use signpost_platform::pages::icons::PageIcon;
use signpost_platform::web::problem::Problem;
use signpost_store::WriteError;

use super::context::{AccountContext, AccountNotice, SignedInAccount};
use super::document::day;
use crate::error::Error;
use crate::flows::sign_ins::{end_sign_in, list_sign_ins};
use crate::ids::SignInId;
use crate::sign_ins::{SignIn, SignInApplication, SignInPlace, SignInsQuery};

/// Maximum number of sign-ins on the page, the newest.
const MAX_SHOWN: u32 = 50;

/// The sign-ins on the page of an account.
#[derive(Debug)]
pub(super) struct ShownSignIns {
    sign_ins: Vec<SignIn>,
    /// Whether the user has more sign-ins.
    has_more: bool,
}

impl ShownSignIns {
    /// Reads the newest sign-ins of the user.
    pub(super) async fn find(context: &AccountContext, account: &SignedInAccount) -> Result<Self, Error> {
        let AccountContext { service, now, .. } = context;
        let (domain, user) = (&account.domain.id, &account.sign_in.user.id);
        let query = SignInsQuery { domain, user, before: None, limit: MAX_SHOWN + 1, now: *now };
        let mut sign_ins = list_sign_ins(&service.store, service.applications, query).await?;
        let has_more = sign_ins.len() > MAX_SHOWN as usize;
        sign_ins.truncate(MAX_SHOWN as usize);
        Ok(Self { sign_ins, has_more })
    }

    /// Renders the list, with a form for each sign-in except that of this browser.
    pub(super) fn render(&self, context: &AccountContext, account: &SignedInAccount) -> Markup {
        let words = context.words();
        let here = SignInId::in_browser(&account.sign_in.session.session_id);
        html! {
            h2 { (words.sign_ins) }
            ul.devices {
                @for sign_in in &self.sign_ins {
                    li { (render_sign_in(context, sign_in, sign_in.id == here)) }
                }
            }
            @if self.has_more { p.sm.soft { ((words.only_newest)(MAX_SHOWN)) } }
        }
    }
}

/// `POST /account/{domain}/end-sign-in`: ends the sign-in `sign_in` of the user. Requires no recent login, because it
/// also protects an unattended browser.
pub(super) async fn end(context: AccountContext, request: Request) -> Result<Response> {
    let form = context.receive(request, "end-sign-in").await?;
    let account = context.require_account().await?;
    let Some(id) = form.text("sign_in").and_then(SignInId::parse) else {
        return Ok(context.redirect_to_account(Some(AccountNotice::SignInNotFound)));
    };
    let AccountContext { service, now, .. } = &context;
    let owner = (&account.domain, &account.sign_in.user.id);
    match end_sign_in(&service.store, service.applications, owner, &id, &account.actor(), *now).await {
        Ok(()) => {}
        Err(WriteError::Conflict) => {
            return Ok(context.redirect_to_account(Some(AccountNotice::SignInNotFound)));
        }
        Err(WriteError::Internal(error)) => return Err(Problem::from(error).into()),
    }
    service.outbox.notify_one();
    Ok(context.redirect_to_account(Some(AccountNotice::SignInEnded)))
}

fn render_sign_in(context: &AccountContext, sign_in: &SignIn, is_here: bool) -> Markup {
    let words = context.words();
    let browser = (words.browser)(sign_in.browser.describe().as_ref());
    let (icon, name) = match &sign_in.place {
        SignInPlace::Browser => (PageIcon::Screen, browser.clone()),
        SignInPlace::Application(SignInApplication { name, host, .. }) => {
            (PageIcon::Globe, name.clone().unwrap_or_else(|| host.clone()))
        }
    };
    let last_used = day(words, sign_in.last_used_at);
    html! {
        span.ico { (icon.draw(20)) }
        div.stack-sm {
            h3 { bdi { (name) } }
            @if let SignInPlace::Application(application) = &sign_in.place {
                p.sm.soft { ((words.application)(&html! { bdi { (application.host) } }, &html! { bdi { (browser) } })) }
            }
            p.sm.soft { ((words.signed_in)(&day(words, sign_in.created_at))) " · " ((words.last_used)(&last_used)) }
            @if is_here {
                p.sm { (words.this_browser) }
            } @else {
                form id={ "end-" (sign_in.id) } method="post" action=(context.form_link("end-sign-in")) {
                    (context.token("end-sign-in"))
                    input type="hidden" name="sign_in" value=(sign_in.id);
                    button.btn.small aria-label={ (words.end_sign_in) ": " (name) } { (words.end_sign_in) }
                }
            }
        }
    }
}
