//! The choice between places with the same name, by the user's country and by the locations of known ATMs.

use super::exact::MAX_ALTERNATIVES;
use super::query::{Query, Within};
use super::resolve::{PlaceSource, Resolved, Unresolved};
use super::{Gazetteer, Place, PlaceNote};
use crate::country::Country;
use crate::fold::fold;
use crate::point::Point;

/// Maximum ratio of the populations of the likeliest place and of a place in the user's likely country.
const MAX_POPULATION_RATIO: u32 = 10;
/// Maximum confidence of a place that is not the likeliest place with its name.
const MAX_CHOSEN_CONFIDENCE: f64 = 0.6;

/// A preference between places with the same name. It applies only to texts without a state or country.
#[derive(Clone, Copy)]
pub struct PlacePreference<'a> {
    /// The country requested by the client. A place in this country is always chosen.
    pub country: Option<Country>,
    /// The likely country of the user. A place in this country is chosen if it is not much smaller than the likeliest
    /// place.
    pub likely_country: Option<Country>,
    /// A function that returns `true` if ATMs are known near a point.
    pub has_atms_near: &'a dyn Fn(Point) -> bool,
}

impl Gazetteer {
    /// Resolves a text like [`Gazetteer::resolve`], and chooses between places with the same name by a preference. The
    /// likeliest place remains an alternative.
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
            Some(other.country) == likely && other.population.saturating_mul(MAX_POPULATION_RATIO) >= largest
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

    /// Selects the likeliest place in a country, if there is one.
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

/// Selects the alternative at this index as the result. The previous result becomes the first alternative.
fn choose(mut resolved: Resolved, index: usize) -> Resolved {
    let chosen = resolved.alternatives.remove(index);
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
    let answer =
        Resolved::at(chosen.name, chosen.point, PlaceSource::Place, resolved.confidence.min(MAX_CHOSEN_CONFIDENCE));
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
