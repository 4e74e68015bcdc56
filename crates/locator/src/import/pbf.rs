//! OpenStreetMap's binary extracts.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Cursor;

use osmpbf::{BlobDecode, BlobReader, Element, Info};

use super::json::Entry;
use super::overpass::middle;
use super::{Broken, Field, Options, osm};

/// A machine whose place may have to be looked for.
struct Found {
    id: String,
    tags: BTreeMap<String, String>,
    edited: Option<String>,
    place: Place,
}

enum Place {
    At(f64, f64),
    /// In the middle of these nodes.
    Among(Vec<i64>),
}

/// The elements that are machines. An extract has millions of others, which are not counted.
pub(super) fn entries(bytes: &[u8], options: &Options) -> Result<Vec<Entry>, Broken> {
    let (mut found, most) = (Vec::new(), options.bounds.items);
    each(bytes, options, |element| found.extend(machine(&element).filter(|_| found.len() <= most)))?;
    if found.len() > most {
        return Err(Broken::TooManyItems { most });
    }
    let wanted: HashSet<i64> = found.iter().flat_map(|found| found.place.nodes()).copied().collect();
    let mut nodes = HashMap::new();
    if !wanted.is_empty() {
        each(bytes, options, |element| {
            let node = match element {
                Element::Node(node) => Some((node.id(), node.lat(), node.lon())),
                Element::DenseNode(node) => Some((node.id(), node.lat(), node.lon())),
                _ => None,
            };
            if let Some((id, lat, lon)) = node.filter(|(id, ..)| wanted.contains(id)) {
                nodes.insert(id, (lat, lon));
            }
        })?;
    }
    Ok((1..).zip(found).map(|(number, found)| found.entry(number, &nodes)).collect())
}

fn each(bytes: &[u8], options: &Options, mut take: impl for<'a> FnMut(Element<'a>)) -> Result<(), Broken> {
    let damaged = |error: osmpbf::Error| Broken::NotPbf(error.to_string());
    for blob in BlobReader::new(Cursor::new(bytes)) {
        options.stop.check()?;
        if let BlobDecode::OsmData(block) = blob.map_err(damaged)?.decode().map_err(damaged)? {
            block.for_each_element(&mut take);
        }
    }
    Ok(())
}

fn machine(element: &Element<'_>) -> Option<Found> {
    let (id, tags, edited, place) = match element {
        Element::Node(node) => {
            let place = Place::At(node.lat(), node.lon());
            (format!("node/{}", node.id()), tags(node.tags())?, edited(&node.info()), place)
        }
        Element::DenseNode(node) => {
            let edited = node.info().and_then(|info| time(info.milli_timestamp()));
            (format!("node/{}", node.id()), tags(node.tags())?, edited, Place::At(node.lat(), node.lon()))
        }
        Element::Way(way) => {
            let place = Place::Among(way.refs().collect());
            (format!("way/{}", way.id()), tags(way.tags())?, edited(&way.info()), place)
        }
        // Relations that are machines are not known to exist.
        Element::Relation(_) => return None,
    };
    Some(Found { id, tags, edited, place })
}

/// The tags of a machine; `None` of anything else, without copying them.
fn tags<'a>(tags: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Option<BTreeMap<String, String>> {
    tags.clone().any(|(key, value)| value == "atm" && key.ends_with("amenity")).then_some(())?;
    let tags = tags.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    osm::is_bitcoin_atm(&tags).then_some(tags)
}

fn edited(info: &Info<'_>) -> Option<String> {
    time(info.milli_timestamp()?)
}

fn time(milliseconds: i64) -> Option<String> {
    jiff::Timestamp::from_millisecond(milliseconds)
        .ok()
        .filter(|time| time.as_second() > 0)
        .map(|time| time.to_string())
}

impl Place {
    fn nodes(&self) -> &[i64] {
        match self {
            Self::At(..) => &[],
            Self::Among(nodes) => nodes,
        }
    }
}

impl Found {
    fn entry(self, number: usize, nodes: &HashMap<i64, (f64, f64)>) -> Entry {
        let place = match &self.place {
            Place::At(lat, lon) => Some((*lat, *lon)),
            Place::Among(corners) => {
                middle(&corners.iter().filter_map(|id| nodes.get(id).copied()).collect::<Vec<_>>())
            }
        };
        let mut entry = osm::entry(number, &self.id, self.tags, self.edited.as_deref());
        if let Some((lat, lon)) = place {
            entry.put(Field::Lat, Some(format!("{lat:.7}")));
            entry.put(Field::Lon, Some(format!("{lon:.7}")));
        }
        entry.put(Field::SourceUrl, Some(format!("https://www.openstreetmap.org/{}", self.id)));
        entry
    }
}
