//! A gazetteer of populated places and postcodes, and the resolver for location texts.
//!
//! ```
//! use signpost_locator::gazetteer::Gazetteer;
//!
//! let gazetteer = Gazetteer::embedded();
//! let miami = gazetteer.resolve("bitcoin atms near miami").unwrap();
//! assert_eq!((miami.name.as_str(), miami.region.unwrap().code()), ("Miami", "FL"));
//! assert!(gazetteer.resolve("Xanadu, TX").is_err());
//! ```

mod address_line;
mod address_pieces;
mod address_reader;
mod areas;
mod around;
mod blob;
mod build;
mod candidate;
mod census;
pub(crate) mod coordinates;
mod county;
mod divisions;
mod east_asian_address;
mod exact;
mod fuzzy;
mod geonames;
mod inside;
mod landmarks;
mod largest;
mod location_text;
mod map_link;
mod note;
#[cfg(test)]
mod own_names;
mod parts;
mod plus_code;
mod points;
mod postal_code;
mod postal_county;
mod postcodes;
mod postcodes_in_texts;
mod preference;
mod query;
mod relative;
mod resolve;
mod spelling;
mod steps;
mod subdivision;
mod suggest;
mod towns;
mod well_known;

use std::sync::LazyLock;

use arcstr::ArcStr;

use crate::country::Country;
use crate::division::{self, Division};
use crate::fold::fold;
use crate::index::Index;
use crate::point::{Distance, Point};
use crate::region::Region;

pub use blob::{CountyEntry, GazetteerError, PlaceArea, PlaceEntry, PostcodeEntry, encode};
pub use build::{GeoName, Postcode, build};
pub use census::{CensusLineError, CensusTable};
pub use geonames::{GeonamesLine, read_line};
pub use landmarks::{AirportCodes, Landmark, LandmarkKind, Landmarks, UnreadableRow};
pub use note::PlaceNote;
pub use postal_county::PostalCounty;
pub use preference::PlacePreference;
pub use resolve::{ExplainedStep, Explanation, MAX_TEXT_CHARS, PlaceSource, Resolved, Unresolved, UnresolvedKind};
pub use subdivision::Subdivision;
pub use towns::LocalTown;

use blob::BlobContents;
use candidate::Candidate;
use query::Within;
use spelling::PlaceSpelling;

/// The embedded places; `data/NOTICE.md` lists their sources.
const EMBEDDED: &[u8] = include_bytes!("../../data/gazetteer.bin.gz");

static LANDMARKS: LazyLock<Landmarks> = LazyLock::new(Landmarks::embedded);

/// Attribution that the licence of the embedded gazetteer requires: `GeoNames` is licensed under CC BY 4.0.
pub const ATTRIBUTION: &str = "Place names and postcodes: GeoNames, CC BY 4.0; US Census Bureau";

/// An immutable index of places and postcodes.
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
    /// The administrative division elsewhere, if it is known.
    pub division: Option<Division>,
    /// The country.
    pub country: Country,
    /// The county with its kind, as in `Cook County`, in the United States. Alternatives of a result only have it if
    /// their labels would be equal without it.
    pub county: Option<String>,
    /// Its centre.
    pub point: Point,
    /// Its population.
    pub population: u32,
    /// The IANA name of its time zone.
    pub time_zone: ArcStr,
}

impl Gazetteer {
    /// Reads the embedded gazetteer, in tens of milliseconds. Call it once.
    ///
    /// # Panics
    /// Never: a test reads the embedded bytes.
    #[must_use]
    pub fn embedded() -> Self {
        Self::from_bytes(EMBEDDED).expect("the embedded gazetteer is read by a test")
    }

    /// Reads the output of [`encode`].
    ///
    /// # Errors
    /// [`GazetteerError`], if the bytes are not a gazetteer, incomplete or inconsistent.
    ///
    /// # Panics
    /// Never: a test reads the embedded tables of landmarks.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, GazetteerError> {
        // The landmarks are read in parallel, once for all gazetteers.
        let contents = std::thread::scope(|scope| {
            scope.spawn(|| LazyLock::force(&LANDMARKS));
            scope.spawn(division::load);
            blob::decode(bytes)
        })?;
        let index = Index::build(&contents.places.iter().map(|place| place.point).collect::<Vec<_>>());
        Ok(Self { contents, index, spelling: PlaceSpelling::new(), landmarks: &LANDMARKS })
    }

    /// Returns the number of places.
    #[must_use]
    pub fn len(&self) -> usize {
        self.contents.places.len()
    }

    /// Returns the number of postcodes.
    #[must_use]
    pub fn postcodes(&self) -> usize {
        self.contents.postcodes.len()
    }

    /// Returns `true` if there are no places.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.contents.places.is_empty()
    }

    /// Returns the likeliest place of this name in a region. Names are compared by their [`fold`]ed forms.
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
        self.named_in_order(&fold(name), Within::Region(region)).first().map(|city| self.place(city.place()))
    }

    /// Returns the place whose centre is nearest to a point, and its distance.
    #[must_use]
    pub fn nearest_place(&self, point: Point) -> Option<(Place, Distance)> {
        let near = self.index.nearest(point, Distance::metres(f64::INFINITY), 1, |_| true);
        near.first().map(|near| (self.place(near.at), near.distance))
    }

    /// Returns the IANA name of the time zone at a point: that of the nearest place, in the region if it is given.
    /// `None` if there is no place within 300 km. For 9,865 ATMs of the United States this differs from the borders of
    /// the zones in 12 cases, in 7 of them by an hour.
    ///
    /// ```
    /// # use signpost_locator::{Point, gazetteer::Gazetteer};
    /// # let gazetteer = Gazetteer::embedded();
    /// assert_eq!(gazetteer.time_zone(Point::new(30.27, -97.74).unwrap(), None), Some("America/Chicago"));
    /// ```
    #[must_use]
    pub fn time_zone(&self, point: Point, region: Option<Region>) -> Option<&str> {
        const MAX_DISTANCE: Distance = Distance::metres(300_000.0);
        let near = self.index.nearest(point, MAX_DISTANCE, 1, |at| region.is_none() || self.area(at).region == region);
        let place = &self.contents.places[near.first()?.at as usize];
        Some(&self.contents.zones[place.zone as usize])
    }

    /// Returns `true` if a place of a country, or of a region of it, lies at most this far from a point.
    #[must_use]
    pub fn is_near(&self, point: Point, within: Distance, country: Country, region: Option<Region>) -> bool {
        let near = self.index.nearest(point, within, 1, |at| {
            let area = self.area(at);
            area.country == country && (region.is_none() || area.region == region)
        });
        !near.is_empty()
    }

    /// Returns the candidates for a folded name, the likeliest first.
    fn named(&self, name: &str, within: Within) -> impl Iterator<Item = Candidate> {
        self.contents.keys.get(name).into_iter().flat_map(move |leads_to| self.led_to(leads_to, within))
    }

    /// Returns the candidates for a value of the index of names.
    fn led_to(&self, leads_to: u64, within: Within) -> impl Iterator<Item = Candidate> {
        let number = usize::try_from(leads_to / 2).unwrap_or(usize::MAX);
        let (only, several) = if leads_to.is_multiple_of(2) {
            (u32::try_from(number).ok(), None)
        } else {
            let postings = self.contents.postings.get(number..).and_then(<[u32]>::split_first);
            (None, postings.and_then(|(count, postings)| postings.get(..*count as usize)))
        };
        let all = only.into_iter().chain(several.unwrap_or_default().iter().copied());
        all.map(Candidate).filter(move |candidate| {
            let place = self.contents.places.get(candidate.place() as usize);
            place.is_some_and(|place| within.contains(self.contents.areas[place.area as usize]))
        })
    }

    /// Returns how likely a candidate is meant, in people.
    fn likelihood(&self, candidate: Candidate) -> u32 {
        candidate.likelihood(self.population(candidate.place()))
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

    fn point(&self, at: u32) -> Point {
        self.contents.places[at as usize].point
    }

    fn place(&self, at: u32) -> Place {
        Place { county: self.county_of(at).map(str::to_owned), ..self.place_without_county(at) }
    }

    /// Creates a place without population, for a landmark or county among suggestions.
    fn place_without_people(&self, name: String, region: Option<Region>, country: Country, point: Point) -> Place {
        let time_zone = self.time_zone(point, region).map(ArcStr::from).unwrap_or_default();
        Place { name, region, division: None, country, county: None, point, population: 0, time_zone }
    }

    fn place_without_county(&self, at: u32) -> Place {
        let stored = &self.contents.places[at as usize];
        let PlaceArea { country, region, division } = self.contents.areas[stored.area as usize];
        Place {
            name: self.name(at).to_owned(),
            region,
            division,
            country,
            county: None,
            point: stored.point,
            population: stored.population,
            time_zone: self.contents.zones[stored.zone as usize].clone(),
        }
    }
}

impl Place {
    /// Returns the name with the region or country, sufficient to resolve to the place: `Miami, FL`, `Paris, France`.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{}, {}", self.name, self.region.map_or(self.country.name(), Region::code))
    }
}

impl std::fmt::Debug for Gazetteer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("Gazetteer");
        debug.field("places", &self.len()).field("postcodes", &self.postcodes()).finish_non_exhaustive()
    }
}
