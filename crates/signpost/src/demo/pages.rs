//! Renders the pages of the sample shop. They have their own style and texts.

use maud::{DOCTYPE, Markup, html};
use signpost_platform::pages::frame::refresh_to;
use signpost_platform::pages::icons::PageIcon;
use url::Url;

use super::api::{ShopCredential, ShopUser};
use super::visitors::Visitor;

/// The source of the shop's login.
const LOGIN: &str = include_str!("login.rs");
const NODE: &str = include_str!("../../../../examples/page/site.mjs");
const PYTHON: &str = include_str!("../../../../examples/page/site.py");

/// A notice on the front page, after a login or a logout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HomeNotice {
    /// No notice.
    Nothing,
    /// The login was cancelled.
    Cancelled,
    /// The login expired.
    Expired,
    /// The login was refused.
    Refused,
    /// The visitor was logged out.
    LoggedOut,
    /// Adding a key requires a more recent login.
    LoginRequired,
}

/// A notice on the account page, after a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Greeting {
    /// No notice.
    Nothing,
    /// The visitor was just logged in.
    Welcome,
    /// A key was added.
    Added,
}

impl Greeting {
    /// Reads the query of the account page.
    pub(super) fn from_query(query: &str) -> Self {
        match query {
            "welcome" => Self::Welcome,
            "added" => Self::Added,
            _ => Self::Nothing,
        }
    }
}

impl HomeNotice {
    /// Reads the query of the front page.
    pub(super) fn from_query(query: &str) -> Self {
        match query {
            "login=cancelled" => Self::Cancelled,
            "login=expired" => Self::Expired,
            "login=refused" => Self::Refused,
            "login=left" => Self::LoggedOut,
            "login=again" => Self::LoginRequired,
            _ => Self::Nothing,
        }
    }

    fn render(self) -> Markup {
        match self {
            Self::Nothing => Markup::default(),
            Self::Cancelled => notice("notice", PageIcon::Info, "You cancelled.", "Nothing has happened."),
            Self::LoggedOut => notice("notice", PageIcon::Tick, "You are logged out.", "Your account stays as it is."),
            Self::LoginRequired => {
                let rest = "A key can be added in the five minutes after a login. Nothing has happened.";
                notice("notice", PageIcon::Info, "Log in once more first.", rest)
            }
            Self::Expired => {
                let rest = "It waited and nobody answered. Nothing has happened to your account.";
                notice("notice warn", PageIcon::Clock, "That login has ended.", rest)
            }
            Self::Refused => {
                let rest = "It began in another browser, or its code was used before. Nobody was logged in by it.";
                notice("notice danger", PageIcon::Stop, "That login was refused.", rest)
            }
        }
    }
}

/// Renders the front page.
pub(super) fn home(visitor: Option<&Visitor>, notice: HomeNotice) -> Markup {
    let way_in = if visitor.is_some() && notice != HomeNotice::LoginRequired {
        html! { a.btn.primary href="/account" { "Your account" } }
    } else {
        html! { a.btn.primary href="/login" { (PageIcon::Key.draw(20)) "Log in or create an account" } }
    };
    let main = html! {
        main #main.wrap {
            (notice.render())
            div.hero {
                div.stack {
                    p.soft { "localhost, a shop that does not exist" }
                    h1 { "Tea for people who read the leaflet" }
                    p.lead {
                        "Try the login. Make an account and come back to it, with no e-mail address and no password."
                    }
                    div.row { (way_in) a.btn.quiet href="/code" { "How it works" } }
                }
                div.art { (art()) }
            }
        }
    };
    document("Fern & Kettle", visitor, &main)
}

/// Renders the account page of a logged-in visitor.
pub(super) fn account(visitor: &Visitor, user: Option<&ShopUser>, greeting: Greeting, keys_page: &str) -> Markup {
    let user = user.unwrap_or(&visitor.user);
    let name = display_name(user);
    let welcome = match greeting {
        Greeting::Nothing => Markup::default(),
        Greeting::Welcome if visitor.is_new => {
            let first = format!("Welcome, {name}.");
            notice("notice ok", PageIcon::Tick, &first, "Your account is new. Nothing else is needed.")
        }
        Greeting::Welcome => {
            notice("notice ok", PageIcon::Tick, &format!("Welcome back, {name}."), "You are logged in.")
        }
        Greeting::Added => {
            let rest = "It logs you in from now on, as the others do.";
            notice("notice ok", PageIcon::Tick, "You have another key.", rest)
        }
    };
    let main = html! {
        main #main.wrap.stack {
            (welcome)
            h1 { "Your account" }
            div.grid2 {
                section.card aria-labelledby="keys" {
                    h2 #keys { "How you log in" }
                    (keys(user))
                    form method="post" action="/keys" {
                        p.row {
                            button.btn.small.primary[user.credentials.len() == 1] type="submit" { "Add a key" }
                            a.btn.small href=(keys_page) { "Rename or remove keys" }
                        }
                    }
                }
                section.card aria-labelledby="known" {
                    h2 #known { "What this shop knows" }
                    dl.facts.sm {
                        dt { "Name" } dd { (name) }
                        dt { "Number" } dd { code #user { (user.id) } }
                        dt { "Way" } dd { (way(&visitor.method)) }
                        dt { "E-mail" } dd { "none" }
                    }
                    form method="post" action="/logout" {
                        p.row {
                            button.btn.small type="submit" { "Log out" }
                            button.btn.small.danger type="submit" name="everywhere" value="yes" { "Sign out everywhere" }
                        }
                    }
                }
            }
        }
    };
    document("Your account · Fern & Kettle", Some(visitor), &main)
}

fn keys(user: &ShopUser) -> Markup {
    html! {
        ul.keys {
            @for credential in &user.credentials { (key(credential)) }
            @if user.credentials.len() == 1 {
                li {
                    span.ico { (PageIcon::Key.draw(20)) }
                    div {
                        b { "Add a second key" }
                        p.sm.soft { "If you lose the only key, nobody can let you in." }
                    }
                }
            }
        }
    }
}

/// Renders the page that explains the login in three steps and shows its source code.
pub(super) fn code(visitor: Option<&Visitor>) -> Markup {
    let sources = [
        ("This shop, in Rust: the file that runs", LOGIN),
        ("The same in Node: a whole site", NODE),
        ("The same in Python: a whole site", PYTHON),
    ];
    let main = html! {
        main #main.wrap.stack {
            h1 { "How it works" }
            ol.steps {
                li { "The shop opens a session at the login service, and sends your browser to its page." }
                li { "Your wallet answers the code on that page. The page sends you back, with a code that works once." }
                li {
                    "The shop completes the session with that code, and with a cookie that only your browser has. "
                    "Then it knows who you are: a number, and no e-mail address."
                }
            }
            @for (at, (title, source)) in sources.into_iter().enumerate() {
                details open[at == 0] {
                    summary { (title) }
                    pre tabindex="0" role="region" aria-label=(title) { code { (source) } }
                }
            }
        }
    };
    document("How it works · Fern & Kettle", visitor, &main)
}

/// Renders the page for an unknown path.
pub(super) fn missing() -> Markup {
    short("There is no such page", "The shop has three pages. This is none of them.")
}

/// Renders the page for a form that another site sent.
pub(super) fn foreign() -> Markup {
    short("Nothing has happened", "That was asked for by a page of another site.")
}

/// Renders the page for a login service that does not answer.
pub(super) fn unavailable() -> Markup {
    short("The login service does not answer", "Try again in a minute. Nothing has happened to your account.")
}

/// Renders the page that forwards the browser to a page of the login service.
pub(super) fn continue_to(address: &str) -> Markup {
    let main = html! {
        main #main.wrap.stack {
            h1 { "One moment" }
            p.lead { "Your key is added on the page of the login service." }
            p.row { a #continue.btn.primary href=(address) { "Go there" } }
        }
    };
    let refresh = Url::parse(address).map_or_else(|_| Markup::default(), |url| refresh_to(&url));
    document_with("One moment", None, &refresh, &main)
}

fn short(title: &str, words: &str) -> Markup {
    let main = html! {
        main #main.wrap.stack {
            h1 { (title) }
            p.lead { (words) }
            p.row { a.btn.primary href="/" { "Back to the shop" } }
        }
    };
    document(title, None, &main)
}

fn document(title: &str, visitor: Option<&Visitor>, main: &Markup) -> Markup {
    document_with(title, visitor, &Markup::default(), main)
}

fn document_with(title: &str, visitor: Option<&Visitor>, head: &Markup, main: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                link rel="stylesheet" href="/shop.css";
                link rel="icon" href="data:,";
                (head)
            }
            body {
                a.skip href="#main" { "Skip to content" }
                header.top {
                    a.brand href="/" { "Fern & Kettle" }
                    nav aria-label="Shop" {
                        a href="/code" { "How it works" }
                        @match visitor {
                            None => a href="/login" { "Log in" },
                            Some(visitor) => a href="/account" { (display_name(&visitor.user)) },
                        }
                    }
                }
                (main)
            }
        }
    }
}

fn notice(class: &str, icon: PageIcon, first: &str, rest: &str) -> Markup {
    html! { div class=(class) { (icon.draw(20)) p role="status" { b { (first) } " " (rest) } } }
}

fn key(credential: &ShopCredential) -> Markup {
    let ShopCredential { kind, public_key, name, added_at } = credential;
    let icon = match kind.as_str() {
        "passkey" => PageIcon::Key,
        "lightning" => PageIcon::Lightning,
        _ => PageIcon::Wallet,
    };
    let ending = public_key.get(public_key.len().saturating_sub(8)..).unwrap_or(public_key);
    html! {
        li {
            span.ico { (icon.draw(20)) }
            div {
                b { bdi { (signpost_text::clean_line(name)) } }
                p.sm.soft { "Added " (added_at.strftime("%-d %B %Y")) " · ends in " code { (ending) } }
            }
        }
    }
}

/// Returns `Amber Otter` for `amber-otter-4821`, and a default for a user without a petname.
fn display_name(user: &ShopUser) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in user.petname.split('-') {
        let mut letters = word.chars();
        match letters.next() {
            Some(first) if !first.is_ascii_digit() => words.push(first.to_uppercase().chain(letters).collect()),
            _ => {}
        }
    }
    if words.is_empty() { "tea drinker".to_owned() } else { words.join(" ") }
}

fn way(method: &str) -> &'static str {
    match method {
        "scan" => "wallet, by scan, number typed",
        "browser" => "wallet of this browser",
        "lightning" => "Lightning wallet",
        "passkey" => "passkey",
        _ => "wallet",
    }
}

/// Draws a cup as an SVG image.
fn art() -> Markup {
    html! {
        svg viewBox="0 0 400 300" aria-hidden="true" {
            rect width="400" height="300" fill="#d9a679" {}
            circle cx="312" cy="78" r="46" fill="#f6e3c5" {}
            path d="M0 232c70-34 130-6 200-20s120-40 200-8v96H0z" fill="#9c5a32" {}
            path d="M130 128h120v60a48 48 0 0 1-48 48h-24a48 48 0 0 1-48-48z" fill="#fffdf9" {}
            path d="M250 142h14a24 24 0 0 1 0 48h-15" fill="none" stroke="#fffdf9" stroke-width="12" {}
            path d="M166 108c-8-14 8-20 0-36M194 108c-8-14 8-20 0-36M222 108c-8-14 8-20 0-36" fill="none"
                stroke="#fffdf9" stroke-width="5" stroke-linecap="round" opacity=".75" {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(petname: &str) -> ShopUser {
        ShopUser { id: "usr_1".to_owned(), petname: petname.to_owned(), credentials: Vec::new() }
    }

    #[test]
    fn display_name_uses_the_petname() {
        for (petname, name) in [("amber-otter-4821", "Amber Otter"), ("", "tea drinker"), ("élan-1", "Élan")] {
            assert_eq!(display_name(&user(petname)), name);
        }
    }

    #[test]
    fn untrusted_text_is_escaped() {
        let credential = ShopCredential {
            kind: "wallet".to_owned(),
            public_key: "é<b>".to_owned(),
            name: "<script>alert(1)</script>\u{202e}".to_owned(),
            added_at: jiff::Timestamp::UNIX_EPOCH,
        };
        let user = ShopUser { credentials: vec![credential], ..user("<i>-otter-1") };
        let visitor = Visitor { user: user.clone(), is_new: true, method: "<u>".to_owned() };
        let page = account(&visitor, Some(&user), Greeting::Welcome, "/account").into_string();
        for markup in ["<script", "<b>é", "<i>", "<u>", "\u{202e}"] {
            assert!(!page.contains(markup), "{markup}");
        }
        assert!(page.contains("Added 1 January 1970"), "{page}");
    }

    #[test]
    fn shown_source_is_short() {
        for (source, most) in [(LOGIN, 50), (NODE, 45), (PYTHON, 45)] {
            assert!(source.lines().count() <= most, "{source}");
        }
    }
}
