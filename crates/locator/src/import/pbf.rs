//! OpenStreetMap's binary extracts.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Cursor;

use osmpbf::{BlobDecode, BlobReader, Element, Info};

use super::broken::Broken;
use super::field::Field;
use super::format::{FileContent, Format, SourceFile};
use super::item::DocumentItem;
use super::osm;
use super::overpass::middle;

/// OpenStreetMap's binary extracts (`.osm.pbf`).
pub(super) const FORMAT: Format = Format {
    name: "osm-pbf",
    title: "OpenStreetMap extracts (.osm.pbf)",
    json: None,
    recognise: |file| Ok(begins_with_header(file.bytes)),
    read: machines,
};

/// The first block of every extract is called so.
fn begins_with_header(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(64)];
    start.first() == Some(&0) && start.windows(9).any(|window| window == b"OSMHeader")
}

/// A machine whose position may have to be looked for.
struct OsmCandidate {
    id: String,
    tags: BTreeMap<String, String>,
    edited: Option<String>,
    place: OsmPosition,
}

enum OsmPosition {
    At(f64, f64),
    /// In the middle of these nodes.
    Among(Vec<i64>),
}

/// The elements that are machines. An extract has millions of others, which are not counted.
fn machines<'a>(file: &SourceFile<'a>) -> Result<FileContent<'a>, Broken> {
    let (mut found, most) = (Vec::new(), file.bounds.items);
    each(file, |element| found.extend(machine(&element).filter(|_| found.len() <= most)))?;
    if found.len() > most {
        return Err(Broken::TooManyItems { most });
    }
    let wanted: HashSet<i64> = found.iter().flat_map(|found| found.place.nodes()).copied().collect();
    let mut nodes = HashMap::new();
    if !wanted.is_empty() {
        each(file, |element| {
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
    let items = (1..).zip(found).map(|(number, found)| found.into_item(number, &nodes)).collect();
    Ok(FileContent::Items { items, others: 0, is_read: osm::is_read })
}

fn each(file: &SourceFile<'_>, mut take: impl for<'a> FnMut(Element<'a>)) -> Result<(), Broken> {
    let damaged = |error: osmpbf::Error| Broken::NotPbf(error.to_string());
    for blob in BlobReader::new(Cursor::new(file.bytes)) {
        file.stop.check()?;
        if let BlobDecode::OsmData(block) = blob.map_err(damaged)?.decode().map_err(damaged)? {
            block.for_each_element(&mut take);
        }
    }
    Ok(())
}

fn machine(element: &Element<'_>) -> Option<OsmCandidate> {
    let (id, tags, edited, place) = match element {
        Element::Node(node) => {
            let place = OsmPosition::At(node.lat(), node.lon());
            (format!("node/{}", node.id()), tags(node.tags())?, edited(&node.info()), place)
        }
        Element::DenseNode(node) => {
            let edited = node.info().and_then(|info| time(info.milli_timestamp()));
            (format!("node/{}", node.id()), tags(node.tags())?, edited, OsmPosition::At(node.lat(), node.lon()))
        }
        Element::Way(way) => {
            let place = OsmPosition::Among(way.refs().collect());
            (format!("way/{}", way.id()), tags(way.tags())?, edited(&way.info()), place)
        }
        // Relations that are machines are not known to exist.
        Element::Relation(_) => return None,
    };
    Some(OsmCandidate { id, tags, edited, place })
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

impl OsmPosition {
    fn nodes(&self) -> &[i64] {
        match self {
            Self::At(..) => &[],
            Self::Among(nodes) => nodes,
        }
    }
}

impl OsmCandidate {
    fn into_item(self, number: usize, nodes: &HashMap<i64, (f64, f64)>) -> DocumentItem {
        let place = match &self.place {
            OsmPosition::At(lat, lon) => Some((*lat, *lon)),
            OsmPosition::Among(corners) => {
                middle(&corners.iter().filter_map(|id| nodes.get(id).copied()).collect::<Vec<_>>())
            }
        };
        let mut item = osm::item_of(number, &self.id, self.tags, self.edited.as_deref());
        if let Some((lat, lon)) = place {
            item.set(Field::Lat, Some(format!("{lat:.7}")));
            item.set(Field::Lon, Some(format!("{lon:.7}")));
        }
        item.set(Field::SourceUrl, Some(format!("https://www.openstreetmap.org/{}", self.id)));
        item
    }
}
