//! Shapes of postcodes of the world, and their split from the words beside them.

use super::query::Within;
use crate::address::parse_postcode;
use crate::country::Country;

/// Words before a postcode that belong to it.
#[rustfmt::skip]
const LABELS: [&str; 13] = [
    "arrondissement", "bezirk", "cap", "cep", "cod", "cp", "district", "distrito", "pincode", "plz", "postcode", "zip",
    "zipcode",
];
/// Maximum codes of a text that are tried.
const MAX_CODES: usize = 4;

/// A postcode in a text with other words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PostcodeInText<'a> {
    /// The code as written: `10115`, `110 00`, `SW1A 1AA`.
    pub(super) code: &'a str,
    /// The text without the code.
    pub(super) rest: String,
    /// `true` if the text ends with the code.
    pub(super) is_at_the_end: bool,
}

/// Shapes of postcodes by country: 9 is a digit, A a letter. Other countries have four to six digits.
#[rustfmt::skip]
const SHAPES: [(&str, &[&str]); 45] = [
    ("AR", &["9999", "A9999", "A9999AAA"]), ("AT", &["9999"]), ("AU", &["9999"]), ("BE", &["9999"]),
    ("BG", &["9999"]), ("BR", &["99999-999", "99999999", "99999"]), ("CA", &["A9A9A9", "A9A 9A9"]), ("CH", &["9999"]),
    ("CL", &["9999999", "999-9999", "9999"]), ("CN", &["999999"]), ("CZ", &["99999", "999 99"]), ("DE", &["99999"]),
    ("DK", &["9999"]), ("ES", &["99999"]), ("FI", &["99999"]), ("FR", &["99999"]), ("GR", &["99999", "999 99"]),
    ("HU", &["9999"]), ("IE", &["A99 AAAA", "A999999"]), ("IL", &["9999999", "99999"]),
    ("IN", &["999999", "999 999"]), ("IT", &["99999"]), ("JP", &["999-9999", "9999999"]), ("KR", &["99999"]),
    ("MX", &["99999"]), ("MY", &["99999"]), ("NL", &["9999 AA", "9999AA", "9999"]), ("NO", &["9999"]),
    ("NZ", &["9999"]), ("PE", &["99999"]), ("PH", &["9999"]), ("PL", &["99-999", "99999"]),
    ("PT", &["9999-999", "9999"]), ("RO", &["999999"]), ("RU", &["999999"]), ("SE", &["99999", "999 99"]),
    ("SG", &["999999"]), ("SI", &["9999"]), ("SK", &["99999", "999 99"]), ("TR", &["99999"]),
    ("TW", &["99999", "999999"]), ("UA", &["99999"]), ("US", &["99999", "99999-9999"]), ("VE", &["9999"]),
    ("ZA", &["9999"]),
];

/// The letters of the postcode areas of the United Kingdom, and their post towns. Sorted.
#[rustfmt::skip]
const UK_AREAS: [(&str, &str); 124] = [
    ("AB", "Aberdeen"), ("AL", "St Albans"), ("B", "Birmingham"), ("BA", "Bath"), ("BB", "Blackburn"), ("BD", "Bradford"),
    ("BH", "Bournemouth"), ("BL", "Bolton"), ("BN", "Brighton"), ("BR", "Bromley"), ("BS", "Bristol"), ("BT", "Belfast"),
    ("CA", "Carlisle"), ("CB", "Cambridge"), ("CF", "Cardiff"), ("CH", "Chester"), ("CM", "Chelmsford"),
    ("CO", "Colchester"), ("CR", "Croydon"), ("CT", "Canterbury"), ("CV", "Coventry"), ("CW", "Crewe"), ("DA", "Dartford"),
    ("DD", "Dundee"), ("DE", "Derby"), ("DG", "Dumfries"), ("DH", "Durham"), ("DL", "Darlington"), ("DN", "Doncaster"),
    ("DT", "Dorchester"), ("DY", "Dudley"), ("E", "London"), ("EC", "London"), ("EH", "Edinburgh"), ("EN", "Enfield"),
    ("EX", "Exeter"), ("FK", "Falkirk"), ("FY", "Blackpool"), ("G", "Glasgow"), ("GL", "Gloucester"), ("GU", "Guildford"),
    ("GY", "Saint Peter Port"), ("HA", "Harrow"), ("HD", "Huddersfield"), ("HG", "Harrogate"), ("HP", "Hemel Hempstead"),
    ("HR", "Hereford"), ("HS", "Stornoway"), ("HU", "Hull"), ("HX", "Halifax"), ("IG", "Ilford"), ("IM", "Douglas"),
    ("IP", "Ipswich"), ("IV", "Inverness"), ("JE", "Saint Helier"), ("KA", "Kilmarnock"), ("KT", "Kingston upon Thames"),
    ("KW", "Kirkwall"), ("KY", "Kirkcaldy"), ("L", "Liverpool"), ("LA", "Lancaster"), ("LD", "Llandrindod Wells"),
    ("LE", "Leicester"), ("LL", "Llandudno"), ("LN", "Lincoln"), ("LS", "Leeds"), ("LU", "Luton"), ("M", "Manchester"),
    ("ME", "Rochester"), ("MK", "Milton Keynes"), ("ML", "Motherwell"), ("N", "London"), ("NE", "Newcastle upon Tyne"),
    ("NG", "Nottingham"), ("NN", "Northampton"), ("NP", "Newport"), ("NR", "Norwich"), ("NW", "London"), ("OL", "Oldham"),
    ("OX", "Oxford"), ("PA", "Paisley"), ("PE", "Peterborough"), ("PH", "Perth"), ("PL", "Plymouth"), ("PO", "Portsmouth"),
    ("PR", "Preston"), ("RG", "Reading"), ("RH", "Redhill"), ("RM", "Romford"), ("S", "Sheffield"), ("SA", "Swansea"),
    ("SE", "London"), ("SG", "Stevenage"), ("SK", "Stockport"), ("SL", "Slough"), ("SM", "Sutton"), ("SN", "Swindon"),
    ("SO", "Southampton"), ("SP", "Salisbury"), ("SR", "Sunderland"), ("SS", "Southend-on-Sea"), ("ST", "Stoke-on-Trent"),
    ("SW", "London"), ("SY", "Shrewsbury"), ("TA", "Taunton"), ("TD", "Galashiels"), ("TF", "Telford"), ("TN", "Tonbridge"),
    ("TQ", "Torquay"), ("TR", "Truro"), ("TS", "Middlesbrough"), ("TW", "Twickenham"), ("UB", "Southall"), ("W", "London"),
    ("WA", "Warrington"), ("WC", "London"), ("WD", "Watford"), ("WF", "Wakefield"), ("WN", "Wigan"), ("WR", "Worcester"),
    ("WS", "Walsall"), ("WV", "Wolverhampton"), ("YO", "York"), ("ZE", "Lerwick"),
];

/// Returns the shape of a text: 9 for a digit, A for a letter.
fn shape(text: &str) -> String {
    text.chars()
        .map(|letter| match letter {
            '0'..='9' => '9',
            letter if letter.is_ascii_alphabetic() => 'A',
            letter if letter.is_whitespace() => ' ',
            letter => letter,
        })
        .collect()
}

/// Returns a code without the letters of its country, as in `D-10115`.
fn without_country_letters(code: &str) -> &str {
    match code.split_once('-') {
        Some((letters, number)) if letters.len() <= 2 && letters.bytes().all(|letter| letter.is_ascii_uppercase()) => {
            number
        }
        _ => code,
    }
}

/// Checks whether a code has the shape of the postcodes of a country.
pub(super) fn fits(country: Country, code: &str) -> bool {
    if country.code() == "GB" {
        return uk_post_town(code).is_some();
    }
    let shape = shape(without_country_letters(code));
    match SHAPES.binary_search_by_key(&country.code(), |(country, _)| country) {
        Ok(at) => SHAPES[at].1.contains(&shape.as_str()) || (country.code() == "IE" && is_eircode(code)),
        Err(_) => shape.bytes().all(|digit| digit == b'9') && (4..=6).contains(&shape.len()),
    }
}

/// Checks for the number of a district after a city: `Dublin 2`, `Paris 16e`.
pub(super) fn is_district_number(code: &str) -> bool {
    let number = code.trim_end_matches(['e', '.']);
    (1..=2).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Checks for an Irish Eircode: `D02 X285`.
fn is_eircode(code: &str) -> bool {
    let bare: Vec<u8> = code.bytes().filter(|letter| !letter.is_ascii_whitespace()).collect();
    let [area, digit, last, unit @ ..] = &bare[..] else { return false };
    let is_routing_key = area.is_ascii_alphabetic()
        && digit.is_ascii_digit()
        && (last.is_ascii_digit() || last.eq_ignore_ascii_case(&b'w'));
    is_routing_key && unit.len() == 4 && unit.iter().all(u8::is_ascii_alphanumeric)
}

/// Returns the post town of a postcode of the United Kingdom, or of its first half (the outward code).
pub(super) fn uk_post_town(code: &str) -> Option<&'static str> {
    const OUTWARD: [&str; 6] = ["A9", "A99", "AA9", "AA99", "A9A", "AA9A"];
    let upper = code.trim().to_ascii_uppercase();
    let (outward, inward) = match upper.split_once(' ') {
        Some((outward, inward)) => (outward, Some(inward.trim())),
        None if upper.len() > 4 && upper.is_ascii() => {
            let (outward, inward) = upper.split_at(upper.len() - 3);
            (outward, Some(inward))
        }
        None => (upper.as_str(), None),
    };
    if !OUTWARD.contains(&shape(outward).as_str()) || inward.is_some_and(|inward| shape(inward) != "9AA") {
        return None;
    }
    let area = outward.trim_end_matches(|letter: char| !letter.is_ascii_alphabetic());
    let area = &area[..area.bytes().take_while(u8::is_ascii_alphabetic).count()];
    let at = UK_AREAS.binary_search_by_key(&area, |(letters, _)| letters).ok()?;
    Some(UK_AREAS[at].1)
}

/// Checks for a code with the shape of a postcode of some country.
fn is_code(text: &str) -> bool {
    if !text.bytes().any(|byte| byte.is_ascii_digit()) || text.len() > 10 {
        return false;
    }
    let shape = shape(without_country_letters(text));
    SHAPES.iter().any(|(_, shapes)| shapes.contains(&shape.as_str()))
        || parse_postcode(text).is_some()
        || uk_post_town(text).is_some()
        || is_eircode(text)
}

/// Splits postcodes off the words beside them: at the start or end of a part of the text between commas, or before an
/// area at its end, as in `San José 10101 Costa Rica`. Returns the longest codes first.
pub(super) fn split_postcodes(text: &str) -> Vec<PostcodeInText<'_>> {
    let mut found = Vec::new();
    for part in text.split(',') {
        let words = word_spans(text, part);
        for length in [2, 1] {
            for at in 0..(words.len() + 1).saturating_sub(length) {
                let end = at + length;
                let code = &text[words[at].0..words[end - 1].1];
                let after = text[words[end - 1].1..].split(',').next().unwrap_or_default().trim();
                let is_at_the_end = words[end - 1].1 == text.trim_end().len();
                let is_district = at > 0 && is_at_the_end && found.is_empty() && is_district_number(code);
                let is_at_an_end = at == 0 || end == words.len() || is_label(text, words[at - 1]);
                let is_before_area = is_at_an_end || !Within::ending(after).is_empty();
                if found.len() == MAX_CODES || !(is_district || (is_code(code) && is_before_area)) {
                    continue;
                }
                let start = if at > 0 && is_label(text, words[at - 1]) { words[at - 1].0 } else { words[at].0 };
                let rest = format!("{} {}", text[..start].trim_end(), text[words[end - 1].1..].trim_start());
                found.push(PostcodeInText { code, rest: rest.trim().to_owned(), is_at_the_end });
            }
        }
        found.extend(words.iter().filter_map(|word| split_hyphen(text, *word)).take(1));
    }
    found.truncate(MAX_CODES);
    found
}

/// Splits the code off a word with a hyphen, as in `Kolkata-700001`.
fn split_hyphen(text: &str, (start, end): (usize, usize)) -> Option<PostcodeInText<'_>> {
    /// Minimum letters of the name before the hyphen. Fewer letters are those of a country.
    const MIN_LETTERS: usize = 3;
    let (name, code) = text[start..end].split_once('-')?;
    let is_split = name.chars().all(char::is_alphabetic)
        && name.chars().count() >= MIN_LETTERS
        && (5..=6).contains(&code.len())
        && code.bytes().all(|digit| digit.is_ascii_digit());
    if !is_split {
        return None;
    }
    let rest = format!("{}{}", &text[..start + name.len()], &text[end..]);
    Some(PostcodeInText { code, rest, is_at_the_end: end == text.trim_end().len() })
}

/// Checks for a code with letters and digits that means nothing else: a British postcode with both halves, or an
/// Eircode in capitals. `I95 Exit` has the shape of an Eircode.
pub(super) fn is_only_a_postcode(code: &str) -> bool {
    let is_upper = !code.bytes().any(|letter| letter.is_ascii_lowercase());
    (code.len() >= 6 && uk_post_town(code).is_some()) || (is_upper && is_eircode(code))
}

fn is_label(text: &str, (start, end): (usize, usize)) -> bool {
    is_label_word(&text[start..end])
}

/// Checks for a word before a postcode that belongs to it, such as `CEP`.
pub(super) fn is_label_word(word: &str) -> bool {
    let letters: String = word.chars().filter(|letter| letter.is_alphabetic()).collect();
    LABELS.contains(&letters.to_lowercase().as_str())
}

/// Returns the start and end in the text of each word of a part of it.
fn word_spans(text: &str, part: &str) -> Vec<(usize, usize)> {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    let words = part.split_whitespace().map(|word| (word.as_ptr() as usize - part.as_ptr() as usize, word.len()));
    words.map(|(at, length)| (start + at, start + at + length)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(SHAPES.is_sorted_by_key(|(country, _)| country));
        assert!(UK_AREAS.is_sorted_by_key(|(area, _)| area));
    }

    #[test]
    fn postcodes_are_split_from_words() {
        for (text, expected) in [
            ("10115 Berlin", &[("10115", "Berlin")][..]),
            ("Praha 110 00", &[("110 00", "Praha")]),
            ("Gran Vía 28, 28013 Madrid", &[("28013", "Gran Vía 28, Madrid")]),
            ("1012 AB Amsterdam", &[("1012 AB", "Amsterdam"), ("1012", "AB Amsterdam")]),
            ("M1 1AE Manchester", &[("M1 1AE", "Manchester"), ("M1", "1AE Manchester")]),
            ("San José 10101 Costa Rica", &[("10101", "San José Costa Rica")]),
            ("CP 64000 Monterrey", &[("64000", "Monterrey")]),
            ("MIDLAND, MI, 48642, US", &[("48642", "MIDLAND, MI, , US")]),
            ("Austin, TX", &[]),
            ("Dublin 24", &[("24", "Dublin")]),
            ("Kolkata-700001, India", &[("700001", "Kolkata, India")]),
            ("Ho Chi Minh City District 1", &[("1", "Ho Chi Minh City")]),
            ("1 Main St", &[]),
        ] {
            let found = split_postcodes(text);
            let found: Vec<(&str, &str)> = found.iter().map(|found| (found.code, found.rest.as_str())).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn shapes_belong_to_countries() {
        for (country, code, expected) in [
            ("DE", "10115", true),
            ("DE", "D-10115", true),
            ("DE", "1010", false),
            ("AT", "1010", true),
            ("JP", "171-0022", true),
            ("AR", "C1002", true),
            ("IL", "6100000", true),
            ("GB", "SW1A 1AA", true),
            ("GB", "M1", true),
            ("GB", "QQ1", false),
            ("IE", "D02 X285", true),
            ("PA", "0801", true),
            ("NL", "1012 AB", true),
        ] {
            assert_eq!(fits(Country::parse(country).unwrap(), code), expected, "{country} {code}");
        }
    }

    #[test]
    fn uk_area_names_its_post_town() {
        assert_eq!(uk_post_town("SW1A 1AA"), Some("London"));
        assert_eq!(uk_post_town("m11ae"), Some("Manchester"));
        assert_eq!(uk_post_town("EH1"), Some("Edinburgh"));
        for code in ["", "A1", "1AA", "SW1A 1A", "É1", "SW1A 1AAA"] {
            assert_eq!(uk_post_town(code), None, "{code}");
        }
    }
}
