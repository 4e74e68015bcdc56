//! What every page of the console is drawn with.

use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};
use signpost_platform::origin::PublicOrigin;
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::assets::{ICON, STYLESHEET};
use signpost_platform::pages::icons::{Sign, brand};

use super::badges::Badges;
use super::dates::say_moment;
use super::door::console_head;
use super::visit::{COUNTS_PATH, OperatorVisit, failed};

/// A screen of the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Screen {
    Today,
    Machines,
    Reports,
    Sites,
    Keys,
}

/// A page of the console for an operator.
#[derive(Debug)]
pub(super) struct ConsolePage<'a> {
    pub(super) visit: &'a OperatorVisit,
    pub(super) screen: Screen,
    /// Its heading, and the text of the tab.
    pub(super) title: &'a str,
    /// What stands under the heading.
    pub(super) note: Markup,
    /// What stands beside it.
    pub(super) aside: Markup,
    pub(super) body: Markup,
    /// Whether it loads itself again after so many seconds.
    pub(super) reload_after: Option<u8>,
}

impl Screen {
    const ALL: [Self; 5] = [Self::Today, Self::Machines, Self::Reports, Self::Sites, Self::Keys];

    fn name(self) -> &'static str {
        match self {
            Self::Today => "Today",
            Self::Machines => "Machines",
            Self::Reports => "Reports",
            Self::Sites => "Sites and deliveries",
            Self::Keys => "Keys and log",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::Today => "/console",
            Self::Machines => "/console/machines",
            Self::Reports => "/console/reports",
            Self::Sites => "/console/sites",
            Self::Keys => "/console/keys",
        }
    }

    fn sign(self) -> Sign {
        match self {
            Self::Today => Sign::Sun,
            Self::Machines => Sign::Machine,
            Self::Reports => Sign::Flag,
            Self::Sites => Sign::Globe,
            Self::Keys => Sign::Key,
        }
    }

    /// The word for its count in the document of counts, and the count.
    fn badge(self, badges: &Badges) -> Option<(&'static str, u32)> {
        match self {
            Self::Today => Some(("today", badges.today)),
            Self::Reports => Some(("reports", badges.reports)),
            Self::Sites => Some(("sites", badges.sites)),
            Self::Machines | Self::Keys => None,
        }
    }
}

impl<'a> ConsolePage<'a> {
    /// A page with nothing beside its heading.
    pub(super) fn new(visit: &'a OperatorVisit, screen: Screen, title: &'a str, body: Markup) -> Self {
        Self { visit, screen, title, note: html! {}, aside: html! {}, body, reload_after: None }
    }

    /// The page, with the counts of now in its menu.
    pub(super) async fn respond(self) -> Response {
        match Badges::read(&self.visit.console, self.visit.now).await {
            Ok(badges) => self.render(&badges).into_response(),
            Err(error) => failed(error),
        }
    }

    pub(super) fn render(&self, badges: &Badges) -> HtmlPage {
        let origin = &self.visit.console.origin;
        let document = html! {
            (DOCTYPE)
            html lang="en" {
                (head(origin, self.title, self.reload_after))
                body.console {
                    a.skip href="#main" { "Skip to content" }
                    (self.side(badges))
                    main #main.desk {
                        header {
                            div { h1 { (signpost_text::line(self.title)) } @if !self.note.0.is_empty() { p.soft { (self.note) } } }
                            @if !self.aside.0.is_empty() { div { (self.aside) } }
                        }
                        (self.body)
                    }
                }
            }
        };
        HtmlPage::personal(document.into_string())
    }

    fn side(&self, badges: &Badges) -> Markup {
        let (visit, origin) = (self.visit, &self.visit.console.origin);
        html! {
            header.side data-counts=(origin.link(COUNTS_PATH)) {
                a.brand href=(origin.link("/console")) { (brand()) bdi { (origin.host()) } }
                nav aria-label="Console" {
                    ul.menu {
                        @for screen in Screen::ALL {
                            li {
                                a href=(origin.link(screen.path())) aria-current=[(screen == self.screen).then_some("page")] {
                                    (screen.sign().draw(20)) (screen.name())
                                    @if let Some((word, count)) = screen.badge(badges) {
                                        span.n data-count=(word) hidden[count == 0] { (count) }
                                    }
                                }
                            }
                        }
                    }
                }
                form.op method="post" action=(origin.link("/console/sign-out")) {
                    (visit.token("sign-out"))
                    p {
                        "Operator " (visit.who.user.petname.as_str()) br;
                        "signed in until " (say_moment(visit.signed_in_until()))
                    }
                    button.link { "Sign out" }
                }
            }
        }
    }
}

fn head(origin: &PublicOrigin, title: &str, reload_after: Option<u8>) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            title { (signpost_text::line(title)) " · Console" }
            link rel="stylesheet" href=(STYLESHEET.link(origin));
            (console_head(origin))
            link rel="icon" type="image/svg+xml" href=(ICON.link(origin));
            @if let Some(seconds) = reload_after { meta http-equiv="refresh" content=(seconds); }
        }
    }
}
