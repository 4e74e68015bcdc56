//! What a reply says of the law and of fraud: its `advisories`, and how its notice begins.

use jiff::tz::TimeZone;
use signpost_locator::Point;
use signpost_locator::gazetteer::Gazetteer;

use super::units::Units;
use crate::advisories::{AdvisoryItem, Spot, tell};
use crate::catalogue::{AtmFilter, CatalogueEntry, Moment};

/// What a reply says of the law and of fraud.
#[derive(Default)]
pub(super) struct Advice<'a> {
    /// The advisories, the weightiest first.
    pub(super) advisories: Vec<AdvisoryItem<'a>>,
    /// Bans, and the nearest machine outside of them: the beginning of the notice.
    pub(super) bans: Option<String>,
}

/// Where a reply looked from, and what for.
pub(super) struct Outlook<'o> {
    pub(super) from: Point,
    pub(super) filter: &'o AtmFilter,
    pub(super) units: Units,
    /// Whether the reply sends somebody to a machine: then it warns of fraud.
    pub(super) sends: bool,
}

impl<'a> Advice<'a> {
    /// Of the machines that a reply lists, each under the law of its own place.
    pub(super) fn of_machines(moment: &Moment<'a>, listed: &[&CatalogueEntry], outlook: &Outlook<'_>) -> Self {
        let told = tell(moment.told_of(listed), moment.now().to_zoned_datetime(TimeZone::UTC).date(), outlook.sends);
        let concerned = |machines: usize| match listed.len() {
            all if machines < all => format!(" That is {machines} of the {all} listed."),
            _ => String::new(),
        };
        let mut said: Vec<_> =
            told.bans.iter().map(|(sentence, machines)| sentence.clone() + &concerned(*machines)).collect();
        if !listed.is_empty() && listed.iter().all(|entry| moment.is_banned(entry)) {
            said.extend(nearest_outside(moment, outlook));
        }
        Self { advisories: told.advisories, bans: (!said.is_empty()).then(|| said.join(" ")) }
    }

    /// Of a place where no machine was found.
    pub(super) fn of_place(moment: &Moment<'a>, spot: &Spot<'_>, from: Point, places: &Gazetteer) -> Self {
        let zone = places.time_zone(from, spot.region);
        let found = moment.told_at(spot, zone).into_iter().map(|(advisory, standing)| (advisory, standing, 0));
        let told = tell(found.collect(), moment.now().to_zoned_datetime(TimeZone::UTC).date(), false);
        let said: Vec<_> = told.bans.into_iter().map(|(sentence, _)| sentence).collect();
        Self { advisories: told.advisories, bans: (!said.is_empty()).then(|| said.join(" ")) }
    }
}

/// The nearest machine that no law forbids, for who would otherwise go to one that may be gone.
fn nearest_outside(moment: &Moment<'_>, outlook: &Outlook<'_>) -> Option<String> {
    let near = moment.nearest_allowed(outlook.from, outlook.filter)?;
    let (away, id) = (outlook.units.text(near.distance), moment.snapshot().found(near).machine.id);
    Some(format!("The nearest outside is {away} away (id {id})."))
}
