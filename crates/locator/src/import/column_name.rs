//! Names of columns in a form for comparison.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Letters without a Unicode decomposition, with their ASCII spelling.
const SPECIAL_LETTERS: [(char, &str); 6] = [('ß', "ss"), ('æ', "ae"), ('œ', "oe"), ('ø', "o"), ('ł', "l"), ('ı', "i")];

/// Returns a name of a column for comparison: its letters and digits in lower case, without accents.
pub(super) fn normalized(name: &str) -> String {
    if name.is_ascii() {
        return name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    }
    let mut plain = String::with_capacity(name.len());
    let letters = name.nfkd().filter(|letter| !is_combining_mark(*letter)).flat_map(char::to_lowercase);
    for letter in letters.filter(|letter| letter.is_alphanumeric()) {
        match SPECIAL_LETTERS.iter().find(|(special, _)| *special == letter) {
            Some((_, spelling)) => plain.push_str(spelling),
            None => plain.push(letter),
        }
    }
    // Puts the parts of Korean syllables together again.
    plain.nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_case_and_accents() {
        for (name, expected) in [
            ("Last_Verified (UTC)", "lastverifiedutc"),
            ("Straße", "strasse"),
            ("Längengrad", "langengrad"),
            ("İl", "il"),
            ("Açık", "acik"),
            ("Szerokość", "szerokosc"),
            ("Długość", "dlugosc"),
            ("郵便番号", "郵便番号"),
            ("전화 번호", "전화번호"),
            ("Ｌａｔ", "lat"),
            ("", ""),
            ("%", ""),
        ] {
            assert_eq!(normalized(name), expected, "{name}");
        }
    }
}
