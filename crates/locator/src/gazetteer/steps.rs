//! The resolver for location texts: an ordered list of steps. The first step with a result determines the answer.

use super::Gazetteer;
use super::location_text::LocationText;
use super::resolve::{ExplainedStep, Explanation, MAX_TEXT_CHARS, Resolved, Unresolved, UnresolvedKind};
use super::spelling::FuzzyBudget;

/// The result of a step: a place, or the reason why the text cannot be resolved.
pub(super) type PlaceAnswer = Result<Resolved, Unresolved>;

/// The name and function of a step.
type PlaceStep = (&'static str, fn(&Gazetteer, &LocationText<'_>) -> Option<PlaceAnswer>);

const STEPS: [PlaceStep; 27] = [
    ("a text that says no place", Gazetteer::no_place),
    ("coordinates, or a link to a map", Gazetteer::coordinates),
    ("a plus code", Gazetteer::plus_code),
    ("a postcode", Gazetteer::postcode_only),
    ("the code of an airport", Gazetteer::airport_code),
    ("an airport, landmark or region", Gazetteer::landmark),
    ("a British postcode", Gazetteer::british_postcode),
    ("a place with a postcode", Gazetteer::place_with_postcode),
    ("an administrative division", Gazetteer::division_only),
    ("the middle between two places", Gazetteer::between_two_places),
    ("a place", Gazetteer::place_by_name),
    ("a part of a place", Gazetteer::part_of_a_place),
    ("a county", Gazetteer::county_by_name),
    ("a state or country", Gazetteer::area_only),
    ("an address with a postcode", Gazetteer::address_with_postcode),
    ("one place or another", Gazetteer::first_of_alternatives),
    ("something in a place", Gazetteer::landmark_in_place),
    ("a side or the middle of a city", Gazetteer::side_of_a_city),
    ("a place with a typing mistake", Gazetteer::fuzzy_place),
    ("a place with its state misspelt", Gazetteer::place_in_fuzzy_region),
    ("a landmark with a typing mistake", Gazetteer::fuzzy_landmark),
    ("a place without its kind", Gazetteer::place_without_kind),
    ("a place without its direction", Gazetteer::place_without_direction),
    ("two places with a hyphen", Gazetteer::twin_cities),
    ("the text without brackets", Gazetteer::without_brackets),
    ("a city before an unknown part", Gazetteer::city_before_unknown_part),
    ("a place at an end of the text", Gazetteer::prefix_or_suffix_place),
];

impl Gazetteer {
    /// Resolves a location text: coordinates in the usual notations or in a link to a map, a plus code, a postcode, a
    /// well-known airport, landmark or region, `City, ST`, `City ST`, `City, Country`, a county, or a city without an
    /// area (the largest of its name); in any case, with or without accents, with words like `bitcoin atms near` before
    /// it and with one typing mistake. If a text contains unknown details, such as a street, the result is the town. A
    /// result is always in the region or country that the text names.
    ///
    /// ```
    /// # use signpost_locator::gazetteer::{Gazetteer, PlaceSource};
    /// # let gazetteer = Gazetteer::embedded();
    /// for text in ["Austin, TX", "austin texas", "30.26715, -97.74306", "near Autsin TX", "1 Main St, Austin, TX"] {
    ///     assert!(gazetteer.resolve(text).unwrap().point.distance(gazetteer.resolve("Austin").unwrap().point).in_miles() < 1.0);
    /// }
    /// assert_eq!(gazetteer.resolve("78701").unwrap().source, PlaceSource::Postcode);
    /// ```
    ///
    /// # Errors
    /// [`Unresolved`], if the text is empty, longer than [`MAX_TEXT_CHARS`], or names no known place.
    pub fn resolve(&self, text: &str) -> Result<Resolved, Unresolved> {
        self.resolve_part(text, &FuzzyBudget::for_text())
    }

    /// Resolves a text like [`Gazetteer::resolve`], and also returns a trace of the steps.
    #[must_use]
    pub fn explain(&self, text: &str) -> Explanation {
        let mut steps = Vec::new();
        let answer = self.run_steps(text, &FuzzyBudget::for_text(), |name, answer| {
            let gave = answer.map(|answer| match answer {
                Ok(resolved) => format!("{}, confidence {}", resolved.label(), resolved.confidence),
                Err(unresolved) => unresolved.to_string(),
            });
            steps.push(ExplainedStep { name, gave });
        });
        Explanation { steps, answer }
    }

    /// Resolves a part of a text with the remaining budget.
    pub(super) fn resolve_part(&self, text: &str, budget: &FuzzyBudget) -> PlaceAnswer {
        self.run_steps(text, budget, |_, _| ())
    }

    fn run_steps(
        &self,
        text: &str,
        budget: &FuzzyBudget,
        mut on_step: impl FnMut(&'static str, Option<&PlaceAnswer>),
    ) -> PlaceAnswer {
        let text = text.trim();
        if text.is_empty() || text.chars().count() > MAX_TEXT_CHARS {
            let reason = format!("a location is 1 to {MAX_TEXT_CHARS} characters");
            return Err(Unresolved::new(UnresolvedKind::Invalid, reason));
        }
        let location = LocationText::new(text, budget);
        for (name, step) in STEPS {
            let mut answer = step(self, &location);
            // A place outside the named state or country is rejected, even if other words are unknown.
            if let Some(Ok(found)) = &answer
                && !location.allows(found)
            {
                answer = None;
            }
            on_step(name, answer.as_ref());
            if let Some(answer) = answer {
                return answer;
            }
        }
        Err(self.unresolved(&location))
    }

    /// Resolves the text without words in brackets, as in `Seattle (and vicinity), WA`.
    fn without_brackets(&self, location: &LocationText<'_>) -> Option<PlaceAnswer> {
        /// Maximum length of a text with words in brackets, in characters.
        const MAX_CHARS: usize = 100;
        if !location.text.contains(['(', '[']) || location.text.chars().count() > MAX_CHARS {
            return None;
        }
        let mut depth = 0_usize;
        let mut outside = String::new();
        for letter in location.text.chars() {
            match letter {
                '(' | '[' => depth += 1,
                ')' | ']' => depth = depth.saturating_sub(1),
                _ if depth == 0 => outside.push(letter),
                _ => {}
            }
        }
        self.resolve_part(&outside.replace(" ,", ","), location.budget).ok().map(Ok)
    }
}
