//! Names that are not quite those of places.

use super::asked::Asked;
use super::query::{Query, Within};
use super::resolve::{PlaceSource, Resolved};
use super::spelling::{Effort, Mistakes};
use super::steps::PlaceAnswer;
use super::{Gazetteer, PlaceNote};
use crate::fold::{fold, words};
use crate::region::Region;

/// How likely a place must be for a misspelt name.
const LEAST_LIKELY: u32 = 10_000;
/// So many people live in a place that is rather misspelt than another that is not known, with nothing said of where.
const LARGE: u32 = 100_000;
/// So many people live in a place whose name of less than [`LONG`] letters may have two mistakes.
const VERY_LARGE: u32 = 500_000;
const LONG: usize = 9;
/// Most questions of a text that are asked with mistakes allowed, which is slow.
const MAX_MISSPELT: usize = 6;
/// What is said of a place behind its name, the longest first; each with how it is written out in names.
const KINDS: [(&[&str], &str); 9] = [
    (&["charter", "township"], "township"),
    (&["civil", "township"], "township"),
    (&["township"], "township"),
    (&["town"], "town"),
    (&["borough"], "borough"),
    (&["boro"], "borough"),
    (&["village"], "village"),
    (&["city"], "city"),
    (&["municipality"], "municipality"),
];

impl Gazetteer {
    /// A place whose name has one typing mistake, or in long names two.
    pub(super) fn place_misspelt(&self, asked: &Asked<'_>) -> Option<PlaceAnswer> {
        self.nearly(asked).map(Ok)
    }

    /// The queries that say where come first: they leave less to choose from.
    fn nearly(&self, asked: &Asked<'_>) -> Option<Resolved> {
        let (anywhere, within): (Vec<&Query<'_>>, Vec<_>) = asked
            .queries()
            .iter()
            .filter(|query| !query.written.contains(','))
            .partition(|query| query.within == Within::Anywhere);
        let ordered: Vec<&Query<'_>> = within.into_iter().chain(anywhere).take(MAX_MISSPELT).collect();
        let with =
            |mistakes: Mistakes| ordered.iter().find_map(|query| self.misspelt_place(query, mistakes, asked.effort));
        with(Mistakes::One).or_else(|| with(Mistakes::Two))
    }

    pub(super) fn misspelt_place(&self, query: &Query<'_>, mistakes: Mistakes, effort: &Effort) -> Option<Resolved> {
        let is_short = mistakes == Mistakes::Two && query.name.chars().count() < LONG;
        let found = self.misspelt(query, mistakes, if is_short { VERY_LARGE } else { LEAST_LIKELY }, effort);
        let first = *found.first()?;
        let place = self.place(first / 2);
        let has_its_beginning = fold(&place.name).chars().next() == query.name.chars().next();
        let is_large =
            first.is_multiple_of(2) && place.population >= LARGE && has_its_beginning && query.name.len() > 4;
        let resolved = self.resolved(&found, query, PlaceSource::Misspelt)?.less_sure(0.7);
        let is_sure =
            query.before.is_none() && ((is_large && place.region.is_some()) || query.within != Within::Anywhere);
        let note = PlaceNote::TakenFor { asked: query.written.to_owned(), place: resolved.label() };
        let resolved = resolved.at_most(if is_sure { 1.0 } else { 0.5 }).with_note(note);
        Some(match query.before {
            None => resolved,
            Some(unknown) => {
                let place = resolved.label();
                resolved.with_note(PlaceNote::OnlyPart { unknown: unknown.to_owned(), place })
            }
        })
    }

    /// `Miami, Flordia`: the place with the state that was meant.
    pub(super) fn place_in_misspelt_region(&self, asked: &Asked<'_>) -> Option<PlaceAnswer> {
        let (name, region) = asked.bare.rsplit_once([',', ' '])?;
        let meant = Region::nearly(region.trim())?;
        let name = name.trim_end_matches([',', ' ']);
        let name = name.rsplit_once(',').map_or(name, |(_, name)| name.trim());
        let query = Query::new(name, Within::Region(meant));
        let note = PlaceNote::TakenFor { asked: region.trim().to_owned(), place: meant.name().to_owned() };
        Some(Ok(self.exactly(&query, &[])?.less_sure(0.7).with_note(note)))
    }

    /// `Shelby Township, MI`, `Smithtown Town, NY`: the place of that name, if no township is known.
    pub(super) fn place_without_kind(&self, asked: &Asked<'_>) -> Option<PlaceAnswer> {
        self.shortened(asked, 0.7, |words| {
            let (kind, name) = KINDS.iter().find_map(|(kind, name)| {
                let is_kind = words.len() > kind.len() && words[words.len() - kind.len()..].iter().eq(kind.iter());
                is_kind.then_some((kind.len(), *name))
            })?;
            let bare = &words[..words.len() - kind];
            Some(vec![bare.concat() + name, bare.concat()])
        })
    }

    /// `North Chesterfield, VA`: post offices add the direction to the name of a town.
    pub(super) fn place_without_direction(&self, asked: &Asked<'_>) -> Option<PlaceAnswer> {
        const DIRECTIONS: [&str; 4] = ["east", "north", "south", "west"];
        let has_comma = asked.bare.contains(',');
        let found = self.shortened(asked, 0.6, |words| {
            let (first, name) = words.split_first()?;
            (DIRECTIONS.contains(&first.as_str()) && !name.is_empty()).then(|| vec![name.concat()])
        });
        // In South Central LA the last word need not be Louisiana.
        found.map(|answer| answer.map(|place| if has_comma { place } else { place.at_most(0.5) }))
    }

    /// The place of the first shorter name that is known, in a region that is named. It need not have a post office: the
    /// longer name has none.
    fn shortened(
        &self,
        asked: &Asked<'_>,
        factor: f64,
        shorten: impl Fn(&[String]) -> Option<Vec<String>>,
    ) -> Option<PlaceAnswer> {
        let in_region = |query: &&Query<'_>| matches!(query.within, Within::Region(_));
        asked.queries().iter().filter(in_region).find_map(|query| {
            let names = shorten(&words(query.written))?;
            let found = |name: String| {
                let found: Vec<u32> = self.named(&name, query.within).take(6).collect();
                self.resolved(&found, query, PlaceSource::Place)
            };
            let resolved = names.into_iter().find_map(found)?.less_sure(factor);
            // In a state of townships several share a name, and none of them may be the town.
            let is_township = query.name.ends_with("township");
            let resolved = if is_township { resolved.at_most(0.5) } else { resolved };
            let note = PlaceNote::TakenFor { asked: query.written.to_owned(), place: resolved.label() };
            let resolved = if query.before.is_some() { resolved.at_most(0.5) } else { resolved };
            Some(Ok(resolved.with_note(note)))
        })
    }
}
