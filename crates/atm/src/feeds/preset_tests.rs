//! Tests of the presets.

use std::collections::BTreeSet;

use super::feed::{Feed, check_url};
use super::preset::{AreaCode, InvalidPreset, MAX_FEEDS_AT_ONCE, PRESETS, Preset, PresetArguments, SpiderName};

fn feeds(name: &str, areas: &[&str], spiders: &[&str], every_hours: Option<u32>) -> Result<Vec<Feed>, InvalidPreset> {
    let areas = areas.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    let spiders = spiders.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    Preset::find(name)?.feeds(&PresetArguments { areas, spiders, every_hours })
}

fn error(name: &str, areas: &[&str], spiders: &[&str], every_hours: Option<u32>) -> String {
    feeds(name, areas, spiders, every_hours).unwrap_err().to_string()
}

#[test]
fn presets_name_their_feeds() {
    for (name, areas, spiders, expected) in [
        ("btcmap", &[][..], &[][..], &["btcmap"][..]),
        ("osm", &["US", "CA"], &[], &["osm-US", "osm-CA"]),
        ("osm", &["de", " DE ", "at"], &[], &["osm-DE", "osm-AT"]),
        ("alltheplaces", &[], &["coin_flip_us", "localcoin"], &["alltheplaces-coin_flip_us", "alltheplaces-localcoin"]),
    ] {
        let found = feeds(name, areas, spiders, None).unwrap();
        assert_eq!(found.iter().map(|feed| feed.name.as_str()).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn preset_feeds_are_complete() {
    for preset in PRESETS {
        let areas = if preset.name == "osm" { &["US"][..] } else { &[] };
        let spiders = if preset.name == "alltheplaces" { &["athena"][..] } else { &[] };
        let found = feeds(preset.name, areas, spiders, None).unwrap();
        let [feed] = &found[..] else { panic!("{found:?}") };
        assert_eq!(check_url(&feed.url), Ok(()), "{}", feed.url);
        assert!(feed.url.starts_with("https://") && feed.url.is_ascii() && !feed.url.contains(' '), "{}", feed.url);
        assert!(!feed.url.contains("{}"), "{}", feed.url);
        assert_eq!(feed.format.name(), preset.format);
        assert_eq!(feed.attribution, preset.attribution);
        // A public server is asked once a day at most, unless the operator changes it.
        assert!(preset.every_hours >= 24 && preset.every_hours >= preset.min_every_hours);
        assert_eq!(feed.every.unwrap().as_secs(), u64::from(preset.every_hours) * 3600);
        assert!(preset.url_pattern().starts_with("https://") && preset.about.starts_with("https://"));
        assert!(!preset.url_pattern().contains("{}"), "{}", preset.url_pattern());
    }
    assert_eq!(PRESETS.map(|preset| preset.name).into_iter().collect::<BTreeSet<_>>().len(), PRESETS.len());
}

#[test]
fn preset_urls_follow_the_documentation_of_their_apis() {
    let url = |name, areas: &[&str], spiders: &[&str]| feeds(name, areas, spiders, None).unwrap()[0].url.clone();
    let places = url("btcmap", &[], &[]);
    assert!(places.starts_with("https://api.btcmap.org/v4/places?fields=id,lat,lon,icon,"), "{places}");
    assert!(places.ends_with("&include_deleted=true&updated_since={updated_since}"), "{places}");
    assert_eq!(
        url("alltheplaces", &[], &["coin_flip_us"]),
        "https://data.alltheplaces.xyz/runs/latest/output/coin_flip_us.geojson"
    );
    let overpass = url::Url::parse(&url("osm", &["CA"], &[])).unwrap();
    assert_eq!((overpass.host_str(), overpass.path()), (Some("overpass-api.de"), "/api/interpreter"));
    let parameters: Vec<_> = overpass.query_pairs().into_owned().collect();
    let [(name, query)] = &parameters[..] else { panic!("{parameters:?}") };
    assert!(name == "data" && query.starts_with("[out:json][timeout:50];area[\"ISO3166-1\"=\"CA\"]->.a;("), "{query}");
    assert!(query.ends_with(");out meta center;"), "{query}");
    for part in ["\"currency:XBT\"", "bureau_de_change", "payment_terminal", "\"vending\"~\"bitcoin\""] {
        assert!(query.contains(part), "{part} is not in {query}");
    }
}

#[test]
fn invalid_areas_are_rejected() {
    for text in ["", "USA", "United States", "us-tx", "U", "XX", "U\"", "..", "US CA", "Ü", "\u{202e}US"] {
        assert!(text.parse::<AreaCode>().is_err(), "{text}");
    }
    assert_eq!(
        error("osm", &["Germany"], &[], None),
        "'Germany' is not an ISO 3166-1 alpha-2 code, such as US or CA; did you mean DE?"
    );
    assert_eq!(error("osm", &["XX"], &[], None), "'XX' is not an ISO 3166-1 alpha-2 code, such as US or CA");
}

#[test]
fn invalid_spiders_are_rejected() {
    let longest = "a".repeat(50);
    assert_eq!(longest.parse::<SpiderName>().unwrap().to_string(), longest);
    for text in ["", "../../etc", "a/b", "Athena", "a.geojson", "a b", "a%2fb", "ä", &"a".repeat(51)] {
        let error = error("alltheplaces", &[], &[text], None);
        assert!(error.contains(text) && error.contains("a-z, 0-9 and _"), "{error}");
    }
}

#[test]
fn arguments_must_fit_the_preset() {
    for (name, areas, spiders, expected) in [
        ("osm", &[][..], &[][..], "osm needs --area, such as '--area US,CA'"),
        ("alltheplaces", &[], &[], "alltheplaces needs --spider, such as '--spider coin_flip_us'"),
        ("btcmap", &["US"], &[], "btcmap has no --area, which is an argument of osm"),
        ("osm", &["US"], &["athena"], "osm has no --spider, which is an argument of alltheplaces"),
        ("alltheplaces", &["US"], &["athena"], "alltheplaces has no --area, which is an argument of osm"),
    ] {
        assert_eq!(error(name, areas, spiders, None), expected);
    }
    let unknown = error("coinatmradar", &[], &[], None);
    assert!(unknown.contains("presets are btcmap, osm, alltheplaces") && unknown.contains("NAME URL"), "{unknown}");
}

#[test]
fn interval_respects_the_public_server() {
    for (name, areas, spiders, hours, accepted) in [
        ("btcmap", &[][..], &[][..], 1, true),
        ("btcmap", &[], &[], 0, false),
        ("osm", &["US"], &[], 23, false),
        ("osm", &["US"], &[], 24, true),
        ("alltheplaces", &[], &["athena"], 6, false),
        ("alltheplaces", &[], &["athena"], 48, true),
    ] {
        let found = feeds(name, areas, spiders, Some(hours));
        assert_eq!(found.is_ok(), accepted, "{name} {hours}");
        match found {
            Ok(found) => assert_eq!(found[0].every.unwrap().as_secs(), u64::from(hours) * 3600),
            Err(error) => assert!(error.to_string().contains("hours"), "{error}"),
        }
    }
}

#[test]
fn number_of_feeds_is_limited() {
    let names: Vec<String> = (0..=MAX_FEEDS_AT_ONCE).map(|number| format!("spider_{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(feeds("alltheplaces", &[], &names[1..], None).unwrap().len(), MAX_FEEDS_AT_ONCE);
    assert!(error("alltheplaces", &[], &names, None).contains("51 feeds"));
    // Duplicates do not count.
    assert_eq!(feeds("alltheplaces", &[], &["athena"; 200], None).unwrap().len(), 1);
}
