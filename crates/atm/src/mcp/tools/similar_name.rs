//! The declared name of an argument that a caller gave a different name.

/// Maximum length of an unknown name that is compared, in bytes.
const MAX_BYTES: usize = 40;

/// Minimum length of a declared name that is recognized as the start of an unknown name, in bytes.
const MIN_PREFIX_BYTES: usize = 4;

/// Minimum similarity (0 to 1) of a misspelt name.
const MIN_SIMILARITY: f64 = 0.7;

/// Names of other map services for an argument of the tools, without upper case and separators.
const SYNONYMS: &[(&str, &str)] = &[
    ("latitude", "lat"),
    ("lattitude", "lat"),
    ("longitude", "lon"),
    ("long", "lon"),
    ("lng", "lon"),
    ("y", "lat"),
    ("x", "lon"),
    ("query", "location"),
    ("q", "location"),
    ("place", "location"),
    ("address", "location"),
    ("near", "location"),
    ("zip", "location"),
    ("zipcode", "location"),
    ("postalcode", "location"),
    ("city", "location"),
    ("radius", "maxDistance"),
    ("distance", "maxDistance"),
    ("maxdistance", "radius"),
    ("distance", "radius"),
    ("id", "atmId"),
    ("ids", "atmIds"),
    ("max", "limit"),
    ("count", "limit"),
    ("region", "state"),
    ("province", "state"),
    ("town", "city"),
    ("nextcursor", "cursor"),
    ("page", "cursor"),
    ("currency", "coin"),
];

/// Returns the declared name that the caller probably meant: the name with other case or separators, a synonym, the start
/// of the unknown name, or a misspelt name.
pub(super) fn similar_name<'a>(unknown: &str, declared: &[&'a str]) -> Option<&'a str> {
    if unknown.len() > MAX_BYTES {
        return None;
    }
    let unknown = folded(unknown);
    let mut names = declared.iter().copied();
    if let Some(name) = names.clone().find(|name| folded(name) == unknown) {
        return Some(name);
    }
    if let Some(name) = names.find(|name| SYNONYMS.contains(&(unknown.as_str(), *name))) {
        return Some(name);
    }
    longest_start(&unknown, declared).or_else(|| most_similar(&unknown, declared))
}

/// Returns the longest declared name at the start of a name.
fn longest_start<'a>(unknown: &str, declared: &[&'a str]) -> Option<&'a str> {
    let long = declared.iter().copied().filter(|name| name.len() >= MIN_PREFIX_BYTES);
    long.filter(|name| unknown.starts_with(&folded(name))).max_by_key(|name| name.len())
}

/// Returns the declared name with the most similar spelling, if any is similar enough.
fn most_similar<'a>(unknown: &str, declared: &[&'a str]) -> Option<&'a str> {
    let similarity = |name: &str| strsim::normalized_damerau_levenshtein(&folded(name), unknown);
    let similarities = declared.iter().map(|name| (similarity(name), *name));
    let (best, name) = similarities.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    (best >= MIN_SIMILARITY).then_some(name)
}

/// Returns a name in lower case without separators, so that `max_distance` equals `maxDistance`.
fn folded(name: &str) -> String {
    name.chars().filter(|letter| !matches!(letter, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIND: [&str; 10] =
        ["location", "lat", "lon", "country", "limit", "maxDistance", "openNow", "service", "coin", "units"];
    const STATUS: [&str; 7] = ["location", "lat", "lon", "country", "radius", "limit", "units"];
    const LIST: [&str; 4] = ["state", "city", "units", "cursor"];

    #[test]
    fn name_of_another_map_service_is_recognized() {
        for (declared, unknown, expected) in [
            (&FIND[..], "latitude", Some("lat")),
            (&FIND, "Latitude", Some("lat")),
            (&FIND, "longitude", Some("lon")),
            (&FIND, "long", Some("lon")),
            (&FIND, "lng", Some("lon")),
            (&FIND, "query", Some("location")),
            (&FIND, "place", Some("location")),
            (&FIND, "locaton", Some("location")),
            (&FIND, "radius", Some("maxDistance")),
            (&FIND, "max_distance", Some("maxDistance")),
            (&FIND, "max-distance", Some("maxDistance")),
            (&FIND, "MAXDISTANCE", Some("maxDistance")),
            (&FIND, "maxDistanceMiles", Some("maxDistance")),
            (&FIND, "open_now", Some("openNow")),
            (&FIND, "countryCode", Some("country")),
            (&FIND, "colour", None),
            (&FIND, "", None),
            (&FIND, "atmId", None),
            (&STATUS, "maxDistance", Some("radius")),
            (&STATUS, "radiusMiles", Some("radius")),
            (&LIST, "stateCode", Some("state")),
            (&LIST, "town", Some("city")),
            (&LIST, "country", None),
            (&LIST, "nextCursor", Some("cursor")),
            (&FIND, "latest", None),
        ] {
            assert_eq!(similar_name(unknown, declared), expected, "{unknown}");
        }
        assert_eq!(similar_name(&"lat".repeat(1 << 18), &FIND), None);
    }
}
