//! Renders the parts of the login page for passkeys: the login button, the field for saved
//! passkeys, and the offer to create a passkey for the next login. They need the page's script and
//! are hidden without it.

use maud::{Markup, html};
use signpost_platform::pages::icons::PageIcon;

use super::document::LoginDocument;
use super::view::PageTask;

/// Renders the button that logs in by passkey, and the field for saved passkeys.
pub(crate) fn passkey_login(page: &LoginDocument<'_>) -> Markup {
    let words = page.words();
    let button = match page.view.task {
        PageTask::LogIn => words.use_passkey,
        PageTask::Register | PageTask::Link => words.make_passkey,
    };
    html! {
        div #by-passkey .stack-sm data-passkey=(page.action("passkey")) data-answered=(words.passkey_answered) {
            button #use-passkey .btn.primary.wide.needs-passkeys type="button" { (PageIcon::Key.draw(20)) (button) }
            p.sm.soft.under.needs-passkeys { (words.passkey_lock) }
            (script_status(page))
            @if page.view.task == PageTask::LogIn {
                div.field.sm.needs-autofill {
                    label for="saved-passkeys" { (words.saved_passkeys) }
                    input #saved-passkeys autocomplete="username webauthn" aria-describedby="saved-passkeys-hint"
                        maxlength="64" spellcheck="false" autocapitalize="none";
                    p #saved-passkeys-hint .hint { (words.saved_passkeys_hint) }
                }
            }
            (page.token)
            noscript { p.sm.soft { (words.passkeys_need_script) } }
        }
    }
}

/// Renders the offer to create a passkey. The script shows it if the device supports passkeys, and continues otherwise.
pub(crate) fn passkey_offer(page: &LoginDocument<'_>) -> Markup {
    let words = page.words();
    let offer = if page.view.task == PageTask::Register { &words.single_key } else { &words.offer };
    html! {
        div #passkey-offer .stack-sm hidden data-passkey=(page.action("passkey")) data-answered=(words.passkey_answered) {
            div.notice { (PageIcon::Key.draw(20)) div { h2 { (offer.head) } p { (offer.text) } } }
            (script_status(page))
            form method="post" action=(page.action("offer")) class="stack-sm" {
                (page.token)
                button #use-passkey .btn.primary.wide type="button" { (PageIcon::Key.draw(20)) (words.make_passkey) }
                button #not-now .btn.wide name="answer" value="not_now" { (words.not_now) }
            }
        }
    }
}

/// Renders the status line for results of the script that the page itself does not show.
fn script_status(page: &LoginDocument<'_>) -> Markup {
    let words = page.words();
    html! {
        p #passkey-said .sm role="status" data-exists=((words.passkey_here)(&html! { (page.view.site.domain) }).into_string())
            data-failed=(words.passkey_failed) {}
    }
}
