//! Account pages that say what became of a visit: nobody is signed in, a form was refused, a proof is too old.

use maud::{Markup, html};
use signpost_platform::pages::icons::Sign;

use super::document::{domain_heading, headed};
use super::visit::{AccountVisit, OwnRealm};
use super::words::Said;

/// Nobody is signed in there, or nothing is there.
pub(super) fn render_out(visit: &AccountVisit, id: &str) -> String {
    let words = visit.words();
    let body = html! {
        (said(Sign::Key, &words.not_signed_in))
        (login_form(visit, id, words.log_in))
        p { a href=(visit.link_to_list()) { (words.all_accounts) } }
    };
    visit.draw(words.tab_out, "signed-out", &body)
}

/// Nobody can log in there.
pub(super) fn render_no_login(visit: &AccountVisit) -> String {
    let words = visit.words();
    let body = html! {
        (said(Sign::Stop, &words.no_login))
        div.stack-sm { a.btn.primary.wide href=(visit.link_to_list()) { (words.all_accounts) } }
    };
    visit.draw(words.tab_out, "no-login", &body)
}

/// A form was refused, and nothing was done.
pub(super) fn render_stale(visit: &AccountVisit, id: &str) -> String {
    let words = visit.words();
    let body = html! {
        (said(Sign::Stop, &words.stale))
        div.stack-sm { a.btn.primary.wide href=(visit.link(id, "")) { (words.show_again) } }
    };
    visit.draw(words.tab_stale, "stale", &body)
}

/// The last login is too long ago for what was asked.
pub(super) fn render_old_proof(visit: &AccountVisit, own: &OwnRealm) -> String {
    let words = visit.words();
    let body = html! { (domain_heading(words, &own.domain)) (old_proof(visit, own)) };
    visit.draw(&(words.tab_keys)(own.domain.name.as_str()), "log-in-again", &body)
}

/// That the person logs in again before anything changes.
pub(super) fn old_proof(visit: &AccountVisit, own: &OwnRealm) -> Markup {
    let words = visit.words();
    html! {
        div.notice { (Sign::Clock.draw(20)) div { p { b { (words.old_proof.head) } } p.sm { (words.old_proof.text) } } }
        (login_form(visit, own.domain.id.as_str(), words.log_in_again))
    }
}

/// A key was removed.
pub(super) fn render_removed(visit: &AccountVisit, own: &OwnRealm, was_own: bool, signal: &Markup) -> String {
    let words = visit.words();
    let text = if was_own { words.removed_own } else { words.removed.text };
    let id = own.domain.id.as_str();
    let body = html! {
        (headed(Sign::Tick, &html! { (words.removed.head) }, &html! { (text) }))
        @if was_own {
            (login_form(visit, id, words.log_in_again))
        } @else {
            div.stack-sm { a.btn.primary.wide href=(visit.link(id, "")) { (words.back_to_keys) } }
        }
        (signal)
    };
    visit.draw(&format!("{} · {}", words.tab_removed, own.domain.name), "removed", &body)
}

/// The user is signed out in all browsers.
pub(super) fn render_signed_out(visit: &AccountVisit, own: &OwnRealm) -> String {
    let words = visit.words();
    let body = html! {
        (said(Sign::Tick, &words.signed_out_everywhere))
        p { ((words.sign_out_text)(&super::document::name(own.domain.name.as_str()))) }
        (login_form(visit, own.domain.id.as_str(), words.log_in))
    };
    visit.draw(words.tab_out, "signed-out", &body)
}

/// The button that leads to the login page of a domain.
pub(super) fn login_form(visit: &AccountVisit, id: &str, button: &str) -> Markup {
    html! {
        form #login method="post" action=(visit.link(id, "login")) {
            (visit.token(id, "login"))
            @if let Some(next) = &visit.next { input type="hidden" name="next" value=(next); }
            button.btn.primary.wide { (Sign::Key.draw(20)) (button) }
        }
    }
}

fn said(sign: Sign, said: &Said) -> Markup {
    headed(sign, &html! { (said.head) }, &html! { (said.text) })
}

impl AccountVisit {
    /// The address of the list of realms.
    pub(super) fn link_to_list(&self) -> String {
        format!("{}?lang={}", self.service.origin.link("/account"), self.language.tag())
    }
}
