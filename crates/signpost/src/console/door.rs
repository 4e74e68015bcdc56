//! Pages at the console's door, for whoever is not in it.

use maud::{Markup, html};
use signpost_login::domains::Domain;
use signpost_platform::origin::PublicOrigin;
use signpost_platform::pages::Language;
use signpost_platform::pages::form::FormToken;
use signpost_platform::pages::frame::{Frame, Layout};
use signpost_platform::pages::icons::Sign;

use super::{CONSOLE_SCRIPT, CONSOLE_STYLES, Console};

/// What pages for people who are not in the console load too.
pub(super) fn console_head(origin: &PublicOrigin) -> Markup {
    html! {
        link rel="stylesheet" href=(CONSOLE_STYLES.link(origin));
        script type="module" src=(CONSOLE_SCRIPT.link(origin)) {}
    }
}

/// A page before somebody is in the console: its tab, the word in `data-state`, and what stands in it.
pub(super) fn draw_door(console: &Console, title: &str, state: &str, body: &Markup) -> String {
    let main = html! {
        main #main .sheet.one tabindex="-1" data-state=(state) {
            section.who aria-labelledby="t" { (body) }
        }
    };
    let title = format!("{title} · Console");
    let frame = Frame::new(Language::English, &title, &console.origin, Layout::Sheet, main);
    Frame { is_translated: false, head: console_head(&console.origin), ..frame }.render()
}

/// A sign, a heading and a line, as pages at the door begin.
pub(super) fn headed(sign: Sign, title: &str, text: &str) -> Markup {
    html! {
        (sign.draw(40))
        div.stack-sm { h1 #t { (title) } p.lead { (text) } }
    }
}

/// The button that logs somebody in at the server's own domain and leads back to a path.
pub(super) fn login_button(
    console: &Console,
    domain: &Domain,
    token: &FormToken,
    (back, words): (&str, &str),
) -> Markup {
    html! {
        form #login method="post" action=(console.origin.link(&format!("/account/{}/login", domain.id))) {
            (token)
            input type="hidden" name="next" value=(back);
            button.btn.primary.wide { (words) }
        }
    }
}

/// Nobody is signed in.
pub(super) fn render_login(console: &Console, domain: &Domain, token: &FormToken, back: &str) -> String {
    let body = html! {
        (headed(Sign::Key, "Log in to the console", "It is for the operators of this server."))
        (login_button(console, domain, token, (back, "Log in")))
        p.sm.soft { "No operator yet? " code { "signpost console link" } " prints a link that makes you one." }
    };
    draw_door(console, "Log in", "login", &body)
}

/// Somebody is signed in who is no operator.
pub(super) fn render_no_operator(console: &Console, domain: &Domain, token: &FormToken, petname: &str) -> String {
    let text = format!("You are signed in as {petname}, who is no operator of this server.");
    let body = html! {
        (headed(Sign::Stop, "This is not for you", &text))
        p {
            "An operator can make a link for you: Keys and log, “Add an operator”. At the server's command line it is "
            code { "signpost console link" } "."
        }
        (login_button(console, domain, token, ("/console", "Log in as somebody else")))
    };
    draw_door(console, "Not for you", "no-operator", &body)
}

/// The operator's login is older than what they want to do allows.
pub(super) fn render_proof_needed(console: &Console, domain: &Domain, token: &FormToken, back: &str) -> String {
    let text = "Keys and secrets need a login of the last five minutes. Nothing has changed yet.";
    let body = html! {
        (headed(Sign::Clock, "Log in once more", text))
        (login_button(console, domain, token, (back, "Log in again")))
        p { a href=(console.origin.link(back)) { "Back without it" } }
    };
    draw_door(console, "Log in once more", "log-in-again", &body)
}

/// A form was refused.
pub(super) fn render_stale(console: &Console) -> String {
    let body = html! {
        (headed(Sign::Clock, "This page is too old", "Nothing has changed. Load the console anew and try again."))
        a.btn.primary.wide href=(console.origin.link("/console")) { "To the console" }
    };
    draw_door(console, "Too old", "stale", &body)
}
