//! Decorative SVG icons. Each icon is next to a text, so screen readers ignore it.

use maud::{Markup, html};

/// Draws the logo: a signpost with two boards.
#[must_use]
pub fn logo() -> Markup {
    html! {
        svg width="26" height="26" viewBox="0 0 26 26" fill="currentColor" aria-hidden="true" {
            path d="M5 3.5h13.2L23 7.75 18.2 12H5a1.5 1.5 0 0 1-1.5-1.5V5A1.5 1.5 0 0 1 5 3.5z" {}
            path opacity=".55" d="M19 13.5H8.3L4.5 17l3.8 3.5H19a1.5 1.5 0 0 0 1.5-1.5v-4a1.5 1.5 0 0 0-1.5-1.5z" {}
            path d="M11.5 12h2v1.5h-2zM11.5 20.5h2V25h-2z" {}
        }
    }
}

/// An icon of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageIcon {
    /// The letter i in a circle, for hints.
    Info,
    /// An exclamation mark in an octagon, for errors.
    Stop,
    /// A clock, for a pending or expired state.
    Clock,
    /// A check mark, for success.
    Tick,
    /// A globe, for an internet address.
    Globe,
    /// A purse with a clasp.
    Wallet,
    /// A lightning bolt.
    Lightning,
    /// A telephone.
    Phone,
    /// A key, for a login method.
    Key,
    /// A sun, for today.
    Sun,
    /// An ATM.
    Machine,
    /// A flag, for reports.
    Flag,
    /// A screen, for a browser.
    Screen,
}

impl PageIcon {
    /// Draws the icon with this width and height, in pixels.
    #[must_use]
    pub fn draw(self, pixels: u8) -> Markup {
        html! {
            svg width=(pixels) height=(pixels) viewBox="0 0 20 20" fill="none" stroke="currentColor"
                stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" {
                (self.lines())
            }
        }
    }

    fn lines(self) -> Markup {
        let ring = html! { circle cx="10" cy="10" r="7.5" {} };
        match self {
            Self::Info => html! { (ring) (path("M10 9v5M10 6.2h.01")) },
            Self::Stop => path("M6.7 2h6.6L18 6.7v6.6L13.3 18H6.7L2 13.3V6.7zM10 6v5M10 13.8h.01"),
            Self::Clock => html! { (ring) (path("M10 5.5V10l3 2")) },
            Self::Tick => path("m4 10.5 4 4 8-9"),
            Self::Globe => html! {
                (ring)
                (path("M2.5 10h15M10 2.5c2.5 2.5 3 5 3 7.5s-.5 5-3 7.5c-2.5-2.5-3-5-3-7.5s.5-5 3-7.5"))
            },
            Self::Wallet => html! {
                (path("M3 6.5A2.5 2.5 0 0 1 5.5 4H15v3M14 11.75h.01"))
                rect x="3" y="7" width="14.5" height="9.5" rx="2" {}
            },
            Self::Lightning => path("M11 2.5 4.5 11H9l-.5 6.5L15.5 9H11z"),
            Self::Phone => html! { rect x="5.5" y="2" width="9" height="16" rx="2" {} (path("M9 15.2h2")) },
            Self::Sun => html! {
                circle cx="10" cy="10" r="3.5" {}
                (path("M10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1-1.1M14.6 5.4l1.1-1.1"))
            },
            Self::Machine => {
                html! { rect x="4" y="2.5" width="12" height="15" rx="2" {} (path("M7 6h6v3.5H7zM8 13.5h4")) }
            }
            Self::Flag => path("M4.5 17.5v-14M4.5 4.5c4-2.5 6 2 11 0v7c-5 2-7-2.5-11 0"),
            Self::Screen => {
                html! { rect x="2.5" y="4" width="15" height="9.5" rx="1.5" {} (path("M10 13.5V17M7 17h6")) }
            }
            Self::Key => html! { circle cx="7" cy="7.5" r="4" {} (path("M9.9 10.3 17 17.4M13.6 14l2-2")) },
        }
    }
}

fn path(d: &str) -> Markup {
    html! { path d=(d) {} }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_of_an_icon_is_closed() {
        use PageIcon::{Clock, Flag, Globe, Info, Key, Lightning, Machine, Phone, Screen, Stop, Sun, Tick, Wallet};
        let icons = [Info, Stop, Clock, Tick, Globe, Wallet, Lightning, Phone, Key, Sun, Machine, Flag, Screen];
        for drawn in icons.into_iter().map(|icon| icon.draw(20)).chain([logo()]) {
            let text = drawn.into_string();
            let count = |mark| text.matches(mark).count();
            // SVG has no void elements, so elements after an unclosed element would become its
            // children and not be drawn.
            assert_eq!(count("<"), 2 * count("</"), "{text}");
        }
    }
}
