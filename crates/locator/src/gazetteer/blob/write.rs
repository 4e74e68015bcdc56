//! The encoder of gazetteer files.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{CountyEntry, GazetteerError, MAGIC, PlaceArea, PlaceEntry, PostcodeEntry, VERSION};
use crate::division::Division;
use crate::fold::fold;
use crate::gazetteer::candidate::Candidate;
use crate::point::Point;
use crate::region::Region;

/// Encodes places, postcodes and counties as a gazetteer. The output is deterministic. Places with an empty folded name
/// are omitted.
///
/// # Errors
/// [`GazetteerError`], if the input exceeds the limits of the format, or a county is not in the list.
pub fn encode(
    mut places: Vec<PlaceEntry>,
    mut postcodes: Vec<PostcodeEntry>,
    counties: &[CountyEntry],
) -> Result<Vec<u8>, GazetteerError> {
    places.retain(|place| !place.name.contains(['\r', '\n']) && !fold(&place.name).is_empty());
    places.sort_by(|a, b| {
        b.population.cmp(&a.population).then_with(|| a.name.cmp(&b.name)).then_with(|| a.area.cmp(&b.area))
    });
    postcodes.sort_by_key(|postcode| postcode.code);
    let areas = sorted_areas(&places, &postcodes, counties);
    let zones: BTreeSet<&str> = places.iter().map(|place| place.time_zone.as_str()).collect();
    let zones: Vec<&str> = zones.into_iter().collect();
    let ordered = order(counties, &postcodes);
    let mut stored_counties = vec![0; counties.len()];
    for (entry, at) in ordered.iter().zip(1..) {
        stored_counties[*entry] = at;
    }
    let places_section = places.iter().map(|place| {
        let [lat, lon] = degrees(place.point);
        let area = position(&areas, &place.area)?;
        let zone = position(&zones, &place.time_zone.as_str())?;
        let county = stored_county(&stored_counties, place.county)?;
        Ok([lat, lon, place.population, area, zone, county, u32::from(place.has_post_office)])
    });
    let postcodes_section = postcodes.iter().map(|postcode| {
        let [lat, lon] = degrees(postcode.point);
        let area = position(&areas, &postcode.area)?;
        Ok([postcode.code, lat, lon, area, stored_county(&stored_counties, postcode.county)?])
    });
    let counties_section = ordered.iter().map(|at| {
        let [lat, lon] = degrees(counties[*at].point);
        Ok([lat, lon, position(&areas, &counties[*at].area())?, u32::from(counties[*at].code)])
    });
    let (keys, postings) = index_names(&places)?;
    pack(&[
        lines(areas.iter().map(|area| area_line(*area))),
        lines(zones.iter().map(ToString::to_string)),
        lines(places.iter().map(|place| place.name.clone())),
        numbers(&places_section.collect::<Result<Vec<_>, GazetteerError>>()?),
        numbers(&postings.into_iter().map(|posting| [posting]).collect::<Vec<_>>()),
        numbers(&postcodes_section.collect::<Result<Vec<_>, GazetteerError>>()?),
        lines(ordered.iter().map(|at| counties[*at].name.clone())),
        lines(ordered.iter().map(|at| fold(&counties[*at].bare_name))),
        numbers(&counties_section.collect::<Result<Vec<_>, GazetteerError>>()?),
        keys,
    ])
}

fn sorted_areas(places: &[PlaceEntry], postcodes: &[PostcodeEntry], counties: &[CountyEntry]) -> Vec<PlaceArea> {
    let mut areas: BTreeSet<PlaceArea> = places.iter().map(|place| place.area).collect();
    areas.extend(postcodes.iter().map(|postcode| postcode.area));
    areas.extend(counties.iter().map(CountyEntry::area));
    areas.into_iter().collect()
}

/// Formats an area as a line: `US-TX`, `MX-14`, `MC`.
fn area_line(area: PlaceArea) -> String {
    let code = area.region.map(Region::code).or_else(|| area.division.map(Division::code));
    code.map_or_else(|| area.country.to_string(), |code| format!("{}-{code}", area.country))
}

/// Returns the position of a value in a sorted list that contains it.
fn position<T: Ord>(sorted: &[T], value: &T) -> Result<u32, GazetteerError> {
    number(sorted.binary_search(value).unwrap_or_default())
}

/// Encodes a reference to a county: its number + 1, or 0 for none.
fn stored_county(stored: &[usize], entry: Option<usize>) -> Result<u32, GazetteerError> {
    let Some(entry) = entry else { return Ok(0) };
    number(*stored.get(entry).ok_or(GazetteerError::Section("counties"))?)
}

fn pack(sections: &[Vec<u8>]) -> Result<Vec<u8>, GazetteerError> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(MAGIC)?;
    packed.write_all(&VERSION.to_le_bytes())?;
    for section in sections {
        packed.write_all(&number(section.len())?.to_le_bytes())?;
        packed.write_all(section)?;
    }
    Ok(packed.finish()?)
}

/// Returns the indices of the counties in their stored order: sorted by key, then by descending number of postcodes.
fn order(counties: &[CountyEntry], postcodes: &[PostcodeEntry]) -> Vec<usize> {
    let mut sizes = vec![0_u32; counties.len()];
    for county in postcodes.iter().filter_map(|postcode| postcode.county) {
        sizes.get_mut(county).into_iter().for_each(|size| *size += 1);
    }
    let mut ordered: Vec<usize> = (0..counties.len()).collect();
    ordered.sort_by_cached_key(|&at| {
        let county = &counties[at];
        (fold(&county.bare_name), Reverse(sizes[at]), county.region, county.name.clone())
    });
    ordered
}

/// Minimum population for treating the short name of a place as a main name.
const LARGE_POPULATION: u32 = 500_000;

/// Returns the folded name without its geographic suffix: `León` for `León de los Aldama`, `Frankfurt` for `Frankfurt
/// am Main`.
fn short_form(name: &str) -> Option<String> {
    const BEFORE_ATTRIBUTE: [&str; 8] = [" de ", " del ", " da ", " do ", " am ", " an der ", " upon ", " sur "];
    let start = BEFORE_ATTRIBUTE.iter().filter_map(|word| name.find(word)).min()?;
    Some(fold(&name[..start]))
}

/// Builds the FST of the names and the postings. `places` must be in their final order.
fn index_names(places: &[PlaceEntry]) -> Result<(Vec<u8>, Vec<u32>), GazetteerError> {
    let mut named: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (place, at) in places.iter().zip(0_u32..) {
        let main = fold(&place.name);
        let short = short_form(&place.name);
        let others: BTreeSet<String> = place.alternates.iter().map(|name| fold(name)).collect();
        for other in others.into_iter().filter(|other| !other.is_empty() && *other != main) {
            let is_alternate = place.population < LARGE_POPULATION || short.as_ref() != Some(&other);
            named.entry(other).or_default().push(at * 2 + u32::from(is_alternate));
        }
        named.entry(main).or_default().push(at * 2);
    }
    let mut keys = fst::MapBuilder::memory();
    let mut postings = Vec::new();
    for (key, mut leads_to) in named {
        leads_to.sort_by_key(|&number| {
            let candidate = Candidate(number);
            (Reverse(candidate.likelihood(places[candidate.place() as usize].population)), number)
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

#[expect(clippy::cast_possible_truncation, reason = "180 degrees are 18 million units")]
fn degrees(point: Point) -> [u32; 2] {
    [point.lat(), point.lon()].map(|degrees| ((degrees * 1e5).round() as i32).cast_unsigned())
}

fn number(count: usize) -> Result<u32, GazetteerError> {
    u32::try_from(count).map_err(|_| GazetteerError::Section("counts"))
}

fn lines(lines: impl Iterator<Item = String>) -> Vec<u8> {
    lines.map(|line| line + "\n").collect::<String>().into_bytes()
}

/// Encodes rows of numbers column by column, to improve the compression.
fn numbers<const N: usize>(rows: &[[u32; N]]) -> Vec<u8> {
    (0..N).flat_map(|column| rows.iter().flat_map(move |row| row[column].to_le_bytes())).collect()
}
