//! Populated places by name, ZIP codes, and what a text for a location means.
//!
//! ```
//! use signpost_locator::gazetteer::Gazetteer;
//!
//! let gazetteer = Gazetteer::embedded();
//! let miami = gazetteer.resolve("bitcoin atms near miami").unwrap();
//! assert_eq!((miami.name.as_str(), miami.region.unwrap().code()), ("Miami", "FL"));
//! assert!(gazetteer.resolve("Xanadu, TX").is_err());
//! ```

mod areas;
mod around;
mod asked;
mod blob;
mod build;
mod census;
mod coordinates;
mod county;
mod exact;
mod geonames;
mod inside;
mod landmarks;
mod largest;
mod map_link;
mod misspelt;
mod note;
#[cfg(test)]
mod own_names;
mod parts;
mod plus_code;
mod points;
mod postal_county;
mod postcodes;
mod query;
mod resolve;
mod spelling;
mod steps;
mod subdivision;
mod suggest;
mod well_known;

use std::sync::LazyLock;

use arcstr::ArcStr;

use crate::country::Country;
use crate::fold::fold;
use crate::index::Index;
use crate::point::{Distance, Point};
use crate::region::Region;

pub use blob::{CountyEntry, Damaged, PlaceArea, PlaceEntry, PostcodeEntry, encode};
pub use build::{GeoName, Postcode, build};
pub use census::{CensusTable, NotACensusLine};
pub use geonames::{GeonamesLine, read_line};
pub use landmarks::{AirportCodes, Landmark, LandmarkKind, Landmarks, UnreadableRow};
pub use note::PlaceNote;
pub use postal_county::PostalCounty;
pub use resolve::{ExplainedStep, Explanation, MAX_TEXT_CHARS, PlaceSource, Resolved, Unresolved, UnresolvedKind};
pub use subdivision::Subdivision;

use blob::BlobContents;
use query::Within;
use spelling::PlaceSpelling;

/// The places that are part of the program; `data/NOTICE.md` says where they come from.
const EMBEDDED: &[u8] = include_bytes!("../../data/gazetteer.bin.gz");

static LANDMARKS: LazyLock<Landmarks> = LazyLock::new(Landmarks::embedded);

/// What must be shown beside places of the embedded gazetteer: `GeoNames` is licensed under CC BY 4.0.
pub const ATTRIBUTION: &str = "Place names and postcodes: GeoNames, CC BY 4.0; US Census Bureau";

/// How much less likely a place is meant by another name of it than one of the same size by its main name. Paris is
/// one of the names of Parys in South Africa.
const OTHER_NAME: u32 = 20;

/// Places and postcodes, ready to be looked up; never changed once read.
pub struct Gazetteer {
    contents: BlobContents,
    index: Index,
    spelling: PlaceSpelling,
    landmarks: &'static Landmarks,
}

/// A populated place.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Its main name.
    pub name: String,
    /// The state, province or territory, in the United States and Canada.
    pub region: Option<Region>,
    /// The country.
    pub country: Country,
    /// The county with its kind, as in `Cook County`, in the United States. Of the alternatives of an answer only those
    /// have it that look alike without it.
    pub county: Option<String>,
    /// Its centre.
    pub point: Point,
    /// How many people live there.
    pub population: u32,
    /// The IANA name of its time zone.
    pub time_zone: ArcStr,
}

impl Gazetteer {
    /// The places that are part of the program. Reading them takes tens of milliseconds: do it once.
    ///
    /// # Panics
    /// Never: the bytes are part of the program, and a test reads them.
    #[must_use]
    pub fn embedded() -> Self {
        Self::from_bytes(EMBEDDED).expect("the embedded gazetteer is read by a test")
    }

    /// The places and postcodes that [`encode`] wrote.
    ///
    /// # Errors
    /// [`Damaged`], if the bytes are something else, incomplete or contradict themselves.
    ///
    /// # Panics
    /// Never: the tables of landmarks are part of the program, and a test reads them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Damaged> {
        // Landmarks are read beside the places, and once: they are the same for all gazetteers.
        let contents = std::thread::scope(|scope| {
            scope.spawn(|| LazyLock::force(&LANDMARKS));
            blob::decode(bytes)
        })?;
        let index = Index::build(&contents.places.iter().map(|place| place.point).collect::<Vec<_>>());
        Ok(Self { contents, index, spelling: PlaceSpelling::new(), landmarks: &LANDMARKS })
    }

    /// How many places there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.contents.places.len()
    }

    /// How many postcodes there are.
    #[must_use]
    pub fn postcodes(&self) -> usize {
        self.contents.postcodes.len()
    }

    /// Whether there are no places.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.contents.places.is_empty()
    }

    /// The largest place of this name in a region, in any spelling that [`fold`]s the same.
    ///
    /// ```
    /// # use signpost_locator::{Region, gazetteer::Gazetteer};
    /// # let gazetteer = Gazetteer::embedded();
    /// let missouri = Region::parse("MO").unwrap();
    /// assert_eq!(gazetteer.city(missouri, "Saint Louis"), gazetteer.city(missouri, "st. louis"));
    /// assert_eq!(gazetteer.city(missouri, "Miami Beach"), None);
    /// ```
    #[must_use]
    pub fn city(&self, region: Region, name: &str) -> Option<Place> {
        self.named_in_order(&fold(name), Within::Region(region)).first().map(|named| self.place(named / 2))
    }

    /// The place whose centre is nearest to a point, and how far that is.
    #[must_use]
    pub fn nearest_place(&self, point: Point) -> Option<(Place, Distance)> {
        let near = self.index.nearest(point, Distance::metres(f64::INFINITY), 1, |_| true);
        near.first().map(|near| (self.place(near.at), near.distance))
    }

    /// The IANA name of the time zone at a point: that of the nearest place, in the region if it is known. `None`
    /// farther than 300 km from every place. On 9,865 machines of the United States this differs from the borders of
    /// the zones in 12 cases, in 7 of them by an hour.
    ///
    /// ```
    /// # use signpost_locator::{Point, gazetteer::Gazetteer};
    /// # let gazetteer = Gazetteer::embedded();
    /// assert_eq!(gazetteer.time_zone(Point::new(30.27, -97.74).unwrap(), None), Some("America/Chicago"));
    /// ```
    #[must_use]
    pub fn time_zone(&self, point: Point, region: Option<Region>) -> Option<&str> {
        const FAR: Distance = Distance::metres(300_000.0);
        let inside = |at: u32| {
            let area = self.area(at);
            region.is_none() || area.region == region
        };
        let near = self.index.nearest(point, FAR, 1, inside);
        let place = &self.contents.places[near.first()?.at as usize];
        Some(&self.contents.zones[place.zone as usize])
    }

    /// Whether a place of a country, or of a region of it, lies at most this far from a point.
    #[must_use]
    pub fn is_near(&self, point: Point, within: Distance, country: Country, region: Option<Region>) -> bool {
        let inside = |at: u32| {
            let area = self.area(at);
            area.country == country && (region.is_none() || area.region == region)
        };
        !self.index.nearest(point, within, 1, inside).is_empty()
    }

    /// The places that a folded name leads to, the likeliest first: their numbers × 2, plus 1 where it is not the
    /// main name.
    fn named(&self, name: &str, within: Within) -> impl Iterator<Item = u32> {
        self.contents.keys.get(name).into_iter().flat_map(move |leads_to| self.led_to(leads_to, within))
    }

    /// The places that a value of the keys stands for.
    fn led_to(&self, leads_to: u64, within: Within) -> impl Iterator<Item = u32> {
        let number = usize::try_from(leads_to / 2).unwrap_or(usize::MAX);
        let (only, several) = if leads_to.is_multiple_of(2) {
            (u32::try_from(number).ok(), None)
        } else {
            let postings = self.contents.postings.get(number..).and_then(<[u32]>::split_first);
            (None, postings.and_then(|(count, postings)| postings.get(..*count as usize)))
        };
        let all = only.into_iter().chain(several.unwrap_or_default().iter().copied());
        all.filter(move |named| {
            let place = self.contents.places.get((named / 2) as usize);
            place.is_some_and(|place| within.holds(self.contents.areas[place.area as usize]))
        })
    }

    fn area(&self, at: u32) -> PlaceArea {
        self.contents.areas[self.contents.places[at as usize].area as usize]
    }

    fn name(&self, at: u32) -> &str {
        let start = self.contents.places[at as usize].name as usize;
        self.contents.names[start..].lines().next().unwrap_or_default()
    }

    fn population(&self, at: u32) -> u32 {
        self.contents.places[at as usize].population
    }

    fn place(&self, at: u32) -> Place {
        Place { county: self.county_of(at).map(str::to_owned), ..self.place_without_county(at) }
    }

    /// What is no place of its own, to be named beside places.
    fn place_without_people(&self, name: String, region: Option<Region>, country: Country, point: Point) -> Place {
        let time_zone = self.time_zone(point, region).map(ArcStr::from).unwrap_or_default();
        Place { name, region, country, county: None, point, population: 0, time_zone }
    }

    fn place_without_county(&self, at: u32) -> Place {
        let stored = &self.contents.places[at as usize];
        let PlaceArea { country, region } = self.contents.areas[stored.area as usize];
        Place {
            name: self.name(at).to_owned(),
            region,
            country,
            county: None,
            point: stored.point,
            population: stored.population,
            time_zone: self.contents.zones[stored.zone as usize].clone(),
        }
    }
}

impl Place {
    /// Its name with its region or country, as it can be asked for: `Miami, FL`, `Paris, France`.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{}, {}", self.name, self.region.map_or(self.country.name(), Region::code))
    }
}

/// How likely a place is meant by a name, compared with others of that name. `named` is its number × 2, plus 1 where
/// the name is not the main one.
fn likelihood(population: u32, named: u32) -> u32 {
    if named.is_multiple_of(2) { population } else { population / OTHER_NAME }
}

impl std::fmt::Debug for Gazetteer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (places, postcodes) = (self.len(), self.postcodes());
        f.debug_struct("Gazetteer").field("places", &places).field("postcodes", &postcodes).finish_non_exhaustive()
    }
}
