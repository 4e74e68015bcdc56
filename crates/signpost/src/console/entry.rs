//! Renders the pages for visitors without access to the console, such as the login page.

use maud::{Markup, html};
use signpost_platform::origin::PublicOrigin;
use signpost_platform::pages::Language;
use signpost_platform::pages::frame::{Frame, Layout};
use signpost_platform::pages::icons::PageIcon;

use super::visitor_context::VisitorContext;
use super::{CONSOLE_SCRIPT, CONSOLE_STYLES};

/// Renders the links to the stylesheet and the script of the console, for the head of a page.
pub(super) fn console_head(origin: &PublicOrigin) -> Markup {
    html! {
        link rel="stylesheet" href=(CONSOLE_STYLES.link(origin));
        script type="module" src=(CONSOLE_SCRIPT.link(origin)) {}
    }
}

/// Renders an entry page. `state` is the value of `data-state`.
pub(super) fn render_entry(visitor: &VisitorContext, title: &str, state: &str, body: &Markup) -> String {
    let main = html! {
        main #main .sheet.one tabindex="-1" data-state=(state) {
            section.who aria-labelledby="t" { (body) }
        }
    };
    let title = format!("{title} · Console");
    let frame = Frame::new(Language::English, &title, &visitor.origin, Layout::Sheet, main);
    Frame { is_translated: false, head: console_head(&visitor.origin), ..frame }.render()
}

/// Draws the start of an entry page.
pub(super) fn entry_header(icon: PageIcon, title: &str, text: &str) -> Markup {
    html! {
        (icon.draw(40))
        div.stack-sm { h1 #t { (title) } p.lead { (text) } }
    }
}

/// Draws the button that starts a login at the system domain. `back` is the path after the login.
pub(super) fn login_button(visitor: &VisitorContext, back: &str, text: &str) -> Markup {
    html! {
        form #login method="post" action=(visitor.origin.link(&format!("/account/{}/login", visitor.domain.id))) {
            (visitor.login_token())
            input type="hidden" name="next" value=(back);
            button.btn.primary.wide { (text) }
        }
    }
}

/// Renders the page for a visitor who is not signed in.
pub(super) fn render_login(visitor: &VisitorContext, back: &str) -> String {
    let body = html! {
        (entry_header(PageIcon::Key, "Log in to the console", "It is for the operators of this server."))
        (login_button(visitor, back, "Log in"))
        p.sm.soft { "No operator yet? " code { "signpost console link" } " prints a link that makes you one." }
    };
    render_entry(visitor, "Log in", "login", &body)
}

/// Renders the page for a user who is not an operator.
pub(super) fn render_no_operator(visitor: &VisitorContext, username: &str) -> String {
    let text = format!("You are signed in as {username}, who is no operator of this server.");
    let body = html! {
        (entry_header(PageIcon::Stop, "This is not for you", &text))
        p {
            "An operator can make a link for you: Keys and log, “Add an operator”. At the server's command line it is "
            code { "signpost console link" } "."
        }
        (login_button(visitor, "/console", "Log in as somebody else"))
    };
    render_entry(visitor, "Not for you", "no-operator", &body)
}

/// Renders the page for an operator whose login is too old for the requested action.
pub(super) fn render_login_again(visitor: &VisitorContext, back: &str) -> String {
    let text = "Keys and secrets need a login of the last five minutes. Nothing has changed yet.";
    let body = html! {
        (entry_header(PageIcon::Clock, "Log in once more", text))
        (login_button(visitor, back, "Log in again"))
        p { a href=(visitor.origin.link(back)) { "Back without it" } }
    };
    render_entry(visitor, "Log in once more", "log-in-again", &body)
}

/// Renders the page for a rejected form.
pub(super) fn render_stale(visitor: &VisitorContext) -> String {
    let body = html! {
        (entry_header(PageIcon::Clock, "This page is too old", "Nothing has changed. Load the console anew and try again."))
        a.btn.primary.wide href=(visitor.origin.link("/console")) { "To the console" }
    };
    render_entry(visitor, "Too old", "stale", &body)
}
