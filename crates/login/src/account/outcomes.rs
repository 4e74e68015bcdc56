//! Account pages for the results of a request, such as a refused form or a login that is too old.

use maud::{Markup, html};
use signpost_platform::pages::icons::PageIcon;

use super::context::{AccountContext, SignedInAccount};
use super::document::{domain_heading, headed, message, name};

/// Renders the page for a browser that is not signed in at a domain, and for an unknown domain.
pub(super) fn render_not_signed_in(context: &AccountContext) -> String {
    let words = context.words();
    let body = html! {
        (message(PageIcon::Key, &words.not_signed_in))
        (login_form(context, words.log_in))
        p { a href=(context.link_to_list()) { (words.all_accounts) } }
    };
    context.render(words.tab_signed_out, "signed-out", &body)
}

/// Renders the page for a domain without logins.
pub(super) fn render_no_login(context: &AccountContext) -> String {
    let words = context.words();
    let body = html! {
        (message(PageIcon::Stop, &words.no_login))
        div.stack-sm { a.btn.primary.wide href=(context.link_to_list()) { (words.all_accounts) } }
    };
    context.render(words.tab_signed_out, "no-login", &body)
}

/// Renders the page for a refused form.
pub(super) fn render_stale(context: &AccountContext) -> String {
    let words = context.words();
    let body = html! {
        (message(PageIcon::Stop, &words.form_refused))
        div.stack-sm { a.btn.primary.wide href=(context.link()) { (words.reload) } }
    };
    context.render(words.tab_stale, "stale", &body)
}

/// Renders the page for a change that requires a recent login.
pub(super) fn render_old_login(context: &AccountContext, account: &SignedInAccount) -> String {
    let words = context.words();
    let body = html! { (domain_heading(words, &account.domain)) (old_login(context)) };
    context.render(&(words.tab_keys)(account.domain.name.as_str()), "log-in-again", &body)
}

/// Renders the request to log in again before a change.
pub(super) fn old_login(context: &AccountContext) -> Markup {
    let words = context.words();
    html! {
        div.notice { (PageIcon::Clock.draw(20)) div { p { b { (words.login_too_old.head) } } p.sm { (words.login_too_old.text) } } }
        (login_form(context, words.log_in_again))
    }
}

/// Renders the page after a key was removed.
pub(super) fn render_removed(
    context: &AccountContext,
    account: &SignedInAccount,
    was_own: bool,
    signal: &Markup,
) -> String {
    let words = context.words();
    let text = if was_own { words.removed_own } else { words.removed.text };
    let body = html! {
        (headed(PageIcon::Tick, &html! { (words.removed.head) }, &html! { (text) }))
        @if was_own {
            (login_form(context, words.log_in_again))
        } @else {
            div.stack-sm { a.btn.primary.wide href=(context.link()) { (words.back_to_keys) } }
        }
        (signal)
    };
    context.render(&format!("{} · {}", words.tab_removed, account.domain.name), "removed", &body)
}

/// Renders the page after the user was signed out in all browsers.
pub(super) fn render_signed_out(context: &AccountContext, account: &SignedInAccount) -> String {
    let words = context.words();
    let body = html! {
        (message(PageIcon::Tick, &words.signed_out_everywhere))
        p { ((words.sign_out_text)(&name(account.domain.name.as_str()))) }
        (login_form(context, words.log_in))
    };
    context.render(words.tab_signed_out, "signed-out", &body)
}

/// Renders the form that leads to the login page of a domain.
fn login_form(context: &AccountContext, button: &str) -> Markup {
    html! {
        form #login method="post" action=(context.form_link("login")) {
            (context.token("login"))
            @if let Some(next) = &context.next { input type="hidden" name="next" value=(next); }
            button.btn.primary.wide { (PageIcon::Key.draw(20)) (button) }
        }
    }
}
