//! Texts in place of a missing value, such as `null` and `N/A`.

use super::field::Field;

/// Texts without a value, in lower case: of databases, programming languages, spreadsheets and people. `NA` is the code
/// of Namibia and of Naples, and therefore not among them.
const PLACEHOLDERS: [&str; 22] = [
    "[]",
    "{}",
    "null",
    "(null)",
    "[null]",
    "\\n",
    "nil",
    "undefined",
    "none",
    "nan",
    "n/a",
    "#n/a",
    "#value!",
    "#ref!",
    "n.a.",
    "n.a",
    "unknown",
    "-",
    "--",
    "---",
    "–",
    "—",
];
/// Maximum bytes of a placeholder.
const MAX_LEN: usize = 9;

/// Returns `true` if the text of a cell stands for a missing value.
///
/// Three words have a meaning in some fields: `none` is an answer to a question of yes or no, and for identification,
/// unless it is Python's `None`; and `Nan`, with a single capital letter, is a name and a province of Thailand.
pub(super) fn is_placeholder(field: Field, text: &str) -> bool {
    let text = text.trim();
    if text.len() > MAX_LEN || !PLACEHOLDERS.contains(&text.to_ascii_lowercase().as_str()) {
        return false;
    }
    match field {
        Field::Kyc | Field::Buy | Field::Sell | Field::Indoor | Field::Wheelchair | Field::EndDate => {
            !text.eq_ignore_ascii_case("none") || text == "None"
        }
        Field::Name
        | Field::Operator
        | Field::Brand
        | Field::Network
        | Field::LocatedIn
        | Field::Address
        | Field::Street
        | Field::Street2
        | Field::City
        | Field::Region => text != "Nan",
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_found_in_any_case() {
        for text in
            ["null", "NULL", " Null ", "N/A", "n/a", "undefined", "None", "NaN", "-", "--", "n.a.", "Unknown", "\\N"]
        {
            assert!(is_placeholder(Field::City, text), "{text}");
            assert!(is_placeholder(Field::Hours, text), "{text}");
        }
        for text in ["", "NA", "Nullarbor", "None Street", "0", "no", "?", "unknown street"] {
            assert!(!is_placeholder(Field::City, text), "{text}");
        }
    }

    #[test]
    fn words_with_a_meaning_are_no_placeholders() {
        for (field, text, expected) in [
            (Field::Kyc, "none", false),
            (Field::Kyc, "None", true),
            (Field::Sell, "none", false),
            (Field::Sell, "null", true),
            (Field::Region, "Nan", false),
            (Field::Region, "nan", true),
            (Field::Phone, "Nan", true),
            (Field::Name, "None", true),
        ] {
            assert_eq!(is_placeholder(field, text), expected, "{field} {text}");
        }
    }
}
