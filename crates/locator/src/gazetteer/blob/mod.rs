//! The file format of a gazetteer: written by [`encode`], read by `decode`.
//!
//! It is a gzip stream of: the magic bytes, the format version, then sections, each a length in bytes and the bytes.
//! All numbers are unsigned 32-bit little-endian unless noted otherwise. The sections, in this order:
//!
//! | section | content |
//! |---|---|
//! | areas | one line each: the country, and if it is known `-` and the region in the United States and Canada, the code of the division elsewhere |
//! | zones | one line each: the IANA name of a time zone |
//! | names | one line for each place, in the order of the places |
//! | places | for each, the largest first: latitude and longitude (signed, 1e-5 degrees), population, area, zone, county, 1 if it has a post office of its name |
//! | postings | for each ambiguous key, the number of its places, and the places, the likeliest first |
//! | postcodes | for each, in order: the code as a number, latitude, longitude (as above), area, county |
//! | county names | one line for each county: its name with its kind, in the order of the counties |
//! | county keys | one line each: the folded name without the kind |
//! | counties | for each, by key, those with most postcodes first: latitude, longitude, area, code |
//! | keys | an FST from each folded name to its value: a place × 2, or a posting × 2 + 1 |
//!
//! A place in a posting or a key is its number × 2, plus 1 for an alternate name. A county in a row is its number + 1,
//! or 0 if it is unknown.

mod read;
mod write;

use arcstr::ArcStr;

use crate::country::Country;
use crate::division::Division;
use crate::point::Point;
use crate::region::Region;

pub(super) use read::decode;
pub use write::encode;

const MAGIC: &[u8; 8] = b"SIGNPOST";
const VERSION: u32 = 3;

/// A populated place, for [`encode`].
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceEntry {
    /// Its main name.
    pub name: String,
    /// Alternate names.
    pub alternates: Vec<String>,
    /// Its area.
    pub area: PlaceArea,
    /// Its centre; stored to 1e-5 degrees, about a metre.
    pub point: Point,
    /// Its population.
    pub population: u32,
    /// The IANA name of its time zone.
    pub time_zone: String,
    /// The index of its county in the list of counties.
    pub county: Option<usize>,
    /// Whether it has a post office with one of its names.
    pub has_post_office: bool,
}

/// A postcode of the United States, for [`encode`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PostcodeEntry {
    /// The five digits as a number.
    pub code: u32,
    /// Its centre.
    pub point: Point,
    /// Its area.
    pub area: PlaceArea,
    /// The index of its county in the list of counties.
    pub county: Option<usize>,
}

/// A county of the United States or its equivalent: a parish, a borough, an independent city; for [`encode`].
#[derive(Clone, Debug, PartialEq)]
pub struct CountyEntry {
    /// The name with its kind: `Cook County`, `Orleans Parish`. Independent cities have no kind.
    pub name: String,
    /// The name without its kind.
    pub bare_name: String,
    /// Its region.
    pub region: Region,
    /// Its number in its state.
    pub code: u16,
    /// The middle of its postcodes.
    pub point: Point,
}

impl CountyEntry {
    fn area(&self) -> PlaceArea {
        PlaceArea::of_region(self.region)
    }
}

/// A country, and in it the region or the administrative division.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaceArea {
    /// The country.
    pub country: Country,
    /// The region, in the United States and Canada.
    pub region: Option<Region>,
    /// The administrative division elsewhere, if it is known.
    pub division: Option<Division>,
}

impl PlaceArea {
    /// Creates the area of a region.
    #[must_use]
    pub fn of_region(region: Region) -> Self {
        Self { country: region.country(), region: Some(region), division: None }
    }
}

/// An error in the bytes of a gazetteer.
#[derive(Debug, thiserror::Error)]
pub enum GazetteerError {
    /// They cannot be decompressed.
    #[error("the gazetteer cannot be unpacked: {0}")]
    Unreadable(#[from] std::io::Error),
    /// They have another format or version.
    #[error("this is not a gazetteer of format version 3")]
    Foreign,
    /// They are inconsistent.
    #[error("the gazetteer is damaged: its {0} are invalid")]
    Section(&'static str),
    /// The index of names is damaged.
    #[error("the gazetteer is damaged: {0}")]
    Keys(#[from] fst::Error),
}

/// The decoded gazetteer.
pub(super) struct BlobContents {
    pub(super) areas: Vec<PlaceArea>,
    pub(super) zones: Vec<ArcStr>,
    /// One line for each place.
    pub(super) names: String,
    pub(super) places: Vec<StoredPlace>,
    pub(super) postings: Vec<u32>,
    pub(super) postcodes: Vec<StoredPostcode>,
    /// For each postcode the number of its county + 1; 0 if it is unknown. Separate, to avoid padding.
    pub(super) postcode_counties: Vec<u16>,
    /// One line for each county.
    pub(super) county_names: String,
    /// One line for each county: the folded name without the kind.
    pub(super) county_keys: String,
    pub(super) counties: Vec<StoredCounty>,
    pub(super) keys: fst::Map<Vec<u8>>,
}

/// A place, with its area, time zone and county as numbers.
pub(super) struct StoredPlace {
    /// The position of its name.
    pub(super) name: u32,
    pub(super) point: Point,
    pub(super) population: u32,
    pub(super) area: u16,
    pub(super) zone: u16,
    /// The number of its county + 1; 0 if it is unknown.
    pub(super) county: u16,
    pub(super) has_post_office: bool,
}

/// A postcode, with its area as a number.
pub(super) struct StoredPostcode {
    pub(super) code: u32,
    pub(super) point: Point,
    pub(super) area: u32,
}

/// A county, with its area as a number.
pub(super) struct StoredCounty {
    /// The position of its name.
    pub(super) name: u32,
    /// The position of its key.
    pub(super) key: u32,
    pub(super) point: Point,
    pub(super) area: u16,
    /// Its number in its state.
    pub(super) code: u16,
}
