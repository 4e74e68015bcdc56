//! Renders the frame of the console's pages: the head, the menu and the heading.

use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};
use signpost_platform::origin::PublicOrigin;
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::assets::{ICON, STYLESHEET};
use signpost_platform::pages::icons::{PageIcon, logo};

use super::badges::Badges;
use super::context::{COUNTS_PATH, ConsoleError, OperatorContext};
use super::dates::format_time;
use super::entry::console_head;

/// A section of the console: an entry of its menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConsoleSection {
    Today,
    Machines,
    Reports,
    Sites,
    KeysAndLog,
}

/// A page of the console.
#[derive(Debug)]
pub(super) struct ConsolePage<'a> {
    pub(super) context: &'a OperatorContext,
    pub(super) section: ConsoleSection,
    /// The heading, and the title of the document.
    pub(super) title: &'a str,
    /// A note below the heading.
    pub(super) note: Markup,
    /// Actions next to the heading.
    pub(super) aside: Markup,
    pub(super) body: Markup,
    /// Seconds until the page reloads.
    pub(super) reload_after: Option<u8>,
}

impl ConsoleSection {
    const ALL: [Self; 5] = [Self::Today, Self::Machines, Self::Reports, Self::Sites, Self::KeysAndLog];

    fn name(self) -> &'static str {
        match self {
            Self::Today => "Today",
            Self::Machines => "Machines",
            Self::Reports => "Reports",
            Self::Sites => "Sites and deliveries",
            Self::KeysAndLog => "Keys and log",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::Today => "/console",
            Self::Machines => "/console/machines",
            Self::Reports => "/console/reports",
            Self::Sites => "/console/sites",
            Self::KeysAndLog => "/console/keys",
        }
    }

    fn icon(self) -> PageIcon {
        match self {
            Self::Today => PageIcon::Sun,
            Self::Machines => PageIcon::Machine,
            Self::Reports => PageIcon::Flag,
            Self::Sites => PageIcon::Globe,
            Self::KeysAndLog => PageIcon::Key,
        }
    }

    /// Returns the member of the count in `GET /console/counts`, and the count.
    fn badge(self, badges: &Badges) -> Option<(&'static str, u32)> {
        match self {
            Self::Today => Some(("today", badges.today)),
            Self::Reports => Some(("reports", badges.reports)),
            Self::Sites => Some(("sites", badges.sites)),
            Self::Machines | Self::KeysAndLog => None,
        }
    }
}

impl<'a> ConsolePage<'a> {
    /// Creates a page with only a heading and a body.
    pub(super) fn new(context: &'a OperatorContext, section: ConsoleSection, title: &'a str, body: Markup) -> Self {
        Self { context, section, title, note: html! {}, aside: html! {}, body, reload_after: None }
    }

    /// Reads the counts of the menu, and returns the page.
    pub(super) async fn respond(self) -> Result<Response, ConsoleError> {
        let badges = Badges::read(&self.context.console, self.context.now).await?;
        Ok(self.render(&badges).into_response())
    }

    pub(super) fn render(&self, badges: &Badges) -> HtmlPage {
        let origin = &self.context.origin;
        let document = html! {
            (DOCTYPE)
            html lang="en" {
                (head(origin, self.title, self.reload_after))
                body.console {
                    a.skip href="#main" { "Skip to content" }
                    (self.side(badges))
                    main #main.desk {
                        header {
                            div { h1 { (signpost_text::clean_line(self.title)) } @if !self.note.0.is_empty() { p.soft { (self.note) } } }
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
        let context = self.context;
        let origin = &context.origin;
        html! {
            header.side data-counts=(origin.link(COUNTS_PATH)) {
                a.brand href=(origin.link("/console")) { (logo()) bdi { (origin.host()) } }
                nav aria-label="Console" {
                    ul.menu {
                        @for section in ConsoleSection::ALL {
                            li {
                                a href=(origin.link(section.path())) aria-current=[(section == self.section).then_some("page")] {
                                    (section.icon().draw(20)) (section.name())
                                    @if let Some((word, count)) = section.badge(badges) {
                                        span.n data-count=(word) hidden[count == 0] { (count) }
                                    }
                                }
                            }
                        }
                    }
                }
                form.op method="post" action=(origin.link("/console/sign-out")) {
                    (context.token("sign-out"))
                    p {
                        "Operator " (context.signed_in.user.username()) br;
                        "signed in until " (format_time(context.signed_in_until()))
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
            title { (signpost_text::clean_line(title)) " · Console" }
            link rel="stylesheet" href=(STYLESHEET.link(origin));
            (console_head(origin))
            link rel="icon" type="image/svg+xml" href=(ICON.link(origin));
            @if let Some(seconds) = reload_after { meta http-equiv="refresh" content=(seconds); }
        }
    }
}
