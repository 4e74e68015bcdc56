//! The decoder of gazetteer files.

use std::io::Read;

use arcstr::ArcStr;
use flate2::read::GzDecoder;

use super::{BlobContents, GazetteerError, MAGIC, PlaceArea, StoredCounty, StoredPlace, StoredPostcode, VERSION};
use crate::country::Country;
use crate::division::Division;
use crate::point::Point;
use crate::region::Region;

/// Maximum decompressed size of a gazetteer, in bytes: ten times the size of a gazetteer with all places of the world.
const MAX_UNPACKED_BYTES: u64 = 256 << 20;

/// Decodes the output of [`encode`](super::encode) and validates all references between its sections.
pub(in crate::gazetteer) fn decode(bytes: &[u8]) -> Result<BlobContents, GazetteerError> {
    let mut unpacked = Vec::new();
    // Reading to the end verifies the checksum of the gzip stream.
    GzDecoder::new(bytes).take(MAX_UNPACKED_BYTES).read_to_end(&mut unpacked)?;
    let Some(rest) = unpacked.strip_prefix(MAGIC) else { return Err(GazetteerError::Foreign) };
    let (version, mut rest) = rest.split_first_chunk().ok_or(GazetteerError::Foreign)?;
    if u32::from_le_bytes(*version) != VERSION {
        return Err(GazetteerError::Foreign);
    }
    let areas = text(next_section(&mut rest)?, "areas")?.lines().map(area).collect::<Result<_, _>>()?;
    let zones = text(next_section(&mut rest)?, "zones")?.lines().map(ArcStr::from).collect();
    let names = text(next_section(&mut rest)?, "names")?;
    let places = places(next_section(&mut rest)?, &names).ok_or(GazetteerError::Section("places"))?;
    let postings = read_numbers(next_section(&mut rest)?).map(|[number]| number).collect();
    let postcodes = postcodes(next_section(&mut rest)?).ok_or(GazetteerError::Section("postcodes"))?;
    let (postcodes, postcode_counties) = postcodes.into_iter().unzip();
    let county_names = text(next_section(&mut rest)?, "names of counties")?;
    let county_keys = text(next_section(&mut rest)?, "keys of counties")?;
    let counties = counties(next_section(&mut rest)?, &county_names, &county_keys);
    let counties = counties.ok_or(GazetteerError::Section("counties"))?;
    let keys = fst::Map::new(next_section(&mut rest)?.to_vec())?;
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

/// Splits the next section off the unread rest of the file.
fn next_section<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], GazetteerError> {
    let (length, after) = rest.split_first_chunk().ok_or(GazetteerError::Section("sections"))?;
    let section = after.split_at_checked(u32::from_le_bytes(*length) as usize);
    let (section, after) = section.ok_or(GazetteerError::Section("sections"))?;
    *rest = after;
    Ok(section)
}

impl BlobContents {
    /// Validates all references except for postings. Those are validated on use.
    fn check(self) -> Result<Self, GazetteerError> {
        if !self.places.iter().all(|place| self.has_references_of(place)) {
            return Err(GazetteerError::Section("places"));
        }
        if !self.postcodes.iter().all(|postcode| (postcode.area as usize) < self.areas.len())
            || !self.postcode_counties.iter().all(|county| self.has_county(*county))
        {
            return Err(GazetteerError::Section("postcodes"));
        }
        for county in &self.counties {
            if self.areas.get(usize::from(county.area)).is_none_or(|area| area.region.is_none()) {
                return Err(GazetteerError::Section("counties"));
            }
        }
        if count_lines(&self.names) != self.places.len() {
            return Err(GazetteerError::Section("names"));
        }
        for lines in [&self.county_names, &self.county_keys] {
            if count_lines(lines) != self.counties.len() {
                return Err(GazetteerError::Section("names of counties"));
            }
        }
        Ok(self)
    }

    fn has_references_of(&self, place: &StoredPlace) -> bool {
        usize::from(place.area) < self.areas.len()
            && usize::from(place.zone) < self.zones.len()
            && self.has_county(place.county)
    }

    /// Checks a reference to a county: its number + 1, or 0 for none.
    fn has_county(&self, number: u16) -> bool {
        usize::from(number) <= self.counties.len()
    }
}

fn count_lines(lines: &str) -> usize {
    lines.matches('\n').count()
}

fn area(line: &str) -> Result<PlaceArea, GazetteerError> {
    let (country, code) = line.split_once('-').unwrap_or((line, ""));
    let country = Country::parse(country).ok_or(GazetteerError::Section("areas"))?;
    let region = Region::parse(code).filter(|region| region.country() == country);
    Ok(PlaceArea { country, region, division: Division::of_code(country, code) })
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

/// Decodes the postcodes, each with the reference to its county.
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

fn text(bytes: &[u8], section: &'static str) -> Result<String, GazetteerError> {
    String::from_utf8(bytes.to_vec()).map_err(|_| GazetteerError::Section(section))
}

/// Returns the start positions of the lines in a text, followed by the length of the text.
fn starts(lines: &str) -> impl Iterator<Item = usize> {
    std::iter::once(0).chain(lines.match_indices('\n').map(|(at, _)| at + 1))
}

fn read_numbers<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u32; N]> {
    let (numbers, _) = bytes.as_chunks::<4>();
    let count = numbers.len() / N;
    (0..count).map(move |row| std::array::from_fn(|column| u32::from_le_bytes(numbers[column * count + row])))
}
