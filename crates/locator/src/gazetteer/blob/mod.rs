//! The one file that holds a gazetteer: written by [`encode`], read by `decode`.
//!
//! It is a gzip stream of: the magic bytes, the format version, then sections, each a length in bytes and the bytes.
//! All numbers are unsigned 32-bit little-endian unless it says otherwise. The sections, in this order:
//!
//! | section | holds |
//! |---|---|
//! | areas | a line for each: the country, and in the United States and Canada `-` and the region |
//! | zones | a line for each: the IANA name of a time zone |
//! | names | a line for each place, in the order of the places |
//! | places | for each, most people first: latitude and longitude (signed, 1e-5 degrees), population, area, zone, county, 1 if it has a post office of its name |
//! | postings | for each ambiguous key, the number of places it names, and the places, the likeliest first |
//! | postcodes | for each, in order: the code as a number, latitude, longitude (as above), area, county |
//! | county names | a line for each county: its name with its kind, in the order of the counties |
//! | county keys | a line for each: the folded name without the kind |
//! | counties | for each, by key, those with most postcodes first: latitude, longitude, area, code |
//! | keys | an FST from each folded name to where it leads: a place × 2, or a posting × 2 + 1 |
//!
//! Where a place stands in a posting or a key, it is its number × 2, plus 1 if the name is not its main one. Where a
//! county stands in a row, it is its number + 1, or 0 if none is known.
//!
//! Version 1 is read too. It has neither counties nor what leads to them, nor post offices.

mod read;
mod write;

use arcstr::ArcStr;

use crate::country::Country;
use crate::point::Point;
use crate::region::Region;

pub(super) use read::decode;
pub use write::encode;

const MAGIC: &[u8; 8] = b"SIGNPOST";
const VERSION: u32 = 2;

/// A populated place, for [`encode`].
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceEntry {
    /// Its main name.
    pub name: String,
    /// Other names.
    pub alternates: Vec<String>,
    /// Where it belongs.
    pub area: PlaceArea,
    /// Its centre; kept to 1e-5 degrees, about a metre.
    pub point: Point,
    /// How many people live there.
    pub population: u32,
    /// The IANA name of its time zone.
    pub time_zone: String,
    /// Its county, as its number in the list of counties.
    pub county: Option<usize>,
    /// Whether a post office of one of its names is there.
    pub has_post_office: bool,
}

/// A postcode of the United States, for [`encode`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PostcodeEntry {
    /// The five digits as a number.
    pub code: u32,
    /// Its centre.
    pub point: Point,
    /// Where it belongs.
    pub area: PlaceArea,
    /// Its county, as its number in the list of counties.
    pub county: Option<usize>,
}

/// A county of the United States, or what stands for one: a parish, a borough, an independent city; for [`encode`].
#[derive(Clone, Debug, PartialEq)]
pub struct CountyEntry {
    /// With its kind: `Cook County`, `Orleans Parish`; of an independent city the name alone.
    pub name: String,
    /// Without its kind.
    pub bare_name: String,
    /// Where it belongs.
    pub region: Region,
    /// Its number among the counties of its state.
    pub code: u16,
    /// The middle of its postcodes.
    pub point: Point,
}

impl CountyEntry {
    fn area(&self) -> PlaceArea {
        PlaceArea { country: self.region.country(), region: Some(self.region) }
    }
}

/// A country, and in the United States and Canada the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaceArea {
    /// The country.
    pub country: Country,
    /// The region, where the country has one here.
    pub region: Option<Region>,
}

/// Bytes are not a gazetteer that this version can read.
#[derive(Debug, thiserror::Error)]
pub enum Damaged {
    /// They do not unpack.
    #[error("the gazetteer cannot be unpacked: {0}")]
    Unreadable(#[from] std::io::Error),
    /// They are something else, or of another version.
    #[error("this is not a gazetteer of format version 2")]
    Foreign,
    /// They contradict themselves.
    #[error("the gazetteer is damaged: its {0} are not what they must be")]
    Section(&'static str),
    /// The index of names does.
    #[error("the gazetteer is damaged: {0}")]
    Keys(#[from] fst::Error),
}

/// What a blob holds.
pub(super) struct BlobContents {
    pub(super) areas: Vec<PlaceArea>,
    pub(super) zones: Vec<ArcStr>,
    /// A line for each place.
    pub(super) names: String,
    pub(super) places: Vec<StoredPlace>,
    pub(super) postings: Vec<u32>,
    pub(super) postcodes: Vec<StoredPostcode>,
    /// For each postcode the number of its county + 1; 0 if none is known. Apart, where it takes no room to fill up.
    pub(super) postcode_counties: Vec<u16>,
    /// A line for each county.
    pub(super) county_names: String,
    /// A line for each: the folded name without the kind.
    pub(super) county_keys: String,
    pub(super) counties: Vec<StoredCounty>,
    pub(super) keys: fst::Map<Vec<u8>>,
}

/// A place, with its area, time zone and county as numbers.
pub(super) struct StoredPlace {
    /// Where its name begins.
    pub(super) name: u32,
    pub(super) point: Point,
    pub(super) population: u32,
    pub(super) area: u16,
    pub(super) zone: u16,
    /// Its number + 1; 0 if none is known.
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
    /// Where its name begins.
    pub(super) name: u32,
    /// Where its key begins.
    pub(super) key: u32,
    pub(super) point: Point,
    pub(super) area: u16,
    /// Its number among the counties of its state.
    pub(super) code: u16,
}
