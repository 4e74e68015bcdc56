//! What is tried to understand a text for a location, in its order: the first step that gives something decides.

use super::Gazetteer;
use super::asked::Asked;
use super::resolve::{ExplainedStep, Explanation, MAX_TEXT_CHARS, Resolved, Unresolved, UnresolvedKind};
use super::spelling::Effort;

/// What a step gives: a place, or why there is none.
pub(super) type PlaceAnswer = Result<Resolved, Unresolved>;

/// What a step looks for, and how.
type PlaceStep = (&'static str, fn(&Gazetteer, &Asked<'_>) -> Option<PlaceAnswer>);

const STEPS: [PlaceStep; 20] = [
    ("a text that says no place", Gazetteer::no_place),
    ("coordinates, or a link to a map", Gazetteer::coordinates),
    ("a plus code", Gazetteer::plus_code),
    ("a postcode", Gazetteer::postcode_alone),
    ("the code of an airport", Gazetteer::airport_code),
    ("an airport, landmark or region", Gazetteer::landmark),
    ("a place", Gazetteer::place_by_name),
    ("a county", Gazetteer::county_by_name),
    ("a state or country", Gazetteer::area_alone),
    ("an address with a postcode", Gazetteer::address_with_postcode),
    ("one place or another", Gazetteer::one_or_another),
    ("something in a place", Gazetteer::inside_a_place),
    ("a place with a typing mistake", Gazetteer::place_misspelt),
    ("a place with its state misspelt", Gazetteer::place_in_misspelt_region),
    ("a landmark with a typing mistake", Gazetteer::landmark_misspelt),
    ("a place without its kind", Gazetteer::place_without_kind),
    ("a place without its direction", Gazetteer::place_without_direction),
    ("two places with a hyphen", Gazetteer::twin_cities),
    ("the text without brackets", Gazetteer::without_brackets),
    ("a place at an end of the text", Gazetteer::place_at_an_end),
];

impl Gazetteer {
    /// What a text for a location means: coordinates in the usual notations or in a link to a map, a plus code, a
    /// postcode, an airport, landmark or region that many people know, `City, ST`, `City ST`, `City, Country`, a county,
    /// or a city alone, of which the largest counts; in any case, with or without accents, with words like
    /// `bitcoin atms near` before it and with one typing mistake. Of a text that says more than is known, such as a
    /// street, the town is taken. A region or country that is named is respected.
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
    /// [`Unresolved`], if the text is empty, longer than [`MAX_TEXT_CHARS`], or means nothing known.
    pub fn resolve(&self, text: &str) -> Result<Resolved, Unresolved> {
        self.resolve_part(text, &Effort::of_a_text())
    }

    /// How [`Gazetteer::resolve`] comes to its answer.
    #[must_use]
    pub fn explain(&self, text: &str) -> Explanation {
        let mut steps = Vec::new();
        let answer = self.take_steps(text, &Effort::of_a_text(), |name, answer| {
            let gave = answer.as_ref().map(|answer| match answer {
                Ok(resolved) => format!("{}, confidence {}", resolved.label(), resolved.confidence),
                Err(unresolved) => unresolved.to_string(),
            });
            steps.push(ExplainedStep { name, gave });
        });
        Explanation { steps, answer }
    }

    /// What a part of a text means, for what effort is left of it.
    pub(super) fn resolve_part(&self, text: &str, effort: &Effort) -> PlaceAnswer {
        self.take_steps(text, effort, |_, _| ())
    }

    fn take_steps(
        &self,
        text: &str,
        effort: &Effort,
        mut taken: impl FnMut(&'static str, &Option<PlaceAnswer>),
    ) -> PlaceAnswer {
        let text = text.trim();
        if text.is_empty() || text.chars().count() > MAX_TEXT_CHARS {
            let reason = format!("a location is 1 to {MAX_TEXT_CHARS} characters");
            return Err(Unresolved::new(UnresolvedKind::Invalid, reason));
        }
        let asked = Asked::new(text, effort);
        for (name, take) in STEPS {
            // A state or country that is named is respected, whatever else is not understood.
            let is_allowed = |answer: &PlaceAnswer| answer.as_ref().ok().is_none_or(|found| asked.allows(found));
            let answer = take(self, &asked).filter(is_allowed);
            taken(name, &answer);
            if let Some(answer) = answer {
                return answer;
            }
        }
        Err(self.unresolved(&asked))
    }

    /// Without the words in brackets, as in `Seattle (and vicinity), WA`.
    fn without_brackets(&self, asked: &Asked<'_>) -> Option<PlaceAnswer> {
        /// A longer text is not a name with a word in brackets.
        const MAX_CHARS: usize = 100;
        if !asked.text.contains(['(', '[']) || asked.text.chars().count() > MAX_CHARS {
            return None;
        }
        let mut depth = 0_usize;
        let outside = asked.text.chars().filter(|letter| {
            match letter {
                '(' | '[' => depth += 1,
                ')' | ']' => {
                    depth = depth.saturating_sub(1);
                    return false;
                }
                _ => {}
            }
            depth == 0
        });
        let text = outside.collect::<String>().replace(" ,", ",");
        Some(self.resolve_part(&text, asked.effort)).filter(PlaceAnswer::is_ok)
    }
}
