//! The binary file format of a gazetteer, written by [`encode`] and read by `decode`.
//!
//! A file is a gzip stream that contains the magic bytes, the format version and the sections. Each section consists of
//! its length in bytes and its content. All numbers are unsigned 32-bit little-endian unless noted otherwise. The
//! sections are, in this order:
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
//! In postings and keys, a place is encoded as its number × 2, plus 1 for an alternate name. In rows, a county is
//! encoded as its number + 1, or 0 if it is unknown.

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

/// A populated place, as input of [`encode`].
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceEntry {
    /// The main name.
    pub name: String,
    /// Alternate names.
    pub alternates: Vec<String>,
    /// The area.
    pub area: PlaceArea,
    /// The centre. It is stored with a precision of 1e-5 degrees, about a metre.
    pub point: Point,
    /// The population, or 0 if it is unknown.
    pub population: u32,
    /// The IANA name of the time zone.
    pub time_zone: String,
    /// The index of the county in the list of counties.
    pub county: Option<usize>,
    /// Whether there is a post office with one of the place's names.
    pub has_post_office: bool,
}

/// A postcode, as input of [`encode`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PostcodeEntry {
    /// The five digits as a number.
    pub code: u32,
    /// The centre.
    pub point: Point,
    /// The area.
    pub area: PlaceArea,
    /// The index of the county in the list of counties.
    pub county: Option<usize>,
}

/// A county of the United States or an equivalent (parish, borough, independent city), as input of [`encode`].
#[derive(Clone, Debug, PartialEq)]
pub struct CountyEntry {
    /// The full name, such as `Cook County` or `Orleans Parish`. The names of independent cities have no generic word.
    pub name: String,
    /// The name without its generic word.
    pub bare_name: String,
    /// The state or territory.
    pub region: Region,
    /// The number of the county in its state.
    pub code: u16,
    /// The middle of the county's postcodes.
    pub point: Point,
}

impl CountyEntry {
    fn area(&self) -> PlaceArea {
        PlaceArea::of_region(self.region)
    }
}

/// A country with the region or administrative division in it.
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

/// An error of encoding or decoding a gazetteer.
#[derive(Debug, thiserror::Error)]
pub enum GazetteerError {
    /// The file cannot be decompressed.
    #[error("the gazetteer cannot be unpacked: {0}")]
    Unreadable(#[from] std::io::Error),
    /// The file has another format or version.
    #[error("this is not a gazetteer of format version 3")]
    Foreign,
    /// The named section is invalid.
    #[error("the gazetteer is damaged: its {0} are invalid")]
    Section(&'static str),
    /// The FST of the names is invalid.
    #[error("the gazetteer is damaged: {0}")]
    Keys(#[from] fst::Error),
}

/// The decoded contents of a gazetteer file.
pub(super) struct BlobContents {
    pub(super) areas: Vec<PlaceArea>,
    pub(super) zones: Vec<ArcStr>,
    /// The names of the places, one line each.
    pub(super) names: String,
    pub(super) places: Vec<StoredPlace>,
    pub(super) postings: Vec<u32>,
    pub(super) postcodes: Vec<StoredPostcode>,
    /// The number of each postcode's county + 1, or 0 if it is unknown. Stored separately from the postcodes to avoid
    /// padding.
    pub(super) postcode_counties: Vec<u16>,
    /// The full names of the counties, one line each.
    pub(super) county_names: String,
    /// The folded names of the counties without the generic word, one line each.
    pub(super) county_keys: String,
    pub(super) counties: Vec<StoredCounty>,
    pub(super) keys: fst::Map<Vec<u8>>,
}

/// A decoded place. It refers to its area, time zone and county by number.
pub(super) struct StoredPlace {
    /// The start of its line in the list of names.
    pub(super) name: u32,
    pub(super) point: Point,
    pub(super) population: u32,
    pub(super) area: u16,
    pub(super) zone: u16,
    /// The number of its county + 1; 0 if it is unknown.
    pub(super) county: u16,
    pub(super) has_post_office: bool,
}

/// A decoded postcode. It refers to its area by number.
pub(super) struct StoredPostcode {
    pub(super) code: u32,
    pub(super) point: Point,
    pub(super) area: u32,
}

/// A decoded county. It refers to its area by number.
pub(super) struct StoredCounty {
    /// The start of its line in the list of names.
    pub(super) name: u32,
    /// The start of its line in the list of keys.
    pub(super) key: u32,
    pub(super) point: Point,
    pub(super) area: u16,
    /// The number of the county in its state.
    pub(super) code: u16,
}
