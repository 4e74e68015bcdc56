//! Renders the notices above the code: that an answer was refused or had an unknown key, and that
//! the server does not respond.

use maud::{Markup, html};
use signpost_platform::pages::icons::PageIcon;

use super::document::{LoginDocument, name};
use super::state::{PageState, Refusal};
use super::view::PageTask;
use super::words::LoginWords;

/// Returns the state in a sentence, for screen readers.
pub(crate) fn status_text(page: &LoginDocument<'_>, waiting: &str) -> String {
    match &page.view.state {
        PageState::Create => page.words().create.head.to_owned(),
        PageState::Refused(refusal) => refusal_head(page, refusal, |text| html! { (text) }).into_string(),
        _ => waiting.to_owned(),
    }
}

/// Renders the reason why an answer was refused, or the notice of an unknown key.
pub(crate) fn notice(page: &LoginDocument<'_>) -> Markup {
    let words = page.words();
    let (class, icon, head, text) = match &page.view.state {
        PageState::Create => {
            let text = (words.create.text)(&page.domain(), &page.host());
            ("notice", PageIcon::Info, html! { (words.create.head) }, text)
        }
        PageState::Refused(refusal) => {
            ("notice danger", PageIcon::Stop, refusal_head(page, refusal, name), refusal_text(page, refusal))
        }
        _ => return html! {},
    };
    html! { div #notice class=(class) { (icon.draw(20)) div { h2 { (head) } p { (text) } } } }
}

/// Returns true if the notice concerns a passkey. It is then shown at the button for passkeys instead of above the
/// code.
pub(crate) fn concerns_passkey(page: &LoginDocument<'_>) -> bool {
    matches!(
        page.view.state,
        PageState::Refused(Refusal::OtherSite { .. } | Refusal::UnknownPasskey | Refusal::Passkey)
    )
}

/// Renders the heading of a refusal. `named` renders the names in it.
fn refusal_head(page: &LoginDocument<'_>, refusal: &Refusal, named: fn(&str) -> Markup) -> Markup {
    let words = page.words();
    let domain = named(&page.view.site.domain);
    match refusal {
        Refusal::Number { .. } => html! { (words.wrong_number.head) },
        Refusal::OtherUser { .. } => html! { (words.other_user.head) },
        Refusal::Host => html! { (words.wrong_host.head) },
        Refusal::Clock { seconds_off } => html! { ((words.clock_off)(*seconds_off)) },
        Refusal::Replaced => html! { (words.replaced.head) },
        Refusal::Closed => (words.closed_head)(&domain),
        Refusal::KeyKnown | Refusal::KeyTaken => html! { (words.key_known.head) },
        Refusal::TooManyKeys => html! { (words.too_many_keys.head) },
        Refusal::OtherSite { domain } => (words.other_site_head)(&named(domain)),
        Refusal::UnknownPasskey => (words.unknown_passkey_head)(&domain),
        Refusal::Passkey => html! { (words.passkey_refused.head) },
    }
}

/// Renders the explanation of a refusal, and the next step of the user.
fn refusal_text(page: &LoginDocument<'_>, refusal: &Refusal) -> Markup {
    let words = page.words();
    let domain = page.domain();
    let host = page.host();
    match refusal {
        Refusal::Number { tries_left } => html! { (words.wrong_number.text) " " ((words.tries_left)(*tries_left)) },
        Refusal::OtherUser { tries_left } => html! { (words.other_user.text) " " ((words.tries_left)(*tries_left)) },
        Refusal::Host => (words.wrong_host.text)(&domain, &host),
        Refusal::Clock { .. } => html! { (words.clock_advice) },
        Refusal::Replaced => html! { (words.replaced.text) },
        Refusal::Closed => (words.closed)(&domain),
        Refusal::KeyKnown if page.view.task == PageTask::Register => (words.key_known_here)(&domain),
        Refusal::KeyKnown => (words.key_known.text)(&domain, &host),
        Refusal::KeyTaken => (words.key_taken)(&domain),
        Refusal::TooManyKeys => html! { (words.too_many_keys.text) },
        Refusal::OtherSite { .. } => (words.other_site)(&domain),
        Refusal::UnknownPasskey => html! { (words.unknown_passkey) },
        Refusal::Passkey => html! { (words.passkey_refused.text) },
    }
}

/// Renders the notice that the script shows while the server does not respond.
pub(crate) fn offline_notice(words: &LoginWords) -> Markup {
    html! {
        div #away .notice.warn hidden {
            (PageIcon::Clock.draw(20))
            div {
                h2 { (words.offline.head) }
                p {
                    ((words.offline_retry)(&html! { b #away-seconds { "5" } })) " " (words.offline.text) " "
                    button #try-now .link type="button" { (words.try_now) }
                }
            }
        }
    }
}
