//! From the bytes of a gazetteer to what they hold.

use std::io::Read;

use arcstr::ArcStr;
use flate2::read::GzDecoder;

use super::{BlobContents, Damaged, MAGIC, PlaceArea, StoredCounty, StoredPlace, StoredPostcode, VERSION};
use crate::country::Country;
use crate::point::Point;
use crate::region::Region;

/// Most bytes of a whole gazetteer, unpacked: all places of the world are a tenth of it.
const MAX_UNPACKED_BYTES: u64 = 256 << 20;

/// Reads what [`encode`](super::encode) wrote. Every number in it that stands for something is one that is there.
pub(in crate::gazetteer) fn decode(bytes: &[u8]) -> Result<BlobContents, Damaged> {
    let mut unpacked = Vec::new();
    // Only at its end does a gzip stream say whether all of it was right.
    GzDecoder::new(bytes).take(MAX_UNPACKED_BYTES).read_to_end(&mut unpacked)?;
    let rest = unpacked.strip_prefix(MAGIC).and_then(<[u8]>::split_first_chunk);
    let (version, mut rest) = rest.ok_or(Damaged::Foreign)?;
    if u32::from_le_bytes(*version) != VERSION {
        return Err(Damaged::Foreign);
    }
    let mut section = || {
        let (length, after) = rest.split_first_chunk().ok_or(Damaged::Section("sections"))?;
        let section = after.split_at_checked(u32::from_le_bytes(*length) as usize);
        let (section, after) = section.ok_or(Damaged::Section("sections"))?;
        rest = after;
        Ok::<&[u8], Damaged>(section)
    };
    let areas = text(section()?, "areas")?.lines().map(area).collect::<Result<_, _>>()?;
    let zones = text(section()?, "zones")?.lines().map(ArcStr::from).collect();
    let names = text(section()?, "names")?;
    let places = places(section()?, &names).ok_or(Damaged::Section("places"))?;
    let postings = read_numbers(section()?).map(|[number]| number).collect();
    let postcodes = postcodes(section()?).ok_or(Damaged::Section("postcodes"))?;
    let (postcodes, postcode_counties) = postcodes.into_iter().unzip();
    let county_names = text(section()?, "names of counties")?;
    let county_keys = text(section()?, "keys of counties")?;
    let counties = counties(section()?, &county_names, &county_keys).ok_or(Damaged::Section("counties"))?;
    let keys = fst::Map::new(section()?.to_vec())?;
    keys.as_fst().verify()?;
    BlobContents {
        areas,
        zones,
        names,
        places,
        postings,
        postcodes,
        postcode_counties,
        county_names,
        county_keys,
        counties,
        keys,
    }
    .check()
}

impl BlobContents {
    /// Postings need no check: they are followed with care.
    fn check(self) -> Result<Self, Damaged> {
        let is_in = |number: u16, count: usize| usize::from(number) < count;
        let is_area = |number: u16| is_in(number, self.areas.len());
        // 0 is no county.
        let is_county = |number: u16| usize::from(number) <= self.counties.len();
        let is_place =
            |place: &StoredPlace| is_area(place.area) && is_in(place.zone, self.zones.len()) && is_county(place.county);
        if !self.places.iter().all(is_place) {
            return Err(Damaged::Section("places"));
        }
        if !self.postcodes.iter().all(|postcode| (postcode.area as usize) < self.areas.len())
            || !self.postcode_counties.iter().all(|county| is_county(*county))
        {
            return Err(Damaged::Section("postcodes"));
        }
        let region = |county: &StoredCounty| self.areas.get(usize::from(county.area)).and_then(|area| area.region);
        if !self.counties.iter().all(|county| region(county).is_some()) {
            return Err(Damaged::Section("counties"));
        }
        let is_a_line_for_each = |lines: &str, count| lines.matches('\n').count() == count;
        if !is_a_line_for_each(&self.names, self.places.len()) {
            return Err(Damaged::Section("names"));
        }
        if ![&self.county_names, &self.county_keys].iter().all(|lines| is_a_line_for_each(lines, self.counties.len())) {
            return Err(Damaged::Section("names of counties"));
        }
        Ok(self)
    }
}

fn area(line: &str) -> Result<PlaceArea, Damaged> {
    let (country, region) = line.split_once('-').map_or((line, None), |(country, region)| (country, Some(region)));
    let country = Country::parse(country).ok_or(Damaged::Section("areas"))?;
    Ok(PlaceArea { country, region: region.and_then(Region::parse) })
}

fn places(section: &[u8], names: &str) -> Option<Vec<StoredPlace>> {
    read_numbers(section).zip(starts(names)).map(|(numbers, name)| place(numbers, name)).collect()
}

fn place([lat, lon, population, area, zone, county, post_office]: [u32; 7], name: usize) -> Option<StoredPlace> {
    Some(StoredPlace {
        name: u32::try_from(name).ok()?,
        point: point(lat, lon)?,
        population,
        area: u16::try_from(area).ok()?,
        zone: u16::try_from(zone).ok()?,
        county: u16::try_from(county).ok()?,
        has_post_office: post_office == 1,
    })
}

/// Returns each postcode with the number of its county.
fn postcodes(section: &[u8]) -> Option<Vec<(StoredPostcode, u16)>> {
    read_numbers(section).map(postcode).collect()
}

fn postcode([code, lat, lon, area, county]: [u32; 5]) -> Option<(StoredPostcode, u16)> {
    Some((StoredPostcode { code, point: point(lat, lon)?, area }, u16::try_from(county).ok()?))
}

fn counties(section: &[u8], names: &str, keys: &str) -> Option<Vec<StoredCounty>> {
    let rows = read_numbers(section).zip(starts(names).zip(starts(keys)));
    rows.map(|([lat, lon, area, code], (name, key))| {
        Some(StoredCounty {
            name: u32::try_from(name).ok()?,
            key: u32::try_from(key).ok()?,
            point: point(lat, lon)?,
            area: u16::try_from(area).ok()?,
            code: u16::try_from(code).ok()?,
        })
    })
    .collect()
}

fn point(lat: u32, lon: u32) -> Option<Point> {
    Point::new(f64::from(lat.cast_signed()) / 1e5, f64::from(lon.cast_signed()) / 1e5)
}

fn text(bytes: &[u8], section: &'static str) -> Result<String, Damaged> {
    String::from_utf8(bytes.to_vec()).map_err(|_| Damaged::Section(section))
}

/// Where the lines of a text begin, and what follows its last one.
fn starts(lines: &str) -> impl Iterator<Item = usize> {
    std::iter::once(0).chain(lines.match_indices('\n').map(|(at, _)| at + 1))
}

fn read_numbers<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u32; N]> {
    let (numbers, _) = bytes.as_chunks::<4>();
    let count = numbers.len() / N;
    (0..count).map(move |row| std::array::from_fn(|column| u32::from_le_bytes(numbers[column * count + row])))
}
