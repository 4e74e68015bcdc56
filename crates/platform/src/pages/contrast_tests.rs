//! Tests of the stylesheet's colours against WCAG 2.2 (1.4.3 and 1.4.11).

use std::collections::{BTreeMap, BTreeSet};

const STYLES: &str = include_str!("../../assets/signpost.css");
const TEXT: f64 = 4.5;
const CONTROL: f64 = 3.0;

/// Returns the colours that a block sets, by name.
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

/// Returns both themes: the dark theme overrides some colours of the light theme.
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
    let grounds = ["bg", "surface", "sunken"];
    let notices = ["info-bg", "warn-bg", "danger-bg", "tint"];
    let mut pairs = vec![
        ("on-accent", "accent", TEXT),
        ("on-accent", "accent-strong", TEXT),
        ("on-plate", "plate", TEXT),
        ("info", "info-bg", TEXT),
        ("warn", "warn-bg", TEXT),
        ("danger", "danger-bg", TEXT),
        ("danger", "surface", TEXT),
        ("accent-strong", "surface", TEXT),
        ("warn", "surface", TEXT),
        ("ink", "land", TEXT),
        ("soft", "land", TEXT),
        ("edge", "land", CONTROL),
        ("info", "land", CONTROL),
        ("accent", "land", CONTROL),
    ];
    for ground in grounds {
        pairs.extend([("ink", ground, TEXT), ("soft", ground, TEXT), ("accent", ground, TEXT)]);
        pairs.extend([("edge", ground, CONTROL), ("focus", ground, CONTROL)]);
    }
    for ground in notices {
        pairs.extend([("ink", ground, TEXT), ("accent", ground, TEXT), ("focus", ground, CONTROL)]);
    }
    for (theme, colours) in themes() {
        for (text, ground, least) in &pairs {
            let found = ratio(colours[text], colours[ground]);
            assert!(found >= *least, "{theme}: {text} on {ground} has {found:.2}, and needs {least}");
        }
    }
}

#[test]
fn stylesheet_defines_each_colour_once() {
    let (tokens, rules) = STYLES.split_once("/* Base */").unwrap();
    let hashes = rules.match_indices('#').map(|(at, _)| &rules[at + 1..]);
    let literal = |rest: &&str| rest.bytes().take_while(u8::is_ascii_hexdigit).count() >= 6;
    // QR codes are dark on white in both themes, because cameras cannot read the inverse, and so are printed pages.
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
