//! Notes for users about a resolved location.

use std::fmt;

/// A note for users about a resolved location. Its text is a complete sentence.
///
/// ```
/// # use signpost_locator::gazetteer::PlaceNote;
/// let note = PlaceNote::FuzzyMatch { asked: "Autsin".to_owned(), place: "Austin, TX".to_owned() };
/// assert_eq!(note.to_string(), "'Autsin' is not known; it was taken for Austin, TX.");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaceNote {
    /// No place has exactly this name; a similar name was chosen.
    FuzzyMatch {
        /// The name in the text.
        asked: String,
        /// The place with its area.
        place: String,
    },
    /// A part of the text is unknown: distances count from the known place.
    OnlyPart {
        /// The unknown part.
        unknown: String,
        /// The place with its area.
        place: String,
    },
    /// The text names two places, and one was chosen.
    OneOfTwo {
        /// The other place.
        other: String,
        /// The place with its area.
        place: String,
    },
    /// The text is an address; streets are not known.
    Street {
        /// The place with its area, or the postcode.
        place: String,
    },
    /// The text names an area: distances count from its middle.
    Middle {
        /// The area.
        of: String,
    },
    /// The postcode is unknown, but adjacent postcodes are known.
    NearbyPostcodes {
        /// The postcode.
        code: String,
    },
}

impl fmt::Display for PlaceNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FuzzyMatch { asked, place } => write!(f, "'{asked}' is not known; it was taken for {place}."),
            Self::OnlyPart { unknown, place } => {
                write!(f, "'{unknown}' is not known here; distances count from the middle of {place}.")
            }
            Self::OneOfTwo { other, place } => {
                write!(f, "Distances count from the middle of {place}; ask for '{other}' by itself.")
            }
            Self::Street { place } => {
                write!(f, "Streets are not known here; distances count from the middle of {place}.")
            }
            Self::Middle { of } => write!(f, "Distances count from the middle of {of}."),
            Self::NearbyPostcodes { code } => {
                write!(f, "The postcode {code} is not known; distances count from the middle of those around it.")
            }
        }
    }
}
