//! Words that people put around a place, and texts that say nothing of where.

use crate::fold::{long_form, words};

/// Words before a place that do not belong to it, in the languages in which people ask. Sorted.
#[rustfmt::skip]
const BEFORE: [&str; 92] = [
    "a", "al", "am", "any", "are", "around", "at", "atm", "atms", "automat", "automaten", "bei", "best", "bitcoin",
    "bitcoins", "btc", "buy", "by", "caixa", "cajero", "cajeros", "can", "cash", "cerca", "cercano", "cheapest",
    "close", "closest", "code", "crypto", "de", "distributeur", "do", "downtown", "em", "en", "find", "for", "get",
    "good", "how", "i", "ill", "im", "in", "is", "it", "ive", "kiosk", "kiosks", "list", "local", "locate",
    "locations", "looking", "machine", "machines", "me", "nahe", "near", "nearby", "nearest", "need", "next", "of",
    "on", "one", "ones", "open", "or", "outside", "perto", "please", "postal", "pres", "proche", "s", "sell",
    "show", "some", "tell", "the", "there", "to", "von", "want", "what", "whats", "where", "with", "zip", "zipcode",
];
/// Words after a place that do not belong to it. Sorted.
#[rustfmt::skip]
const AFTER: [&str; 24] = [
    "area", "around", "atm", "atms", "bitcoin", "bitcoins", "btc", "crypto", "downtown", "here", "kiosk", "kiosks",
    "machine", "machines", "me", "near", "nearby", "now", "open", "please", "right", "thanks", "today", "tonight",
];
/// Words with which people say where they are, or what could be anywhere: `my current location`, `the mall`. Sorted.
#[rustfmt::skip]
const OWN: [&str; 188] = [
    "aca", "actual", "actuelle", "address", "agora", "ahora", "airport", "aktuell", "aktuelle", "aktuellen",
    "aktueller", "alrededor", "anywhere", "apartment", "aqui", "atual", "automatico", "automaticos", "autour",
    "bairro", "bank", "barrio", "beach", "benutzer", "bin", "block", "caixas", "casa", "cercana", "cercanas",
    "chez", "cidade", "city", "ciudad", "coin", "coordinates", "corner", "current", "currently", "da", "dans",
    "daqui", "der", "die", "distance", "distributeurs", "donde", "dont", "drive", "driving", "eletronico",
    "estacion", "estou", "estoy", "eu", "everywhere", "from", "gare", "gas", "geldautomat", "geldautomaten",
    "gerade", "gps", "guichet", "haus", "hause", "herum", "hier", "home", "hospital", "hotel", "house", "ich",
    "ici", "je", "jetzt", "know", "library", "live", "living", "localizacao", "locally", "location", "ma",
    "maintenant", "mais", "maison", "mall", "market", "mas", "mein", "meine", "meinem", "meinen", "meiner",
    "meters", "meu", "mi", "mich", "miles", "mim", "mine", "minha", "mir", "moi", "mon", "more", "my", "myself",
    "na", "nachste", "nachsten", "nachster", "naechste", "nas", "neighborhood", "neighbourhood", "no", "none",
    "not", "null", "office", "onde", "ort", "ou", "phone", "place", "plus", "por", "posicao", "posicion",
    "position", "present", "proches", "proxima", "proximite", "proximo", "quartier", "redor", "same", "school",
    "shop", "sitting", "somewhere", "spot", "stadt", "standing", "standort", "state", "station", "stay", "staying",
    "store", "street", "suis", "supermarket", "sure", "that", "this", "town", "ubicacion", "um", "umgebung",
    "undefined", "university", "unknown", "user", "users", "usuario", "utilisateur", "vicinity", "ville", "volta",
    "walk", "walking", "whatever", "whereabouts", "wherever", "within", "wo", "work", "yo", "you", "your", "zona",
    "zone", "zu", "zuhause",
];

/// Words that may belong to a name as well as stand before it: `De Leon`, `The Colony`. Sorted.
const ARTICLES: [&str; 8] = ["al", "de", "der", "do", "em", "en", "the", "von"];

/// The text without what people put around a place, as in `bitcoin atms near Miami`. What is left is never empty.
pub(super) fn without_words_around(text: &str) -> &str {
    let mut bare = text.trim();
    while let Some((first, rest)) = bare.split_once(char::is_whitespace)
        && all_words(first, |word| is_in(&BEFORE, word))
    {
        bare = rest.trim_start();
    }
    while let Some((rest, last)) = bare.rsplit_once(char::is_whitespace)
        && all_words(last, |word| is_in(&AFTER, word))
        && !is_maine(rest, last)
        && (!last.eq_ignore_ascii_case("me") || ends_near(rest))
    {
        bare = rest.trim_end();
    }
    bare
}

/// The text without the words around a place, with what may be the beginning of its name.
pub(super) fn with_its_article<'a>(text: &'a str, bare: &'a str) -> &'a str {
    let Some(start) = (bare.as_ptr() as usize).checked_sub(text.as_ptr() as usize) else { return bare };
    let (before, _) = text.split_at(start.min(text.len()));
    let articles = before.split_whitespace().rev().take_while(|word| is_in(&ARTICLES, &word.to_lowercase()));
    let Some(first) = articles.last() else { return bare };
    let start = first.as_ptr() as usize - text.as_ptr() as usize;
    let end = bare.as_ptr() as usize + bare.len() - text.as_ptr() as usize;
    text.get(start..end).unwrap_or(bare)
}

/// Whether a text ends with a word that makes a place of the one behind it: `near me`, not `surprise me`.
fn ends_near(text: &str) -> bool {
    let last = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    ["near", "around", "by", "to", "close", "closest", "nearest"].iter().any(|word| last.eq_ignore_ascii_case(word))
}

/// Whether the last word of a text is the state and not the person who asks.
fn is_maine(before: &str, last: &str) -> bool {
    let is_code = last.trim_end_matches('.') == "ME" && before.contains(|letter: char| letter.is_lowercase());
    is_code || (before.ends_with(',') && last.eq_ignore_ascii_case("me"))
}

/// Whether a text says nothing of where: it has only words around a place, and those with which people say where they
/// are themselves.
pub(super) fn says_no_place(text: &str) -> bool {
    text.split_whitespace()
        .all(|piece| all_words(piece, |word| is_in(&BEFORE, word) || is_in(&AFTER, word) || is_in(&OWN, word)))
}

fn all_words(piece: &str, is_known: impl Fn(&str) -> bool) -> bool {
    // Most are plain, and folding them takes longer than all else here.
    let bare = piece.trim_end_matches([',', ';', ':', '!', '?']);
    let mut plain = [0; LONGEST];
    if let Some(plain) = plain.get_mut(..bare.len())
        && !bare.is_empty()
        && bare.bytes().all(|letter| letter.is_ascii_alphanumeric())
    {
        plain.copy_from_slice(bare.as_bytes());
        plain.make_ascii_lowercase();
        return std::str::from_utf8(plain).is_ok_and(|word| is_known(long_form(word).unwrap_or(word)));
    }
    piece.len() <= 4 * LONGEST && words(piece).iter().all(|word| is_known(word))
}

/// Letters of the longest of the words.
const LONGEST: usize = 14;

fn is_in(sorted: &[&str], word: &str) -> bool {
    sorted.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_sorted() {
        for list in [&BEFORE[..], &AFTER, &OWN, &ARTICLES] {
            assert!(list.is_sorted(), "{list:?}");
        }
    }

    #[test]
    fn texts_that_say_no_place_are_told_from_places() {
        for text in [
            "near me",
            "here",
            "my current location",
            "where I am right now",
            "the closest one to my house",
            "around here",
            "bitcoin atm",
            "cerca de mí",
            "mi ubicación actual",
            "près de moi",
            "ma position",
            "in meiner Nähe",
            "mein aktueller Standort",
            "perto de mim",
            "minha localização",
            "I don't know",
            "the user's location",
            "the nearest gas station",
        ] {
            assert!(says_no_place(text), "{text}");
        }
        for text in ["Miami", "near me in Austin", "La Jolla", "Home, WA", "The Dalles", "mall in Tulsa"] {
            assert!(!says_no_place(text), "{text}");
        }
        assert_eq!(without_words_around("find a bitcoin ATM near me in Austin please"), "Austin");
        assert_eq!(without_words_around("downtown Portland, ME please"), "Portland, ME");
        let text = "bitcoin atm near De Leon, TX please";
        assert_eq!(with_its_article(text, without_words_around(text)), "De Leon, TX");
    }
}
