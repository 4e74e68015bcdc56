//! The part of a tool reply about the law and fraud: its `advisories`, and the start of its notice.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use signpost_locator::Point;
use signpost_locator::gazetteer::Gazetteer;

use super::units::Units;
use crate::advisories::{AdvisoryItem, Location, summarize};
use crate::catalogue::{AtmFilter, CatalogueEntry, Moment};

/// The part of a tool reply about the law and fraud.
#[derive(Default)]
pub(super) struct Advice<'a> {
    /// The advisories, sorted by importance.
    pub(super) advisories: Vec<AdvisoryItem<'a>>,
    /// The start of the notice: the bans, and the nearest ATM that is not banned.
    pub(super) bans: Option<String>,
}

/// The parameters of a search that determine the advice.
pub(super) struct SearchContext<'s> {
    pub(super) from: Point,
    pub(super) filter: &'s AtmFilter,
    pub(super) units: Units,
    /// Whether the reply recommends ATMs and therefore includes a fraud warning.
    pub(super) recommends: bool,
}

impl<'a> Advice<'a> {
    /// Returns the advice for the listed ATMs, each according to its local law.
    pub(super) fn of_atms(moment: &Moment<'a>, listed: &[&CatalogueEntry], search: &SearchContext<'_>) -> Self {
        let summary = summarize(moment.advisories_with_counts(listed), today(moment), search.recommends);
        let mut bans = Vec::new();
        for (sentence, machines) in summary.bans {
            bans.push(sentence);
            if machines < listed.len() {
                bans.push(format!("That is {machines} of the {} listed.", listed.len()));
            }
        }
        if !listed.is_empty() && listed.iter().all(|entry| moment.is_banned(entry)) {
            bans.extend(nearest_outside(moment, search));
        }
        Self { advisories: summary.advisories, bans: (!bans.is_empty()).then(|| bans.join(" ")) }
    }

    /// Returns the advice for a place without ATMs.
    pub(super) fn of_place(moment: &Moment<'a>, location: &Location<'_>, from: Point, places: &Gazetteer) -> Self {
        let zone = places.time_zone(from, location.region);
        let found =
            moment.advisories_at(location, zone).into_iter().map(|(advisory, law_status)| (advisory, law_status, 0));
        let summary = summarize(found.collect(), today(moment), false);
        let bans: Vec<_> = summary.bans.into_iter().map(|(sentence, _)| sentence).collect();
        Self { advisories: summary.advisories, bans: (!bans.is_empty()).then(|| bans.join(" ")) }
    }
}

fn today(moment: &Moment<'_>) -> Date {
    moment.now().to_zoned_datetime(TimeZone::UTC).date()
}

/// Returns a sentence about the nearest ATM that no law forbids, as an alternative to ATMs that may be gone.
fn nearest_outside(moment: &Moment<'_>, search: &SearchContext<'_>) -> Option<String> {
    let near = moment.nearest_allowed(search.from, search.filter)?;
    let id = moment.snapshot().found(near).atm.id;
    Some(format!("The nearest outside is {} away (id {id}).", search.units.text(near.distance)))
}
