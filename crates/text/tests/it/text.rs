//! Tests of the characters that are removed and of those that are preserved.

use proptest::prelude::*;
use signpost_text::{clean_line, clean_text, escape_json};

/// Texts without superfluous characters, which must not change.
pub(crate) const ORDINARY: &[&str] = &[
    "",
    "Corner Shop, 100 Congress Ave #4, Austin, TX 78701",
    "São Paulo, Łódź, Đà Nẵng, Ørsta, İstanbul, Zürich, Þórshöfn",
    "Café with a combining accent: Cafe\u{301}",
    "Афины Αθήνα ავტომატი Երևան",
    "東京都渋谷区 서울특별시 北京市 ㄅㄆㄇ",
    "القاهرة שלום עולם کراچی",
    // Persian: a non-joiner separates a prefix.
    "می\u{200c}خواهم خانه\u{200c}ای",
    // Hindi, Bengali, Malayalam, Sinhala: joiners behind a virama.
    "क्\u{200d}ष क्\u{200c}ष র্\u{200d}যাব ന്\u{200d} ශ්\u{200d}රී ලංකා",
    "ไทย ພາສາລາວ မြန်မာ ភាសាខ្មែរ བོད་ཡིག தமிழ் አማርኛ",
    // Mongolian with its vowel separator and a selector.
    "ᠴᠠᠭᠠ\u{180e}ᠠ ᠰᠠᠷ\u{180b}ᠠ",
    "a\u{a0}no-break space, an em\u{2003}space, tabs none, “quotes” — dashes… ₿ € £ ¥",
    "𝔪𝔞𝔱𝔥 𐍈 𓀀",
    // Emoji: families, skin tones, flags, keycaps, text and picture, a rainbow, a pirate, hair.
    "👨\u{200d}👩\u{200d}👧\u{200d}👦 👍🏽 🧑🏿\u{200d}💻 🇺🇸🇨🇦 #\u{fe0f}\u{20e3}1\u{fe0f}\u{20e3} ❤\u{fe0f}\u{200d}🔥 ☎\u{fe0e} ☎\u{fe0f}",
    "🏳\u{fe0f}\u{200d}🌈 🏴\u{200d}☠\u{fe0f} 👩\u{200d}🦰 👁\u{fe0f}\u{200d}🗨\u{fe0f} ⛹🏿\u{200d}♂\u{fe0f} ©\u{fe0f}",
];

/// Characters that are invisible by themselves and superfluous without context.
pub(crate) const HIDDEN: &str = "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}\
    \u{200b}\u{2060}\u{feff}\u{200c}\u{200d}\u{e0000}\u{e0001}\u{e0041}\u{e007f}\u{ad}\u{34f}\u{115f}\u{3164}\u{ffa0}\
    \u{2061}\u{206a}\u{206f}\u{fe00}\u{fe0e}\u{fe0f}\u{e0100}\u{e01ef}\u{fff9}\u{fffa}\u{fffb}\u{180b}\u{180e}";

#[test]
fn ordinary_text_is_unchanged() {
    for text in ORDINARY {
        assert_eq!(clean_line(text), *text);
        assert_eq!(clean_text(text), *text);
        assert_eq!(escape_json(text), *text);
    }
}

#[test]
fn invisible_characters_are_removed() {
    for hidden in HIDDEN.chars() {
        let text = format!("a{hidden}b{hidden}{hidden} 1{hidden}東{hidden}");
        assert_eq!(clean_line(&text), "ab 1東", "{:?}", u32::from(hidden));
    }
    for control in (0..0x20).chain(0x7f..0xa0).chain([0x2028, 0x2029]).filter_map(char::from_u32) {
        assert_eq!(clean_line(&format!("a{control}b")), "a b", "{control:?}");
        let stays = control == '\n' || control == '\t';
        assert_eq!(clean_text(&format!("a{control}b")), if stays { format!("a{control}b") } else { "a b".to_owned() });
    }
}

#[test]
fn hidden_characters_are_found_anywhere() {
    for at in 0..200 {
        let before = "a".repeat(at);
        assert_eq!(clean_line(&format!("{before}\u{202e}b\n")), format!("{before}b "), "{at}");
        assert_eq!(clean_text(&format!("{before}\n{before}\u{202e}")), format!("{before}\n{before}"), "{at}");
    }
}

#[test]
fn joiners_stay_only_between_joined_letters() {
    for (text, left) in [
        // One joiner between emoji, and none next to a letter.
        ("👨\u{200d}\u{200d}👩", "👨\u{200d}👩"),
        ("👨\u{200d}a", "👨a"),
        ("a\u{200d}👨", "a👨"),
        ("👨\u{200d}", "👨"),
        ("\u{200d}👨", "👨"),
        // A non-joiner after a letter that does not join has no effect.
        ("آزاد\u{200c}راه", "آزادراه"),
        ("می\u{200c}\u{200c}خواهم", "می\u{200c}خواهم"),
        ("می\u{200c}", "می"),
        ("क्\u{200d}\u{200d}ष", "क्\u{200d}ष"),
        // A flag that is spelt with tags.
        ("🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}", "🏴"),
        // A digit is an emoji only as a keycap.
        ("80\u{fe0f}5", "805"),
        ("❤\u{fe0f}\u{fe0f}", "❤\u{fe0f}"),
        ("葛\u{e0100}城", "葛城"),
    ] {
        assert_eq!(clean_line(text), left, "{text:?}");
    }
}

#[test]
fn terminal_control_sequences_are_removed() {
    assert_eq!(clean_line("ok\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m"), "ok [2J ]0;title  31m");
}

/// Returns `true` if a character must not occur in cleaned text.
pub(crate) fn is_dangerous(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Generates difficult texts: mostly invisible characters next to characters that affect their
/// spelling.
fn hostile() -> impl Strategy<Value = String> {
    let sample = ORDINARY.concat() + HIDDEN + "\u{1b}\u{9b}\n\t\r\u{2028}";
    let letters: Vec<char> = sample.chars().collect();
    let letter = prop_oneof![3 => prop::sample::select(letters), 1 => any::<char>()];
    prop::collection::vec(letter, 0..40).prop_map(|letters| letters.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cleaning_is_idempotent_and_never_grows(text in hostile()) {
        for clean in [clean_line, clean_text] {
            let once = clean(&text).into_owned();
            prop_assert_eq!(clean(&once), once.as_str());
            prop_assert!(once.len() <= text.len());
        }
    }

    #[test]
    fn only_hidden_characters_are_removed(text in hostile()) {
        let seen = |letter: &char| !HIDDEN.contains(*letter) && !letter.is_control();
        let ordinary: String = ORDINARY.concat();
        let known = |text: &str| text.chars().filter(|letter| seen(letter) && ordinary.contains(*letter)).collect::<String>();
        prop_assert_eq!(known(&clean_line(&text)).replace(' ', ""), known(&text).replace(' ', ""));
    }

    #[test]
    fn no_dangerous_character_remains(text in hostile()) {
        prop_assert!(!clean_line(&text).contains(is_dangerous));
    }

    #[test]
    fn document_has_equal_strings_and_is_visible(text in hostile()) {
        let document = serde_json::to_string(&[&text, "beside it"]).unwrap();
        let shown = escape_json(&document);
        prop_assert_eq!(&serde_json::from_str::<Vec<String>>(&shown).unwrap()[0], &text);
        prop_assert_eq!(&clean_text(&shown), &shown);
    }
}
