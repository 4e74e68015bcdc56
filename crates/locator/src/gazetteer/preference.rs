//! The choice among namesakes by the country of the user and by the known ATMs.

use super::exact::MAX_ALTERNATIVES;
use super::query::{Query, Within};
use super::resolve::{PlaceSource, Resolved, Unresolved};
use super::{Gazetteer, Place, PlaceNote};
use crate::country::Country;
use crate::fold::fold;
use crate::point::Point;

/// Maximum ratio of populations of the likeliest place and a place in the likely country of the user.
const MUCH_SMALLER: u32 = 10;
/// Maximum confidence of a place that is not the likeliest of its name.
const CHOSEN: f64 = 0.6;

/// A preference among namesakes. It only matters for texts that name neither a state nor a country.
#[derive(Clone, Copy)]
pub struct PlacePreference<'a> {
    /// The country that the client names: a place in it is always chosen.
    pub country: Option<Country>,
    /// The likely country of the user: a place in it is chosen if it is not much smaller than the likeliest place.
    pub likely_country: Option<Country>,
    /// Returns `true` if ATMs are known near a point.
    pub has_atms_near: &'a dyn Fn(Point) -> bool,
}

impl Gazetteer {
    /// Resolves a text like [`Gazetteer::resolve`], and chooses among namesakes by a preference. The likeliest
    /// place stays an alternative.
    ///
    /// # Errors
    /// Returns the errors of [`Gazetteer::resolve`].
    pub fn resolve_preferring(&self, text: &str, preference: &PlacePreference<'_>) -> Result<Resolved, Unresolved> {
        let resolved = self.resolve(text)?;
        if !resolved.is_bare_name {
            return Ok(resolved);
        }
        if let Some(country) = preference.country {
            return Ok(self.in_country(resolved, country));
        }
        if resolved.alternatives.iter().all(|other| Some(other.country) == resolved.country) {
            return Ok(resolved);
        }
        let likely = preference.likely_country;
        if likely.is_some() && likely == resolved.country {
            return Ok(resolved);
        }
        let largest = self.population_of_likeliest(&fold(&resolved.name), Within::Anywhere);
        let in_likely = resolved.alternatives.iter().position(|other| {
            Some(other.country) == likely && other.population.saturating_mul(MUCH_SMALLER) >= largest
        });
        if let Some(at) = in_likely {
            return Ok(choose(resolved, at));
        }
        if (preference.has_atms_near)(resolved.point) {
            return Ok(resolved);
        }
        let country = resolved.country;
        let served = resolved
            .alternatives
            .iter()
            .position(|other| Some(other.country) != country && (preference.has_atms_near)(other.point));
        Ok(match served {
            Some(at) => choose(resolved, at),
            None => resolved,
        })
    }

    /// Returns the likeliest place of the name in a country, if there is one.
    fn in_country(&self, mut resolved: Resolved, country: Country) -> Resolved {
        if resolved.country == Some(country) {
            return resolved;
        }
        if let Some(at) = resolved.alternatives.iter().position(|other| other.country == country) {
            return choose(resolved, at);
        }
        let name = resolved.name.clone();
        let query = Query::new(&name, Within::Country(country));
        let Some(candidate) = self.named(&query.name, query.within).next() else { return resolved };
        resolved.alternatives.insert(0, self.place(candidate.place()));
        choose(resolved, 0)
    }
}

/// Returns an alternative as the answer, with the answer as its first alternative.
fn choose(mut resolved: Resolved, at: usize) -> Resolved {
    let chosen = resolved.alternatives.remove(at);
    let other = Place {
        name: resolved.name.clone(),
        region: resolved.region,
        division: resolved.division,
        country: resolved.country.unwrap_or(chosen.country),
        county: resolved.county.clone(),
        point: resolved.point,
        population: 0,
        time_zone: chosen.time_zone.clone(),
    };
    let note = PlaceNote::Namesake { place: chosen.label(), other: other.label() };
    resolved.alternatives.insert(0, other);
    resolved.alternatives.truncate(MAX_ALTERNATIVES);
    let answer = Resolved::at(chosen.name, chosen.point, PlaceSource::Place, resolved.confidence.min(CHOSEN));
    let answer = Resolved {
        region: chosen.region,
        division: chosen.division,
        country: Some(chosen.country),
        county: chosen.county,
        alternatives: resolved.alternatives,
        is_bare_name: true,
        ..answer
    };
    answer.with_note(note)
}
