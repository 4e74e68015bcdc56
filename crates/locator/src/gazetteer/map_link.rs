//! Links to maps, as people copy them from their browser.

use crate::point::Point;

/// Names under which map services write a point in a link, the most exact first: a pin before the middle of the view.
const NAMES: [&str; 9] = ["q=", "query=", "daddr=", "destination=", "saddr=", "ll=", "center=", "sll=", "loc="];

/// The point that a link to a map shows. `None` if the text is no link, or has no coordinates in it.
///
/// Known are the links of Google Maps (`!3d…!4d…`, `?q=`, `/@lat,lon,zoom`), Apple Maps (`?ll=`), OpenStreetMap
/// (`?mlat=…&mlon=…`, `#map=zoom/lat/lon`), and others that use the same names.
pub(super) fn parse(text: &str) -> Option<Point> {
    let is_link = text.starts_with("http://") || text.starts_with("https://");
    if !is_link || text.contains(char::is_whitespace) {
        return None;
    }
    let link = text.replace("%2C", ",").replace("%2c", ",");
    let between = |from: &str, to: &str| {
        let (lat, rest) = link.split_once(from)?.1.split_once(to)?;
        pair(lat, rest)
    };
    let pin = || between("!3d", "!4d").or_else(|| between("mlat=", "&mlon="));
    let named = || NAMES.into_iter().find_map(|name| after(&link, &[&format!("?{name}"), &format!("&{name}")]));
    let view = || after(&link, &["/@"]);
    let hash = || {
        let (_, rest) = link.split_once("#map=")?.1.split_once('/')?;
        let (lat, lon) = rest.split_once('/')?;
        pair(lat, lon)
    };
    pin().or_else(named).or_else(view).or_else(hash)
}

/// The point behind one of some beginnings: latitude, a comma, longitude.
fn after(link: &str, beginnings: &[&str]) -> Option<Point> {
    beginnings.iter().find_map(|beginning| {
        let (lat, lon) = link.split_once(beginning)?.1.split_once(',')?;
        pair(lat.trim_start_matches("loc:"), lon.trim_start_matches(['+', ' ']))
    })
}

/// Two numbers, whatever stands behind the second.
fn pair(lat: &str, lon: &str) -> Option<Point> {
    let end = lon.find(|letter: char| !letter.is_ascii_digit() && !"+-.".contains(letter)).unwrap_or(lon.len());
    Point::new(lat.parse().ok()?, lon[..end].parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_maps_show_a_point() {
        let new_york = Point::new(40.7128, -74.006);
        for link in [
            "https://www.google.com/maps/@40.7128,-74.006,15z",
            "https://www.google.com/maps/place/Somewhere/@40.1,-74.9,17z/data=!3m1!4b1!8m2!3d40.7128!4d-74.006",
            "https://maps.google.com/?q=40.7128,-74.006",
            "https://maps.google.com/maps?z=12&t=m&q=loc:40.7128,-74.006",
            "https://www.google.com/maps/search/?api=1&query=40.7128%2C-74.006",
            "https://www.google.com/maps/dir/?api=1&destination=40.7128,-74.006&travelmode=driving",
            "https://maps.apple.com/?ll=40.7128,-74.006&q=Pin",
            "https://www.openstreetmap.org/#map=15/40.7128/-74.006",
            "https://www.openstreetmap.org/?mlat=40.7128&mlon=-74.006#map=15/40.1/-74.9",
            "http://maps.google.com/?ll=40.7128,-74.006",
        ] {
            assert_eq!(parse(link), new_york, "{link}");
        }
        for text in [
            "40.7128,-74.006",
            "https://example.com/",
            "https://maps.google.com/?q=Austin",
            "https://www.google.com/maps/@95,-74,15z",
            "https://www.openstreetmap.org/#map=15/40.7128",
            "https://maps.google.com/?q=40.7128",
            "https://maps.google.com/?q=é,é",
            "see https://maps.google.com/?q=40.7128,-74.006",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
