//! Detection of filler words around a place (`bitcoin atms near Miami`) and of texts without a place (`near me`).

use crate::fold::{long_form, words};

/// Filler words before a place, in several languages, sorted alphabetically.
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
/// Filler words after a place, sorted alphabetically.
#[rustfmt::skip]
const AFTER: [&str; 24] = [
    "area", "around", "atm", "atms", "bitcoin", "bitcoins", "btc", "crypto", "downtown", "here", "kiosk", "kiosks",
    "machine", "machines", "me", "near", "nearby", "now", "open", "please", "right", "thanks", "today", "tonight",
];
/// Words for the user's own position or for common things: `my current location`, `the mall`. Sorted alphabetically.
#[rustfmt::skip]
const NON_PLACE_WORDS: [&str; 188] = [
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

/// Filler words that may also be the start of a name: `De Leon`, `The Colony`. Sorted alphabetically.
const ARTICLES: [&str; 8] = ["al", "de", "der", "do", "em", "en", "the", "von"];

/// Returns the text without the filler words around a place, as in `bitcoin atms near Miami`. The result is never
/// empty.
pub(super) fn without_filler_words(text: &str) -> &str {
    let mut core = text.trim();
    while let Some((first, rest)) = core.split_once(char::is_whitespace)
        && all_words(first, |word| is_in(&BEFORE, word))
    {
        core = rest.trim_start();
    }
    while let Some((rest, last)) = core.rsplit_once(char::is_whitespace)
        && all_words(last, |word| is_in(&AFTER, word))
        && !is_maine(rest, last)
        && (!last.eq_ignore_ascii_case("me") || ends_near(rest))
    {
        core = rest.trim_end();
    }
    core
}

/// Extends the core of a text by the articles before it, because they may be the start of its name.
pub(super) fn include_article<'a>(text: &'a str, core: &'a str) -> &'a str {
    let Some(start) = (core.as_ptr() as usize).checked_sub(text.as_ptr() as usize) else { return core };
    let (before, _) = text.split_at(start.min(text.len()));
    let articles = before.split_whitespace().rev().take_while(|word| is_in(&ARTICLES, &word.to_lowercase()));
    let Some(first) = articles.last() else { return core };
    let start = first.as_ptr() as usize - text.as_ptr() as usize;
    let end = core.as_ptr() as usize + core.len() - text.as_ptr() as usize;
    text.get(start..end).unwrap_or(core)
}

/// Returns `true` if a text ends in a preposition, to distinguish `near me` from `surprise me`.
fn ends_near(text: &str) -> bool {
    let last = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    ["near", "around", "by", "to", "close", "closest", "nearest"].iter().any(|word| last.eq_ignore_ascii_case(word))
}

/// Checks whether the last word of a text is the state of Maine.
fn is_maine(before: &str, last: &str) -> bool {
    let is_code = last.trim_end_matches('.') == "ME" && before.contains(|letter: char| letter.is_lowercase());
    is_code || (before.ends_with(',') && last.eq_ignore_ascii_case("me"))
}

/// Checks whether a text consists only of filler words and words for the user's own position.
pub(super) fn has_only_filler_words(text: &str) -> bool {
    text.split_whitespace().all(|piece| {
        all_words(piece, |word| is_in(&BEFORE, word) || is_in(&AFTER, word) || is_in(&NON_PLACE_WORDS, word))
    })
}

fn all_words(piece: &str, is_known: impl Fn(&str) -> bool) -> bool {
    // Fast path: most words are ASCII, and folding them would dominate the running time.
    let core = piece.trim_end_matches([',', ';', ':', '!', '?']);
    let mut plain = [0; MAX_WORD_BYTES];
    if let Some(plain) = plain.get_mut(..core.len())
        && !core.is_empty()
        && core.bytes().all(|letter| letter.is_ascii_alphanumeric())
    {
        plain.copy_from_slice(core.as_bytes());
        plain.make_ascii_lowercase();
        return std::str::from_utf8(plain).is_ok_and(|word| is_known(long_form(word).unwrap_or(word)));
    }
    piece.len() <= 4 * MAX_WORD_BYTES && words(piece).iter().all(|word| is_known(word))
}

/// Maximum length of the filler words in bytes.
const MAX_WORD_BYTES: usize = 14;

fn is_in(sorted: &[&str], word: &str) -> bool {
    sorted.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_lists_are_sorted() {
        for list in [&BEFORE[..], &AFTER, &NON_PLACE_WORDS, &ARTICLES] {
            assert!(list.is_sorted(), "{list:?}");
        }
    }

    #[test]
    fn texts_without_a_place_are_recognized() {
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
            assert!(has_only_filler_words(text), "{text}");
        }
        for text in ["Miami", "near me in Austin", "La Jolla", "Home, WA", "The Dalles", "mall in Tulsa"] {
            assert!(!has_only_filler_words(text), "{text}");
        }
        assert_eq!(without_filler_words("find a bitcoin ATM near me in Austin please"), "Austin");
        assert_eq!(without_filler_words("downtown Portland, ME please"), "Portland, ME");
        let text = "bitcoin atm near De Leon, TX please";
        assert_eq!(include_article(text, without_filler_words(text)), "De Leon, TX");
    }
}
