//! From places, postcodes and counties to the bytes of a gazetteer.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{CountyEntry, Damaged, MAGIC, PlaceArea, PlaceEntry, PostcodeEntry, VERSION};
use crate::fold::fold;
use crate::gazetteer::likelihood;
use crate::point::Point;

/// Makes a gazetteer of these places, postcodes and counties. The same input gives the same bytes. Places whose names
/// fold to nothing are left out.
///
/// # Errors
/// [`Damaged`], if there is more than the format can count, or a county that is not in the list.
pub fn encode(
    mut places: Vec<PlaceEntry>,
    mut postcodes: Vec<PostcodeEntry>,
    counties: &[CountyEntry],
) -> Result<Vec<u8>, Damaged> {
    places.retain(|place| !place.name.contains(['\r', '\n']) && !fold(&place.name).is_empty());
    places.sort_by(|a, b| {
        b.population.cmp(&a.population).then_with(|| a.name.cmp(&b.name)).then_with(|| a.area.cmp(&b.area))
    });
    postcodes.sort_by_key(|postcode| postcode.code);
    let of_counties = counties.iter().map(CountyEntry::area);
    let used = places.iter().map(|place| place.area).chain(postcodes.iter().map(|postcode| postcode.area));
    let areas: Vec<PlaceArea> = used.chain(of_counties).collect::<BTreeSet<_>>().into_iter().collect();
    let zones: BTreeSet<&str> = places.iter().map(|place| place.time_zone.as_str()).collect();
    let zones: Vec<&str> = zones.into_iter().collect();
    let area = |area: &PlaceArea| number(areas.binary_search(area).unwrap_or_default());
    let zone = |place: &PlaceEntry| number(zones.binary_search(&place.time_zone.as_str()).unwrap_or_default());
    let ordered = order(counties, &postcodes);
    let mut kept_at = vec![0; counties.len()];
    ordered.iter().zip(1..).for_each(|(entry, at)| kept_at[*entry] = at);
    let county = |entry: Option<usize>| match entry {
        Some(entry) => number(*kept_at.get(entry).ok_or(Damaged::Section("counties"))?),
        None => Ok(0),
    };
    let places_section = places.iter().map(|place| {
        let [lat, lon] = degrees(place.point);
        let county = county(place.county)?;
        Ok([lat, lon, place.population, area(&place.area)?, zone(place)?, county, u32::from(place.has_post_office)])
    });
    let postcodes_section = postcodes.iter().map(|postcode| {
        let [lat, lon] = degrees(postcode.point);
        Ok([postcode.code, lat, lon, area(&postcode.area)?, county(postcode.county)?])
    });
    let counties_section = ordered.iter().map(|at| {
        let [lat, lon] = degrees(counties[*at].point);
        Ok([lat, lon, area(&counties[*at].area())?, u32::from(counties[*at].code)])
    });
    let (keys, postings) = index_names(&places)?;
    pack(&[
        lines(areas.iter().map(|area| match area.region {
            Some(region) => format!("{}-{region}", area.country),
            None => area.country.to_string(),
        })),
        lines(zones.iter().map(ToString::to_string)),
        lines(places.iter().map(|place| place.name.clone())),
        numbers(&places_section.collect::<Result<Vec<_>, Damaged>>()?),
        numbers(&postings.into_iter().map(|posting| [posting]).collect::<Vec<_>>()),
        numbers(&postcodes_section.collect::<Result<Vec<_>, Damaged>>()?),
        lines(ordered.iter().map(|at| counties[*at].name.clone())),
        lines(ordered.iter().map(|at| fold(&counties[*at].bare_name))),
        numbers(&counties_section.collect::<Result<Vec<_>, Damaged>>()?),
        keys,
    ])
}

fn pack(sections: &[Vec<u8>]) -> Result<Vec<u8>, Damaged> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(MAGIC)?;
    packed.write_all(&VERSION.to_le_bytes())?;
    for section in sections {
        packed.write_all(&number(section.len())?.to_le_bytes())?;
        packed.write_all(section)?;
    }
    Ok(packed.finish()?)
}

/// The numbers of the counties in the order in which they are kept: by key, those with most postcodes first.
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
            (Reverse(likelihood(place.population, named)), named)
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
