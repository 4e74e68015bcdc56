//! `GET /account/{domain}`: the page that lists a user's keys, with forms to rename, add and remove
//! them, and the user's sign-ins.

use axum::http::Uri;
use axum::response::Result;
use maud::{Markup, html};
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::icons::PageIcon;

use super::context::{AccountContext, AccountNotice, NOTICE_PARAMETER, SignedInAccount, query_parameter};
use super::document::{day, domain_heading, name};
use super::outcomes;
use super::sign_ins::ShownSignIns;
use super::words::AccountWords;
use crate::users::{Credential, CredentialKind, MAX_CREDENTIALS};

/// Number of digits of a key that are shown, enough to distinguish the keys of a user.
const SHOWN_DIGITS: usize = 8;

/// A key name that was refused. The page shows it again, so that the user can correct it.
#[derive(Clone, Debug)]
pub(super) struct RefusedName {
    pub(super) credential: String,
    pub(super) typed: String,
}

/// `GET /account/{domain}`: shows the user's keys, or that the browser is not signed in.
pub(super) async fn show(context: AccountContext, uri: Uri) -> Result<HtmlPage> {
    let document = match context.find_account().await? {
        Some(account) => {
            let notice = query_parameter(&uri, NOTICE_PARAMETER).and_then(|word| AccountNotice::parse(&word));
            let sign_ins = ShownSignIns::find(&context, &account).await?;
            render_keys(&context, &account, &sign_ins, notice, None)
        }
        None => outcomes::render_not_signed_in(&context),
    };
    Ok(context.page(document))
}

/// Renders the page of an account, with the notice or the refused name of the previous action.
pub(super) fn render_keys(
    context: &AccountContext,
    account: &SignedInAccount,
    sign_ins: &ShownSignIns,
    notice: Option<AccountNotice>,
    refused: Option<&RefusedName>,
) -> String {
    let words = context.words();
    let credentials = &account.sign_in.credentials;
    let is_fresh = account.sign_in.proof.is_fresh(context.now);
    let body = html! {
        (domain_heading(words, &account.domain))
        @if let Some(refused) = refused { (name_error(words, refused)) }
        @if let Some(notice) = notice { (render_notice(words, notice)) }
        p.lead { ((words.username_line)(&html! { bdi { (account.sign_in.user.username()) } })) }
        @if credentials.len() == 1 { (only_key_warning(context, account)) }
        h2 { (words.keys) }
        ul.keys {
            @for credential in credentials {
                li {
                    span.ico { (icon(credential.kind).draw(20)) }
                    div.stack-sm {
                        (facts(words, account, credential))
                        @if is_fresh { (change_forms(context, account, credential, refused)) }
                    }
                }
            }
        }
        @if !is_fresh {
            (outcomes::old_login(context))
        } @else if credentials.len() < MAX_CREDENTIALS as usize {
            div.stack-sm {
                form #add method="post" action=(context.form_link("add")) {
                    (context.token("add"))
                    button.btn.primary.wide { (PageIcon::Key.draw(20)) (words.add_key) }
                }
                p.sm.soft { (words.add_hint) }
            }
        } @else {
            p.soft { (words.max_keys_reached) }
        }
        (sign_ins.render(context, account))
        (sign_out(context, account))
        p { a href=(context.link_to_list()) { (words.all_accounts) } }
    };
    context.render(&(words.tab_keys)(account.domain.name.as_str()), "account", &body)
}

fn render_notice(words: &AccountWords, notice: AccountNotice) -> Markup {
    let (class, icon, text) = match notice {
        AccountNotice::KeyRenamed => ("notice ok", PageIcon::Tick, words.renamed),
        AccountNotice::KeyAdded => ("notice ok", PageIcon::Tick, words.key_added),
        AccountNotice::KeyNotFound => ("notice", PageIcon::Info, words.key_not_found),
        AccountNotice::Unchanged => ("notice", PageIcon::Info, words.nothing_changed),
        AccountNotice::SignInEnded => ("notice ok", PageIcon::Tick, words.sign_in_ended),
        AccountNotice::SignInNotFound => ("notice", PageIcon::Info, words.sign_in_not_found),
    };
    html! { div class=(class) role="status" { (icon.draw(20)) p { (text) } } }
}

fn name_error(words: &AccountWords, refused: &RefusedName) -> Markup {
    html! {
        div #errors .notice.danger role="alert" tabindex="-1" autofocus {
            (PageIcon::Stop.draw(20))
            p { a href={ "#name-" (refused.credential) } { (words.invalid_name) } }
        }
    }
}

fn only_key_warning(context: &AccountContext, account: &SignedInAccount) -> Markup {
    let words = context.words();
    html! {
        div.notice.warn {
            (PageIcon::Info.draw(20))
            p { b { (words.single_key) } " " ((words.only_key)(&name(account.domain.name.as_str()))) }
        }
    }
}

fn facts(words: &AccountWords, account: &SignedInAccount, credential: &Credential) -> Markup {
    let digits = &credential.public_key[credential.public_key.len().saturating_sub(SHOWN_DIGITS)..];
    html! {
        h3 { bdi { (credential.name) } }
        p.sm.soft {
            ((words.kind)(credential.kind)) " · " ((words.ends_in)(&html! { code { (digits) } }))
            " · " ((words.added)(&day(words, credential.added_at)))
            " · "
            @match credential.last_used_at {
                Some(at) => ((words.last_used)(&day(words, at))),
                None => (words.never_used),
            }
        }
        @if credential.public_key == account.sign_in.proof.public_key { p.sm { (words.signed_in_with) } }
    }
}

/// Renders the forms that rename and remove a key.
fn change_forms(
    context: &AccountContext,
    account: &SignedInAccount,
    credential: &Credential,
    refused: Option<&RefusedName>,
) -> Markup {
    let words = context.words();
    let id = credential.id.as_str();
    let key = credential.name.as_str();
    let refused = refused.filter(|refused| refused.credential == id);
    let typed = refused.map_or(key, |refused| &refused.typed);
    html! {
        details open[refused.is_some()] {
            summary aria-label={ (words.change) ": " (key) } { (words.change) }
            div.stack {
                form id={ "rename-" (id) } method="post" action=(context.form_link("rename")) {
                    (context.token("rename"))
                    input type="hidden" name="credential" value=(id);
                    div class={ "field" @if refused.is_some() { " bad" } } {
                        label for={ "name-" (id) } { (words.name) }
                        input id={ "name-" (id) } name="name" value=(typed) required maxlength="60" autocomplete="off"
                            aria-describedby={ "hint-" (id) } aria-invalid=[refused.map(|_| "true")];
                        @if refused.is_some() {
                            span.error id={ "hint-" (id) } { (PageIcon::Stop.draw(16)) (words.invalid_name) }
                        } @else {
                            span.hint id={ "hint-" (id) } { (words.name_hint) }
                        }
                    }
                    button.btn.small { (words.save_name) }
                }
                @if account.sign_in.credentials.len() > 1 {
                    form id={ "remove-" (id) } method="post" action=(context.form_link("remove")) {
                        (context.token("ask"))
                        input type="hidden" name="credential" value=(id);
                        button.btn.small.danger aria-label={ (words.remove) ": " (key) } { (words.remove) }
                    }
                } @else {
                    p.sm.soft { (words.last_key) }
                }
            }
        }
    }
}

fn sign_out(context: &AccountContext, account: &SignedInAccount) -> Markup {
    let words = context.words();
    html! {
        h2 { (words.sign_out) }
        p.sm.soft { ((words.sign_out_text)(&name(account.domain.name.as_str()))) }
        div.row {
            (sign_out_form(context, "sign-out", words.sign_out_here))
            (sign_out_form(context, "sign-out-everywhere", words.sign_out_everywhere))
        }
    }
}

fn sign_out_form(context: &AccountContext, form: &str, button: &str) -> Markup {
    html! {
        form id=(form) method="post" action=(context.form_link(form)) {
            (context.token(form))
            button.btn { (button) }
        }
    }
}

fn icon(kind: CredentialKind) -> PageIcon {
    match kind {
        CredentialKind::Wallet => PageIcon::Wallet,
        CredentialKind::Lightning => PageIcon::Lightning,
        CredentialKind::Passkey => PageIcon::Key,
    }
}
