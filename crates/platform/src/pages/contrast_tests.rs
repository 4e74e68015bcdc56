//! Tests that the stylesheet's colours have the contrast that WCAG 2.2 requires (success criteria
//! 1.4.3 and 1.4.11).

use std::collections::{BTreeMap, BTreeSet};

const STYLES: &str = include_str!("../../assets/signpost.css");
const MIN_TEXT_CONTRAST: f64 = 4.5;
const MIN_CONTROL_CONTRAST: f64 = 3.0;

/// Returns the colours that a CSS block sets, by the name of their custom property.
fn colours(block: &str) -> BTreeMap<&str, [u8; 3]> {
    let declarations = block.split(';').filter_map(|one| one.rsplit_once("--")?.1.split_once(':'));
    let colours = declarations.filter_map(|(name, value)| Some((name, colour(value.trim())?)));
    colours.collect()
}

fn colour(value: &str) -> Option<[u8; 3]> {
    let digits = value.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let part = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
    Some([part(0)?, part(2)?, part(4)?])
}

/// Returns the colours of both themes. The dark theme overrides some colours of the light theme.
fn themes() -> [(&'static str, BTreeMap<&'static str, [u8; 3]>); 2] {
    let mut blocks = STYLES.split(":root {").skip(1).map(|rest| rest.split('}').next().unwrap());
    let light = colours(blocks.next().unwrap());
    let mut dark = light.clone();
    dark.extend(colours(blocks.next().unwrap()));
    [("light", light), ("dark", dark)]
}

fn luminance(colour: [u8; 3]) -> f64 {
    let linear = |part: u8| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    let [red, green, blue] = colour.map(linear);
    0.0722f64.mul_add(blue, 0.2126f64.mul_add(red, 0.7152 * green))
}

fn ratio(one: [u8; 3], other: [u8; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn ratios_match_the_definition() {
    let close = |one, other, expected: f64| (ratio(one, other) - expected).abs() < 0.01;
    assert!(close([0; 3], [255; 3], 21.0) && close([255; 3], [255; 3], 1.0));
    assert!(close([0x76; 3], [255; 3], 4.54), "{}", ratio([0x76; 3], [255; 3]));
}

#[test]
fn contrast_suffices_in_both_themes() {
    let backgrounds = ["bg", "surface", "sunken"];
    let notices = ["info-bg", "warn-bg", "danger-bg", "tint"];
    let mut pairs = vec![
        ("on-accent", "accent", MIN_TEXT_CONTRAST),
        ("on-accent", "accent-strong", MIN_TEXT_CONTRAST),
        ("on-plate", "plate", MIN_TEXT_CONTRAST),
        ("info", "info-bg", MIN_TEXT_CONTRAST),
        ("warn", "warn-bg", MIN_TEXT_CONTRAST),
        ("danger", "danger-bg", MIN_TEXT_CONTRAST),
        ("danger", "surface", MIN_TEXT_CONTRAST),
        ("accent-strong", "surface", MIN_TEXT_CONTRAST),
        ("warn", "surface", MIN_TEXT_CONTRAST),
        ("ink", "land", MIN_TEXT_CONTRAST),
        ("soft", "land", MIN_TEXT_CONTRAST),
        ("edge", "land", MIN_CONTROL_CONTRAST),
        ("info", "land", MIN_CONTROL_CONTRAST),
        ("accent", "land", MIN_CONTROL_CONTRAST),
    ];
    for background in backgrounds {
        pairs.extend([
            ("ink", background, MIN_TEXT_CONTRAST),
            ("soft", background, MIN_TEXT_CONTRAST),
            ("accent", background, MIN_TEXT_CONTRAST),
        ]);
        pairs.extend([("edge", background, MIN_CONTROL_CONTRAST), ("focus", background, MIN_CONTROL_CONTRAST)]);
    }
    for background in notices {
        pairs.extend([
            ("ink", background, MIN_TEXT_CONTRAST),
            ("accent", background, MIN_TEXT_CONTRAST),
            ("focus", background, MIN_CONTROL_CONTRAST),
        ]);
    }
    for (theme, colours) in themes() {
        for (text, background, minimum) in &pairs {
            let found = ratio(colours[text], colours[background]);
            assert!(found >= *minimum, "{theme}: {text} on {background} has {found:.2}, and needs {minimum}");
        }
    }
}

#[test]
fn stylesheet_defines_each_colour_once() {
    let (tokens, rules) = STYLES.split_once("/* Base */").unwrap();
    let hashes = rules.match_indices('#').map(|(at, _)| &rules[at + 1..]);
    let literal = |rest: &&str| rest.bytes().take_while(u8::is_ascii_hexdigit).count() >= 6;
    // QR codes are dark on white in both themes, because cameras cannot read inverted codes.
    // Printed pages are too.
    let literals: BTreeSet<_> = hashes.filter(literal).map(|rest| &rest[..6]).collect();
    assert_eq!(literals, ["0a0f0d", "ffffff"].into());
    let names = |text: &'static str| {
        let parts = text.split("var(--").skip(1).map(|rest| rest.split(')').next().unwrap());
        parts.collect::<BTreeSet<_>>()
    };
    let missing: Vec<_> = names(rules).into_iter().filter(|name| !tokens.contains(&format!("--{name}:"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(!STYLES.contains("url(") && !STYLES.contains("@import"), "it loads something");
}
