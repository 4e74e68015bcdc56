//! The towns of ATMs outside the United States and Canada, by the city of the address or by the place around them.

use std::sync::LazyLock;

use super::query::Within;
use super::{Candidate, Gazetteer, Place};
use crate::country::Country;
use crate::division::Division;
use crate::fold::fold;
use crate::point::{Distance, Point};
use crate::region::Region;

/// Maximum distance between a point and the place with the nearest centre.
const FAR: Distance = Distance::metres(300_000.0);
/// Maximum distance between an ATM and the centre of the city in its address, if the city is not large.
const MAX_AWAY_KM: f64 = 30.0;
/// Maximum radius of a city.
const MAX_RADIUS_KM: f64 = 45.0;
/// Maximum candidates for one name.
const MAX_CANDIDATES: usize = 64;
/// Minimum population of a city whose quarters are joined to its name by a hyphen, as in `Berlin-Mitte`.
const CITY_WITH_QUARTERS: u32 = 100_000;
/// Maximum population of a quarter. A larger place is a city of its own, unless it is near the centre of another.
const LARGE_QUARTER: u32 = 100_000;

/// People per square kilometre, from which the radius of a city follows.
mod density {
    /// For the maximum distance of an address with the name of the city.
    pub(super) const OF_ADDRESSES: f64 = 2_000.0;
    /// For a city that fills its division.
    pub(super) const OF_CITY_DIVISION: f64 = 3_000.0;
    /// For the quarters of other cities.
    pub(super) const OF_CITY: f64 = 4_000.0;
    /// For wards with the name of the ward in the address, of a city that fills its division.
    pub(super) const OF_WARDS: f64 = 10_000.0;
    /// For large quarters.
    pub(super) const OF_CENTRE: f64 = 16_000.0;
}

/// Divisions that consist of a single city and its surroundings, by country and code. Their other places are quarters
/// of the city, or separate cities farther from its centre.
#[rustfmt::skip]
const CITY_DIVISIONS: [(&str, &str); 39] = [
    ("AM", "11"), ("AR", "07"), ("AT", "09"), ("BE", "BRU"), ("BG", "42"), ("BY", "04"), ("CN", "22"), ("CN", "23"),
    ("CN", "28"), ("CO", "34"), ("CU", "02"), ("CZ", "52"), ("DE", "03"), ("DE", "04"), ("DE", "16"), ("EG", "11"),
    ("FR", "11.75"), ("GB", "ENG.GLA"), ("HU", "05"), ("IN", "07"), ("JP", "40"), ("KR", "10"), ("KR", "11"),
    ("KR", "15"), ("KR", "18"), ("KR", "19"), ("MX", "09"), ("MY", "14"), ("NO", "12"), ("PE", "LMA"), ("RO", "10"),
    ("RU", "48"), ("RU", "66"), ("TH", "40"), ("TR", "34"), ("TW", "03"), ("UA", "12"), ("VN", "01"), ("VN", "79"),
];

static CITIES: LazyLock<Vec<Division>> = LazyLock::new(|| {
    let divisions = CITY_DIVISIONS.iter().map(|(country, code)| Division::of_code(Country::parse(country)?, code));
    divisions.flatten().collect()
});

/// The town of an ATM outside the United States and Canada.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalTown {
    /// The name, unique in the country: the division follows it in parentheses if a larger place has the name.
    pub name: String,
    /// The centre; `None` if the gazetteer does not have the town.
    pub center: Option<Point>,
}

impl Gazetteer {
    /// Returns the town of an ATM in a country without [`Region`]s: the city of its address, else the city or place
    /// around it. Spellings of one city lead to one town, and so do its quarters. `None` without a city if no place of
    /// the country is within 300 km.
    ///
    /// ```
    /// # use signpost_locator::{Country, Point, gazetteer::Gazetteer};
    /// # let gazetteer = Gazetteer::embedded();
    /// let germany = Country::parse("DE").unwrap();
    /// let kreuzberg = Point::new(52.4973, 13.3911).unwrap();
    /// for city in [None, Some("Berlin"), Some("10969 Berlin"), Some("Berlin-Kreuzberg")] {
    ///     assert_eq!(gazetteer.town(germany, city, kreuzberg).unwrap().name, "Berlin");
    /// }
    /// ```
    #[must_use]
    pub fn town(&self, country: Country, city: Option<&str>, point: Point) -> Option<LocalTown> {
        let nearest = self.nearest_of(point, |at| self.area(at).country == country);
        let Some(city) = city.map(str::trim).filter(|city| !fold(city).is_empty()) else {
            let nearest = nearest?;
            return Some(self.local_town(self.city_around(point, nearest).unwrap_or(nearest)));
        };
        let called = self.candidates_called(country, city, |at| self.is_address_of(point, at));
        let called = called.first().map(|candidate| candidate.place());
        if let Some(around) = nearest.and_then(|nearest| self.city_of_ward(point, nearest))
            && called.is_none_or(|called| is_in_one_city(self.division(called), self.division(around)))
        {
            return Some(self.local_town(around));
        }
        if let Some(called) = called {
            return Some(self.local_town(called));
        }
        let is_taken = self.named(&fold(city), Within::Country(country)).next().is_some();
        let division = nearest.filter(|_| is_taken).and_then(|nearest| self.division(nearest));
        Some(LocalTown { name: with_division(city, division), center: None })
    }

    /// Returns the name of the town that a text without a point means in a country without [`Region`]s.
    #[must_use]
    pub fn town_name(&self, country: Country, city: &str) -> Option<String> {
        let candidates = self.candidates_called(country, city, |_| true);
        Some(self.local_town(candidates.first()?.place()).name)
    }

    /// Returns the place of a country, or of a region of it, whose centre is nearest to a point, within 300 km.
    #[must_use]
    pub fn nearest_place_in(&self, point: Point, country: Country, region: Option<Region>) -> Option<Place> {
        let nearest = self.nearest_of(point, |at| {
            let area = self.area(at);
            area.country == country && (region.is_none() || area.region == region)
        });
        nearest.map(|at| self.place(at))
    }

    fn nearest_of(&self, point: Point, keep: impl FnMut(u32) -> bool) -> Option<u32> {
        Some(self.index.nearest(point, FAR, 1, keep).first()?.at)
    }

    fn division(&self, at: u32) -> Option<Division> {
        self.area(at).division
    }

    /// Returns the largest city of the division that the place nearest to a point is a quarter of.
    fn city_around(&self, point: Point, nearest: u32) -> Option<u32> {
        let population = self.population(nearest);
        let division = self.division(nearest);
        let country = self.area(nearest).country;
        let larger = self.index.within(point, Distance::kilometres(MAX_RADIUS_KM), |at| {
            let area = self.area(at);
            let is_one_city = is_in_one_city(area.division, division);
            let density = match population {
                _ if is_one_city => density::OF_CITY_DIVISION,
                LARGE_QUARTER.. => density::OF_CENTRE,
                _ => density::OF_CITY,
            };
            self.population(at) > population
                && area.country == country
                && (is_one_city || area.division == division)
                && self.point(at).distance(point) <= self.radius(at, density)
        });
        // Places are numbered by size.
        larger.into_iter().min()
    }

    /// Returns the city that fills the division of the place nearest to a point, if the point is among its wards.
    fn city_of_ward(&self, point: Point, nearest: u32) -> Option<u32> {
        let division = self.division(nearest);
        if !is_in_one_city(division, division) {
            return None;
        }
        let city = self.city_around(point, nearest).unwrap_or(nearest);
        let is_ward = self.point(city).distance(point) <= self.radius(city, density::OF_WARDS);
        is_ward.then_some(city)
    }

    fn is_address_of(&self, point: Point, at: u32) -> bool {
        let away = self.point(at).distance(point);
        away <= Distance::kilometres(MAX_AWAY_KM) || away <= self.radius(at, density::OF_ADDRESSES)
    }

    /// Checks whether a point is inside of a city, by its population.
    pub(super) fn is_inside(&self, at: u32, point: Point) -> bool {
        self.point(at).distance(point) <= self.radius(at, density::OF_CITY)
    }

    /// Checks for a division that consists of a single city and its surroundings.
    pub(super) fn is_city_division(division: Division) -> bool {
        CITIES.contains(&division)
    }

    /// Returns the radius of a city with this number of people per square kilometre.
    fn radius(&self, at: u32, density: f64) -> Distance {
        let square_km = f64::from(self.population(at)) / density;
        Distance::kilometres((square_km / std::f64::consts::PI).sqrt())
    }

    /// Returns the accepted places for the first spelling of a city that has some, the likeliest first.
    pub(super) fn candidates_called(
        &self,
        country: Country,
        city: &str,
        accept: impl Fn(u32) -> bool,
    ) -> Vec<Candidate> {
        for spelling in spellings(city) {
            let named = self.named(&spelling.folded, Within::Country(country)).take(MAX_CANDIDATES);
            let found: Vec<Candidate> = named
                .filter(|candidate| {
                    self.population(candidate.place()) >= spelling.min_population && accept(candidate.place())
                })
                .collect();
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    fn local_town(&self, at: u32) -> LocalTown {
        let name = self.name(at);
        let folded = fold(name);
        let mut named = self.named(&folded, Within::Country(self.area(at).country));
        let main = named.find(|candidate| candidate.is_main_name()).map(Candidate::place);
        let is_main = main.is_none_or(|main| main == at);
        let division = if is_main { None } else { self.division(at) };
        LocalTown { name: with_division(name, division), center: Some(self.point(at)) }
    }
}

/// A possible spelling of a city.
struct CitySpelling {
    folded: String,
    /// Minimum population of the place.
    min_population: u32,
}

/// Returns the possible spellings of a city in an address, the likeliest first: as written, without postcodes and
/// numbers of districts, and without the text after a comma, a slash or a parenthesis; then without the quarter after a
/// hyphen. Each also with the letters of German and Danish digraphs.
fn spellings(city: &str) -> Vec<CitySpelling> {
    let words = city.split_whitespace().filter(|word| !word.contains(|letter: char| letter.is_ascii_digit()));
    let words = words.collect::<Vec<_>>().join(" ");
    let start = words.split([',', '/', '(', ';']).next().unwrap_or_default();
    let before_hyphen = start.split(['-', '–']).next().unwrap_or_default();
    let written = [(city, 0), (words.as_str(), 0), (start, 0), (before_hyphen, CITY_WITH_QUARTERS)];
    let mut all: Vec<CitySpelling> = Vec::new();
    for (text, min_population) in written {
        let name = fold(text);
        for folded in [without_digraphs(&name), Some(name)].into_iter().rev().flatten() {
            if !folded.is_empty() && all.iter().all(|known| known.folded != folded) {
                all.push(CitySpelling { folded, min_population });
            }
        }
    }
    all
}

/// Returns a folded name with single letters for digraphs, as in `Muenchen` and `Aarhus`; `None` if it has none.
fn without_digraphs(folded: &str) -> Option<String> {
    let mut plain = folded.to_owned();
    for (digraph, letter) in [("ae", "a"), ("oe", "o"), ("ue", "u"), ("aa", "a")] {
        plain = plain.replace(digraph, letter);
    }
    (plain != folded).then_some(plain)
}

/// Returns `true` if two divisions are parts of one city that fills its division.
fn is_in_one_city(one: Option<Division>, other: Option<Division>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return false };
    CITIES.iter().any(|city| city.contains(one) && city.contains(other))
}

fn with_division(name: &str, division: Option<Division>) -> String {
    match division {
        Some(division) => format!("{name} ({})", division.name()),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn town_of(gazetteer: &Gazetteer, country: &str, city: &str, lat: f64, lon: f64) -> Option<String> {
        let city = if city.is_empty() { None } else { Some(city) };
        let point = Point::new(lat, lon).unwrap();
        gazetteer.town(Country::parse(country).unwrap(), city, point).map(|town| town.name)
    }

    #[test]
    fn quarters_belong_to_their_city() {
        let gazetteer = Gazetteer::embedded();
        for (country, lat, lon, town) in [
            // Mitte, Kreuzberg, Köpenick, Spandau.
            ("DE", 52.5296, 13.4014, "Berlin"),
            ("DE", 52.4973, 13.3911, "Berlin"),
            ("DE", 52.4454, 13.5746, "Berlin"),
            ("DE", 52.5360, 13.1990, "Berlin"),
            ("DE", 52.3989, 13.0657, "Potsdam"),
            ("DE", 48.1517, 11.6230, "Munich"),
            // Shinjuku, Setagaya, Edogawa, Adachi; other cities.
            ("JP", 35.6938, 139.7036, "Tokyo"),
            ("JP", 35.6466, 139.6532, "Tokyo"),
            ("JP", 35.7067, 139.8683, "Tokyo"),
            ("JP", 35.7750, 139.8045, "Tokyo"),
            ("JP", 35.5206, 139.7172, "Kawasaki"),
            ("JP", 35.4437, 139.6380, "Yokohama"),
            ("FR", 48.8589, 2.3810, "Paris"),
            ("FR", 48.8357, 2.2400, "Boulogne-Billancourt"),
            ("GB", 51.5390, -0.1426, "London"),
            ("GB", 51.3762, -0.0982, "London"),
            ("AT", 48.1754, 16.3800, "Vienna"),
            ("ES", 41.3930, 2.1640, "Barcelona"),
        ] {
            assert_eq!(town_of(&gazetteer, country, "", lat, lon).as_deref(), Some(town), "{lat} {lon}");
        }
        assert_eq!(town_of(&gazetteer, "DE", "", 0.0, -30.0), None);
    }

    #[test]
    fn spellings_of_a_city_lead_to_one_town() {
        let gazetteer = Gazetteer::embedded();
        for (country, cities, lat, lon, town) in [
            (
                "DE",
                &["Berlin", "BERLIN", "berlin ", "10115 Berlin", "Berlin, Germany", "Berlin-Mitte"][..],
                52.52,
                13.40,
                "Berlin",
            ),
            ("DE", &["München", "Muenchen", "Munich", "Munchen", "80331 München"], 48.137, 11.575, "Munich"),
            ("DE", &["Düsseldorf", "Duesseldorf", "Dusseldorf"], 51.2217, 6.7762, "Düsseldorf"),
            ("DE", &["Frankfurt", "Frankfurt am Main", "Frankfurt/Main"], 50.1155, 8.6842, "Frankfurt am Main"),
            ("CZ", &["Praha", "Praha 1", "Prague"], 50.088, 14.4208, "Prague"),
            ("DK", &["Århus", "Aarhus", "Arhus"], 56.1567, 10.2108, "Århus"),
            ("JP", &["Tokyo", "東京", "港区", "Minato", "Shinjuku"], 35.66, 139.74, "Tokyo"),
            ("JP", &["Kawasaki"], 35.5206, 139.7172, "Kawasaki"),
        ] {
            for city in cities {
                assert_eq!(town_of(&gazetteer, country, city, lat, lon).as_deref(), Some(town), "{city}");
            }
        }
    }

    #[test]
    fn city_in_the_address_overrides_the_place_around() {
        let gazetteer = Gazetteer::embedded();
        let near_munich = (48.0657, 11.6157);
        for city in ["Unterhaching", "Kleinstdorf"] {
            let found = town_of(&gazetteer, "DE", city, near_munich.0, near_munich.1);
            assert_eq!(found.as_deref(), Some(city));
        }
        assert_eq!(town_of(&gazetteer, "DE", "", near_munich.0, near_munich.1).as_deref(), Some("Munich"));
    }

    #[test]
    fn towns_of_one_name_have_different_names() {
        let gazetteer = Gazetteer::embedded();
        let germany = Country::parse("DE").unwrap();
        // Frankfurt an der Oder, and a city of an address far from every place of its name.
        let oder = town_of(&gazetteer, "DE", "Frankfurt", 52.3471, 14.5506).unwrap();
        assert!(oder.starts_with("Frankfurt (Oder)"), "{oder}");
        let alps = town_of(&gazetteer, "DE", "Berlin", 47.55, 10.75).unwrap();
        assert_eq!(alps, "Berlin (Bavaria)");
        let newports = [(51.588, -2.998), (50.701, -1.291), (52.767, -2.377)]
            .map(|(lat, lon)| town_of(&gazetteer, "GB", "Newport", lat, lon).unwrap());
        assert_eq!(newports, ["Newport", "Newport (Isle of Wight)", "Newport (Telford and Wrekin)"]);
        for (city, name) in [("Muenchen", Some("Munich")), ("Berlin", Some("Berlin")), ("Xanadu", None)] {
            assert_eq!(gazetteer.town_name(germany, city).as_deref(), name, "{city}");
        }
    }

    #[test]
    fn city_divisions_are_known() {
        assert_eq!(CITIES.len(), CITY_DIVISIONS.len());
        assert!(CITY_DIVISIONS.is_sorted());
    }
}
