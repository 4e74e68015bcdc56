//! Parser of links to online maps, as copied from a browser.

use crate::point::Point;

/// Query parameters that contain a point in links of map services. A pin comes before the middle of the view, because
/// it is more exact.
const NAMES: [&str; 9] = ["q=", "query=", "daddr=", "destination=", "saddr=", "ll=", "center=", "sll=", "loc="];

/// Returns the point in a link to a map. Returns `None` if the text is not a link or contains no coordinates.
///
/// Supports links of Google Maps (`!3d…!4d…`, `?q=`, `/@lat,lon,zoom`), Apple Maps (`?ll=`), OpenStreetMap
/// (`?mlat=…&mlon=…`, `#map=zoom/lat/lon`), and other services with the same parameters.
pub(super) fn parse(text: &str) -> Option<Point> {
    let is_link = text.starts_with("http://") || text.starts_with("https://");
    if !is_link || text.contains(char::is_whitespace) {
        return None;
    }
    let link = text.replace("%2C", ",").replace("%2c", ",");
    if let Some(pin) = labelled(&link, "!3d", "!4d").or_else(|| labelled(&link, "mlat=", "&mlon=")) {
        return Some(pin);
    }
    for name in NAMES {
        for parameter in [format!("?{name}"), format!("&{name}")] {
            if let Some(point) = after(&link, &parameter) {
                return Some(point);
            }
        }
    }
    after(&link, "/@").or_else(|| in_fragment(&link))
}

/// Parses a latitude and longitude, each after a label.
fn labelled(link: &str, lat_label: &str, lon_label: &str) -> Option<Point> {
    let (lat, lon) = link.split_once(lat_label)?.1.split_once(lon_label)?;
    point(lat, lon)
}

/// Parses the latitude, comma and longitude after a prefix.
fn after(link: &str, prefix: &str) -> Option<Point> {
    let (lat, lon) = link.split_once(prefix)?.1.split_once(',')?;
    point(lat.trim_start_matches("loc:"), lon.trim_start_matches(['+', ' ']))
}

/// Parses `#map=zoom/lat/lon`.
fn in_fragment(link: &str) -> Option<Point> {
    let (_, rest) = link.split_once("#map=")?.1.split_once('/')?;
    let (lat, lon) = rest.split_once('/')?;
    point(lat, lon)
}

/// Parses a latitude, and a longitude at the start of a text.
fn point(lat: &str, lon: &str) -> Option<Point> {
    let end = lon.find(|letter: char| !letter.is_ascii_digit() && !"+-.".contains(letter)).unwrap_or(lon.len());
    Point::parse(lat, &lon[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn map_links_contain_a_point() {
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
