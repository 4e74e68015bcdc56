//! The gazetteer as bytes: an index of folded names over columns of places, in one zlib stream, whose checksum tells
//! a damaged file.
//!
//! All numbers are little-endian. Header: the magic, a version, then the count of places, bytes of the name index,
//! postings, bytes of names, bytes of zones, postcodes. Then these, column by column: a column of similar numbers
//! compresses far better than rows.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use fst::{Map, MapBuilder};

use super::Place;
use crate::country::Country;
use crate::fold::fold;
use crate::point::Point;
use crate::region::Region;

const MAGIC: &[u8; 4] = b"SPGZ";
const VERSION: u32 = 1;
/// The largest gazetteer that is read, unpacked: all of the world's named places stay below it.
const LARGEST: u64 = 1 << 30;
/// Coordinates are kept to a millionth of a degree, some 10 cm.
const PER_DEGREE: f64 = 1e6;

/// A place to be put into a gazetteer.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it is.
    pub place: Place,
    /// What else it is called.
    pub other_names: Vec<String>,
}

/// The bytes are no gazetteer that this version reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the gazetteer is cut off, damaged or of another version; build it again")]
pub struct Broken;

/// A gazetteer, unpacked.
pub(super) struct Data {
    pub(super) names: Map<Vec<u8>>,
    postings: Vec<u32>,
    lats: Vec<i32>,
    lons: Vec<i32>,
    populations: Vec<u32>,
    countries: Vec<[u8; 2]>,
    regions: Vec<[u8; 2]>,
    zones: Vec<u16>,
    /// Where each place's name ends in `texts`.
    ends: Vec<u32>,
    texts: String,
    zone_names: Vec<String>,
    /// Postcode, latitude, longitude; by postcode.
    postcodes: Vec<(u32, i32, i32)>,
    postcode_regions: Vec<[u8; 2]>,
}

/// Packs places, and US postcodes with their points and states. The same input gives the same bytes.
///
/// # Panics
/// Where there are more than 2^30 places.
#[must_use]
pub fn encode(entries: &[Entry], postcodes: &BTreeMap<u32, (Point, Option<Region>)>) -> Vec<u8> {
    let (index, postings) = name_index(entries);
    let mut zones: Vec<&str> = entries.iter().map(|entry| entry.place.time_zone.as_str()).collect();
    zones.sort_unstable();
    zones.dedup();
    let texts: String = entries.iter().map(|entry| entry.place.name.as_str()).collect();
    let zone_text = zones.join("\n");
    let mut out = Vec::new();
    out.extend(MAGIC);
    let counts = [entries.len(), index.len(), postings.len(), texts.len(), zone_text.len(), postcodes.len()];
    put(&mut out, std::iter::once(VERSION).chain(counts.map(count)).map(u32::to_le_bytes));
    out.extend(index);
    put(&mut out, postings.into_iter().map(u32::to_le_bytes));
    let places = || entries.iter().map(|entry| &entry.place);
    put(&mut out, places().map(|place| micro(place.point.lat()).to_le_bytes()));
    put(&mut out, places().map(|place| micro(place.point.lon()).to_le_bytes()));
    put(&mut out, places().map(|place| place.population.to_le_bytes()));
    put(&mut out, places().map(|place| two(place.country.code())));
    put(&mut out, places().map(|place| two(place.region.map_or("", Region::code))));
    let zone = |place: &Place| zones.binary_search(&place.time_zone.as_str()).unwrap_or_default();
    put(&mut out, places().map(|place| u16::try_from(zone(place)).expect("fewer zones than 65,536").to_le_bytes()));
    let mut end = 0;
    put(
        &mut out,
        places().map(|place| {
            end += count(place.name.len());
            end.to_le_bytes()
        }),
    );
    out.extend(texts.bytes().chain(zone_text.bytes()));
    put(&mut out, postcodes.keys().map(|code| code.to_le_bytes()));
    put(&mut out, postcodes.values().map(|(point, _)| micro(point.lat()).to_le_bytes()));
    put(&mut out, postcodes.values().map(|(point, _)| micro(point.lon()).to_le_bytes()));
    put(&mut out, postcodes.values().map(|(_, region)| two(region.map_or("", Region::code))));
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&out).and_then(|()| packed.finish()).expect("memory takes what is written")
}

/// Folded names over postings: a place alone with its name stands in the index itself, others in a list.
fn name_index(entries: &[Entry]) -> (Vec<u8>, Vec<u32>) {
    let mut names: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (at, entry) in (0..).zip(entries) {
        assert!(at < 1 << 30, "a gazetteer holds fewer than 2^30 places");
        let main = fold(&entry.place.name);
        let others = entry.other_names.iter().map(|name| fold(name)).filter(|name| *name != main);
        for name in others {
            names.entry(name).or_default().push(at << 1 | 1);
        }
        names.entry(main).or_default().push(at << 1);
    }
    names.remove("");
    let (mut index, mut postings) = (MapBuilder::memory(), Vec::new());
    for (name, mut places) in names {
        places.sort_unstable();
        places.dedup();
        let value = if let [one] = places[..] {
            u64::from(one) << 1
        } else {
            let list = u64::from(count(postings.len()));
            postings.push(count(places.len()));
            postings.extend(places);
            list << 1 | 1
        };
        index.insert(name, value).expect("a BTreeMap is in order");
    }
    (index.into_inner().expect("memory takes what is written"), postings)
}

impl Data {
    pub(super) fn decode(packed: &[u8]) -> Result<Self, Broken> {
        let mut bytes = Vec::new();
        ZlibDecoder::new(packed).take(LARGEST).read_to_end(&mut bytes).map_err(|_| Broken)?;
        let mut rest = bytes.strip_prefix(MAGIC).ok_or(Broken)?;
        let rest = &mut rest;
        let header = column(rest, 7, u32::from_le_bytes)?;
        let [VERSION, places, index, postings, texts, zone_text, postcodes] = header[..] else { return Err(Broken) };
        let names = Map::new(take(rest, index)?.to_vec()).map_err(|_| Broken)?;
        let data = Self {
            names,
            postings: column(rest, postings, u32::from_le_bytes)?,
            lats: column(rest, places, i32::from_le_bytes)?,
            lons: column(rest, places, i32::from_le_bytes)?,
            populations: column(rest, places, u32::from_le_bytes)?,
            countries: column(rest, places, |code| code)?,
            regions: column(rest, places, |code| code)?,
            zones: column(rest, places, u16::from_le_bytes)?,
            ends: column(rest, places, u32::from_le_bytes)?,
            texts: text(rest, texts)?,
            zone_names: text(rest, zone_text)?.split('\n').map(ToOwned::to_owned).collect(),
            postcodes: {
                let codes = column(rest, postcodes, u32::from_le_bytes)?;
                let lats = column(rest, postcodes, i32::from_le_bytes)?;
                let lons = column(rest, postcodes, i32::from_le_bytes)?;
                codes.into_iter().zip(lats).zip(lons).map(|((code, lat), lon)| (code, lat, lon)).collect()
            },
            postcode_regions: column(rest, postcodes, |code| code)?,
        };
        if rest.is_empty() { Ok(data) } else { Err(Broken) }
    }

    pub(super) fn len(&self) -> usize {
        self.lats.len()
    }

    /// The places behind a value of the index, and whether the name is their main one.
    pub(super) fn postings(&self, value: u64) -> impl Iterator<Item = (u32, bool)> {
        let at = usize::try_from(value >> 1).unwrap_or(usize::MAX);
        let (alone, list) = if value & 1 == 0 {
            (u32::try_from(value >> 1).ok(), &[][..])
        } else {
            let length = self.postings.get(at).map_or(0, |length| *length as usize);
            (None, self.postings.get(at + 1..at + 1 + length).unwrap_or_default())
        };
        let known = |posting: &u32| ((posting >> 1) as usize) < self.len();
        alone.into_iter().chain(list.iter().copied()).filter(known).map(|posting| (posting >> 1, posting & 1 == 0))
    }

    pub(super) fn population(&self, place: u32) -> u32 {
        self.populations[place as usize]
    }

    pub(super) fn country(&self, place: u32) -> Country {
        Country::of_code(self.countries[place as usize])
    }

    pub(super) fn region(&self, place: u32) -> Option<Region> {
        region(self.regions[place as usize])
    }

    pub(super) fn place(&self, place: u32) -> Place {
        let at = place as usize;
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]) as usize;
        let name = self.texts.get(begin..self.ends[at] as usize).unwrap_or_default();
        Place {
            name: name.to_owned(),
            region: self.region(place),
            country: self.country(place),
            point: point(self.lats[at], self.lons[at]),
            population: self.populations[at],
            time_zone: self.zone_names.get(usize::from(self.zones[at])).cloned().unwrap_or_default(),
        }
    }

    /// Where a US postcode is.
    pub(super) fn postcode(&self, code: u32) -> Option<(Point, Option<Region>)> {
        let at = self.postcodes.binary_search_by_key(&code, |postcode| postcode.0).ok()?;
        let (_, lat, lon) = self.postcodes[at];
        Some((point(lat, lon), region(self.postcode_regions[at])))
    }
}

fn region(code: [u8; 2]) -> Option<Region> {
    if code == [0; 2] { None } else { Region::parse(std::str::from_utf8(&code).ok()?) }
}

fn point(lat: i32, lon: i32) -> Point {
    let degrees = |micro: i32| f64::from(micro) / PER_DEGREE;
    Point::new(degrees(lat).clamp(-90.0, 90.0), degrees(lon).clamp(-180.0, 180.0))
        .expect("clamped coordinates are on the earth")
}

#[expect(clippy::cast_possible_truncation, reason = "180 million fits")]
fn micro(degrees: f64) -> i32 {
    (degrees * PER_DEGREE).round() as i32
}

fn two(code: &str) -> [u8; 2] {
    code.as_bytes().try_into().unwrap_or([0; 2])
}

fn count(length: usize) -> u32 {
    u32::try_from(length).expect("a gazetteer has less than 4 GiB")
}

fn put<const N: usize>(out: &mut Vec<u8>, column: impl Iterator<Item = [u8; N]>) {
    out.extend(column.flatten());
}

fn take<'a>(rest: &mut &'a [u8], length: u32) -> Result<&'a [u8], Broken> {
    let (taken, left) = rest.split_at_checked(length as usize).ok_or(Broken)?;
    *rest = left;
    Ok(taken)
}

fn column<const N: usize, T>(rest: &mut &[u8], length: u32, read: impl Fn([u8; N]) -> T) -> Result<Vec<T>, Broken> {
    let bytes = take(rest, length.checked_mul(count(N)).ok_or(Broken)?)?;
    Ok(bytes.as_chunks().0.iter().map(|chunk| read(*chunk)).collect())
}

fn text(rest: &mut &[u8], length: u32) -> Result<String, Broken> {
    String::from_utf8(take(rest, length)?.to_vec()).map_err(|_| Broken)
}
