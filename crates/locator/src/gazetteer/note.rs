//! Notes for users about how a location text was interpreted.

use std::fmt;

/// A note for users about how a location text was interpreted. It is displayed as a complete sentence.
///
/// ```
/// # use signpost_locator::gazetteer::PlaceNote;
/// let note = PlaceNote::FuzzyMatch { asked: "Autsin".to_owned(), place: "Austin, TX".to_owned() };
/// assert_eq!(note.to_string(), "'Autsin' is not known; it was taken for Austin, TX.");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaceNote {
    /// No place has exactly this name, so a place with a similar name was chosen.
    FuzzyMatch {
        /// The name in the text.
        asked: String,
        /// The place with its area.
        place: String,
    },
    /// A part of the text is unknown, so distances are measured from the known place.
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
    /// The text is an address, but streets are not known.
    Street {
        /// The place with its area, or the postcode.
        place: String,
    },
    /// The text names an area, so distances are measured from its middle.
    Middle {
        /// The name of the area.
        of: String,
    },
    /// The postcode is unknown, or postcodes of the country are not supported.
    UnknownPostcode {
        /// The postcode.
        code: String,
        /// The place with its area.
        place: String,
    },
    /// The postcode does not lie near the place that the text names.
    PostcodeElsewhere {
        /// The postcode.
        code: String,
        /// The place with its area.
        place: String,
    },
    /// The text names two places that are far apart, and one was chosen.
    Elsewhere {
        /// The other place as written in the text.
        other: String,
        /// The place with its area.
        place: String,
    },
    /// The text asks for the middle between two places.
    Midpoint {
        /// The first place with its area.
        first: String,
        /// The second place with its area.
        second: String,
    },
    /// The text names a part of a place, such as its north side.
    Part {
        /// The part as written in the text.
        part: String,
        /// The place with its area.
        place: String,
    },
    /// Several places have the name, and the chosen place has ATMs nearby or is in the user's country.
    Namesake {
        /// The place with its area.
        place: String,
        /// The place that the name refers to more often.
        other: String,
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
            Self::UnknownPostcode { code, place } => {
                write!(f, "The postcode {code} is not known here; distances count from the middle of {place}.")
            }
            Self::PostcodeElsewhere { code, place } => {
                write!(f, "The postcode {code} is not near {place} and was not used; ask for '{code}' by itself.")
            }
            Self::Elsewhere { other, place } => {
                write!(f, "'{other}' is not near {place} and was not used; ask for '{other}' by itself.")
            }
            Self::Midpoint { first, second } => {
                write!(f, "Distances count from the middle between {first} and {second}.")
            }
            Self::Part { part, place } => {
                write!(f, "Distances count from the middle of {place}; '{part}' is not known more exactly.")
            }
            Self::Namesake { place, other } => {
                write!(f, "Several places have this name: {place} was taken; for the other, ask for {other}.")
            }
            Self::NearbyPostcodes { code } => {
                write!(f, "The postcode {code} is not known; distances count from the middle of those around it.")
            }
        }
    }
}
