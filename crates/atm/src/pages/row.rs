//! A row of a list of ATMs, in two lines: the name and the distance; the street, the status and the terms.

use maud::{Markup, html};
use signpost_locator::{AtmStatus, Distance, StatusReason, Tri};

use super::addresses::atm_path;
use super::confirmation::Confirmation;
use super::context::PageContext;
use super::fact::UnknownFact;
use super::facts::buys_about;
use super::status::{status_shape, status_text};
use super::words::LocatorWords;
use crate::catalogue::Moment;
use crate::map::StatusShape;
use crate::view::AtmView;

/// The renderer of the rows of a list.
#[derive(Clone, Copy)]
pub(super) struct MachineRow<'a> {
    pub(super) context: &'a PageContext,
    pub(super) moment: &'a Moment<'a>,
    /// The facts that the rows omit, because the list has a sentence about them.
    pub(super) unknown_for_all: &'a [UnknownFact],
}

impl MachineRow<'_> {
    /// Renders one ATM of the list. The name is a link, and the whole row is its click target.
    pub(super) fn draw(&self, number: usize, view: &AtmView<'_>, away: Distance) -> Markup {
        let words = self.context.words();
        let record = view.record;
        let address = record.address.street.as_deref().map_or_else(|| view.address(), Into::into);
        let fee = buys_about(words, view);
        html! {
            li.machine {
                span.pin.(StatusShape::of(view.status.status).class()) aria-hidden="true" { span { (number) } }
                h2 { a href=(self.context.link(&atm_path(view.entry.atm.id))) { bdi { (record.title()) } } }
                p.dist { ((words.distance)(away)) }
                p.meta {
                    span { bdi { (if record.address.is_empty() { words.no_address.into() } else { address }) } }
                    (self.status(view))
                    @if let Some(trades) = trades(words, record.buy, record.sell) { span { (trades) } }
                    @if let Some(fee) = fee { span { (fee) } }
                    (self.confirmation(view))
                }
            }
        }
    }

    /// Renders the status, unless the confirmation explains it, or the hours of all ATMs are unknown.
    fn status(&self, view: &AtmView<'_>) -> Markup {
        let status = view.status.status;
        let is_shown = match (status, view.status.reason) {
            (AtmStatus::Unknown, StatusReason::NoHours) => !self.unknown_for_all.contains(&UnknownFact::Hours),
            (AtmStatus::Unknown, reason) => is_about_hours_or_law(reason),
            _ => true,
        };
        html! { @if is_shown { (chip(status, &status_text(self.context.words(), self.moment, view))) } }
    }

    /// Renders the last confirmation. The mark of an unknown status precedes the reason for it.
    fn confirmation(&self, view: &AtmView<'_>) -> Markup {
        let confirmation = Confirmation::of(self.context, view);
        let sentence = confirmation.sentence(self.context);
        match confirmation {
            Confirmation::None if self.unknown_for_all.contains(&UnknownFact::Confirmation) => Markup::default(),
            Confirmation::Confirmed(_) => html! { span { (sentence) } },
            Confirmation::Doubted(_) => chip(AtmStatus::Unknown, &sentence),
            Confirmation::None | Confirmation::Outdated(_) => match view.status.status {
                AtmStatus::Unknown if !matches!(view.status.reason, StatusReason::Law(_)) => {
                    chip(AtmStatus::Unknown, &sentence)
                }
                _ => html! { span { (sentence) } },
            },
        }
    }
}

/// Returns `true` if an unknown status has a reason that the sentence about the confirmation does not state.
fn is_about_hours_or_law(reason: StatusReason<'_>) -> bool {
    use StatusReason::{HoursBySun, HoursInWords, Law, NoHours, NoTimeZone, UncertainHours};
    matches!(reason, HoursBySun | HoursInWords | Law(_) | NoHours | NoTimeZone | UncertainHours)
}

/// Renders the shape of a status with a text.
fn chip(status: AtmStatus, text: &str) -> Markup {
    html! { span.chip.(StatusShape::of(status).class()) { (status_shape(status, 12)) span { (text) } } }
}

/// Returns a text about the services of an ATM: buying, selling or both; `None` if they are unknown.
fn trades(words: &LocatorWords, buy: Tri, sell: Tri) -> Option<&'static str> {
    match (buy, sell) {
        (Tri::Yes, Tri::Yes) => Some(words.buy_and_sell),
        (Tri::Yes, _) => Some(words.buy_only),
        (Tri::No | Tri::Unknown, Tri::Yes) => Some(words.sell_only),
        (Tri::No, Tri::No) => Some(words.trades_nothing),
        (Tri::No | Tri::Unknown, _) => None,
    }
}
