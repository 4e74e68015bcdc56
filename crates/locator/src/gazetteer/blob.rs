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
//! | places | for each, most people first: latitude and longitude (signed, 1e-5 degrees), population, area, zone |
//! | postings | for each ambiguous key, the number of places it names, and the places, the likeliest first |
//! | postcodes | for each, in order: the code as a number, latitude, longitude (as above), area |
//! | keys | an FST from each folded name to where it leads: a place × 2, or a posting × 2 + 1 |
//!
//! Where a place stands in a posting or a key, it is its number × 2, plus 1 if the name is not its main one.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::likelihood;
use crate::country::Country;
use crate::fold::fold;
use crate::point::Point;
use crate::region::Region;

const MAGIC: &[u8; 8] = b"SIGNPOST";
const VERSION: u32 = 1;
/// Most bytes of a whole gazetteer, unpacked: all places of the world are a tenth of it.
const MAX_UNPACKED_BYTES: u64 = 256 << 20;

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
    #[error("this is not a gazetteer of format version 1")]
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
    pub(super) zones: Vec<String>,
    /// A line for each place.
    pub(super) names: String,
    pub(super) places: Vec<StoredPlace>,
    pub(super) postings: Vec<u32>,
    pub(super) postcodes: Vec<StoredPostcode>,
    pub(super) keys: fst::Map<Vec<u8>>,
}

/// A place, with its area and time zone as numbers.
pub(super) struct StoredPlace {
    /// Where its name begins.
    pub(super) name: u32,
    pub(super) point: Point,
    pub(super) population: u32,
    pub(super) area: u32,
    pub(super) zone: u32,
}

/// A postcode, with its area as a number.
pub(super) struct StoredPostcode {
    pub(super) code: u32,
    pub(super) point: Point,
    pub(super) area: u32,
}

/// Makes a gazetteer of these places and postcodes. The same input gives the same bytes. Names that fold to nothing
/// are left out.
///
/// # Errors
/// [`Damaged`], if there is more than the format can count.
pub fn encode(mut places: Vec<PlaceEntry>, mut postcodes: Vec<PostcodeEntry>) -> Result<Vec<u8>, Damaged> {
    places.retain(|place| !place.name.contains(['\r', '\n']) && !fold(&place.name).is_empty());
    places.sort_by(|a, b| {
        b.population.cmp(&a.population).then_with(|| a.name.cmp(&b.name)).then_with(|| a.area.cmp(&b.area))
    });
    postcodes.sort_by_key(|postcode| postcode.code);
    let used = places.iter().map(|place| place.area).chain(postcodes.iter().map(|postcode| postcode.area));
    let areas: Vec<PlaceArea> = used.collect::<BTreeSet<_>>().into_iter().collect();
    let zones: BTreeSet<&str> = places.iter().map(|place| place.time_zone.as_str()).collect();
    let zones: Vec<&str> = zones.into_iter().collect();
    let area = |area: &PlaceArea| number(areas.binary_search(area).unwrap_or_default());
    let zone = |place: &PlaceEntry| number(zones.binary_search(&place.time_zone.as_str()).unwrap_or_default());
    let places_section = places.iter().map(|place| {
        Ok([degrees(place.point.lat()), degrees(place.point.lon()), place.population, area(&place.area)?, zone(place)?])
    });
    let postcodes_section = postcodes.iter().map(|postcode| {
        Ok([postcode.code, degrees(postcode.point.lat()), degrees(postcode.point.lon()), area(&postcode.area)?])
    });
    let (keys, postings) = index_names(&places)?;
    let sections = [
        lines(areas.iter().map(|area| match area.region {
            Some(region) => format!("{}-{region}", area.country),
            None => area.country.to_string(),
        })),
        lines(zones.iter().map(ToString::to_string)),
        lines(places.iter().map(|place| place.name.clone())),
        numbers(&places_section.collect::<Result<Vec<_>, Damaged>>()?),
        numbers(&postings.into_iter().map(|posting| [posting]).collect::<Vec<_>>()),
        numbers(&postcodes_section.collect::<Result<Vec<_>, Damaged>>()?),
        keys,
    ];
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(MAGIC)?;
    packed.write_all(&VERSION.to_le_bytes())?;
    for section in sections {
        packed.write_all(&number(section.len())?.to_le_bytes())?;
        packed.write_all(&section)?;
    }
    Ok(packed.finish()?)
}

/// The keys and postings of places, which are in their final order.
fn index_names(places: &[PlaceEntry]) -> Result<(Vec<u8>, Vec<u32>), Damaged> {
    let mut named: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (place, at) in places.iter().zip(0_u32..) {
        let main = fold(&place.name);
        let others: BTreeSet<String> = place.alternates.iter().map(|name| fold(name)).collect();
        for other in others.into_iter().filter(|other| !other.is_empty() && *other != main) {
            named.entry(other).or_default().push(at * 2 + 1);
        }
        named.entry(main).or_default().push(at * 2);
    }
    let mut keys = fst::MapBuilder::memory();
    let mut postings = Vec::new();
    for (key, mut leads_to) in named {
        leads_to.sort_by_key(|&named| {
            let place = &places[(named / 2) as usize];
            (std::cmp::Reverse(likelihood(place.population, named)), named)
        });
        if let [only] = leads_to[..] {
            keys.insert(key, u64::from(only) * 2)?;
        } else {
            keys.insert(key, u64::from(number(postings.len())?) * 2 + 1)?;
            postings.push(number(leads_to.len())?);
            postings.extend(leads_to);
        }
    }
    Ok((keys.into_inner()?, postings))
}

/// Reads what [`encode`] wrote. Every number in it that stands for something is one that is there.
pub(super) fn decode(bytes: &[u8]) -> Result<BlobContents, Damaged> {
    let mut unpacked = Vec::new();
    // Only at its end does a gzip stream say whether all of it was right.
    GzDecoder::new(bytes).take(MAX_UNPACKED_BYTES).read_to_end(&mut unpacked)?;
    let rest = unpacked.strip_prefix(MAGIC).and_then(|rest| rest.strip_prefix(&VERSION.to_le_bytes()));
    let mut rest = rest.ok_or(Damaged::Foreign)?;
    let mut section = || {
        let (length, after) = rest.split_first_chunk().ok_or(Damaged::Section("sections"))?;
        let section = after.split_at_checked(u32::from_le_bytes(*length) as usize);
        let (section, after) = section.ok_or(Damaged::Section("sections"))?;
        rest = after;
        Ok::<&[u8], Damaged>(section)
    };
    let areas = text(section()?, "areas")?.lines().map(area).collect::<Result<_, _>>()?;
    let zones = text(section()?, "zones")?.lines().map(str::to_owned).collect();
    let names = text(section()?, "names")?;
    let starts = std::iter::once(0).chain(names.match_indices('\n').map(|(at, _)| at + 1));
    let places =
        read_numbers(section()?).zip(starts).map(|(numbers, start)| place(numbers, start)).collect::<Option<_>>();
    let contents = BlobContents {
        areas,
        zones,
        places: places.ok_or(Damaged::Section("places"))?,
        postings: read_numbers(section()?).map(|[number]| number).collect(),
        postcodes: read_numbers(section()?)
            .map(postcode)
            .collect::<Option<_>>()
            .ok_or(Damaged::Section("postcodes"))?,
        keys: fst::Map::new(section()?.to_vec())?,
        names,
    };
    contents.keys.as_fst().verify()?;
    contents.check()
}

impl BlobContents {
    /// Postings need no check: they are followed with care.
    fn check(self) -> Result<Self, Damaged> {
        let (areas, zones) = (self.areas.len(), self.zones.len());
        let is_in = |number: u32, count: usize| (number as usize) < count;
        if !self.places.iter().all(|place| is_in(place.area, areas) && is_in(place.zone, zones)) {
            return Err(Damaged::Section("places"));
        }
        if !self.postcodes.iter().all(|postcode| is_in(postcode.area, areas)) {
            return Err(Damaged::Section("postcodes"));
        }
        if self.names.matches('\n').count() != self.places.len() {
            return Err(Damaged::Section("names"));
        }
        Ok(self)
    }
}

fn area(line: &str) -> Result<PlaceArea, Damaged> {
    let (country, region) = line.split_once('-').map_or((line, None), |(country, region)| (country, Some(region)));
    let country = Country::parse(country).ok_or(Damaged::Section("areas"))?;
    Ok(PlaceArea { country, region: region.and_then(Region::parse) })
}

fn place([lat, lon, population, area, zone]: [u32; 5], name: usize) -> Option<StoredPlace> {
    Some(StoredPlace { name: u32::try_from(name).ok()?, point: point(lat, lon)?, population, area, zone })
}

fn postcode([code, lat, lon, area]: [u32; 4]) -> Option<StoredPostcode> {
    Some(StoredPostcode { code, point: point(lat, lon)?, area })
}

fn point(lat: u32, lon: u32) -> Option<Point> {
    Point::new(f64::from(lat.cast_signed()) / 1e5, f64::from(lon.cast_signed()) / 1e5)
}

#[expect(clippy::cast_possible_truncation, reason = "180 degrees are 18 million units")]
fn degrees(degrees: f64) -> u32 {
    ((degrees * 1e5).round() as i32).cast_unsigned()
}

fn number(count: usize) -> Result<u32, Damaged> {
    u32::try_from(count).map_err(|_| Damaged::Section("counts"))
}

fn lines(lines: impl Iterator<Item = String>) -> Vec<u8> {
    lines.map(|line| line + "\n").collect::<String>().into_bytes()
}

/// Rows of numbers, column by column: neighbours are then alike, and pack better.
fn numbers<const N: usize>(rows: &[[u32; N]]) -> Vec<u8> {
    (0..N).flat_map(|column| rows.iter().flat_map(move |row| row[column].to_le_bytes())).collect()
}

fn text(bytes: &[u8], section: &'static str) -> Result<String, Damaged> {
    String::from_utf8(bytes.to_vec()).map_err(|_| Damaged::Section(section))
}

fn read_numbers<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u32; N]> {
    let (numbers, _) = bytes.as_chunks::<4>();
    let count = numbers.len() / N;
    (0..count).map(move |row| std::array::from_fn(|column| u32::from_le_bytes(numbers[column * count + row])))
}
