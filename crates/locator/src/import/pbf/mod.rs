//! OpenStreetMap's binary extracts: files of blobs, each a block of elements. This module finds the ATMs among them;
//! its children read blobs, blocks and their numbers.
//!
//! Crates for extracts depend on protocol buffers with their compiler and on a thread pool, a twentieth of the compile
//! time of the program. Only a few messages of the format are needed here.

mod blob;
mod block;
mod wire;

use std::collections::{BTreeMap, HashMap, HashSet};

use blob::{BlobKind, next_blob};
use block::{OsmBlock, OsmElement, OsmGeometry, OsmTags};
use wire::{WireDamage, WireReader};

use super::counted_values::CountedValues;
use super::error::ImportError;
use super::field::Field;
use super::format::{FileContent, Format, SourceFile};
use super::item::DocumentItem;
use super::osm;
use super::overpass::middle;

/// The field number of `required_features` in the header.
const REQUIRED_FEATURES: u64 = 4;
/// The field number of `osmosis_replication_timestamp` in the header: the time of the data, in seconds since 1970.
const REPLICATION_TIME: u64 = 32;
/// The features that this reader supports.
const SUPPORTED_FEATURES: [&str; 2] = ["OsmSchema-V0.6", "DenseNodes"];

/// OpenStreetMap's binary extracts (`.osm.pbf`).
pub(super) const FORMAT: Format = Format {
    name: "osm-pbf",
    title: "OpenStreetMap extracts (.osm.pbf)",
    json: None,
    recognise: |file| Ok(begins_with_header(file.bytes)),
    read: machines,
};

/// Checks for the kind of the first block of every extract.
fn begins_with_header(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(64)];
    start.first() == Some(&0) && start.windows(9).any(|window| window == b"OSMHeader")
}

/// An ATM with a position that may depend on other elements.
struct OsmCandidate {
    id: String,
    tags: BTreeMap<String, String>,
    edited: Option<String>,
    place: OsmPosition,
}

enum OsmPosition {
    At(f64, f64),
    /// The middle of these nodes.
    Among(Vec<i64>),
}

/// Returns the elements that are ATMs. Of the millions of other elements, only similar kinds are counted.
fn machines<'a>(file: &SourceFile<'a>) -> Result<FileContent<'a>, ImportError> {
    let max = file.bounds.items;
    let mut found = Vec::new();
    let mut others = CountedValues::default();
    let dated = each(file, |element| {
        let Some(tags) = machine_tags(&element.tags)? else { return Ok(()) };
        if !osm::is_bitcoin_atm(&tags) {
            others.add(&osm::kind(&tags));
            return Ok(());
        }
        found.push(machine(&element, tags)?);
        if found.len() > max { Err(ImportError::TooManyItems { max }) } else { Ok(()) }
    })?;
    let wanted: HashSet<i64> = found.iter().flat_map(|found| found.place.nodes()).copied().collect();
    let mut nodes = HashMap::new();
    if !wanted.is_empty() {
        each(file, |element| {
            if let OsmGeometry::Node { lat, lon } = element.geometry
                && wanted.contains(&element.id)
            {
                nodes.insert(element.id, (lat, lon));
            }
            Ok(())
        })?;
    }
    let items = (1..).zip(found).map(|(number, found)| found.into_item(number, &nodes)).collect();
    Ok(FileContent::Items { items, others, dated, is_read: osm::is_read })
}

/// Calls `take` with each element of an extract. Returns the time of the data, if the header has it.
fn each(
    file: &SourceFile<'_>,
    mut take: impl FnMut(OsmElement<'_>) -> Result<(), ImportError>,
) -> Result<Option<String>, ImportError> {
    let mut dated = None;
    let mut rest = WireReader::new(file.bytes);
    let mut room = Vec::new();
    while let Some(blob) = next_blob(&mut rest)? {
        file.cancel.check()?;
        let read = match blob.kind {
            BlobKind::Header => check_header(blob.content(&mut room)?).map(|time| dated = dated.take().or(time)),
            BlobKind::Data => {
                let content = blob.content(&mut room)?;
                OsmBlock::new(content).map_err(ImportError::from).and_then(|block| block.each_element(&mut take))
            }
            BlobKind::Other => Ok(()),
        };
        read.map_err(|error| match error {
            ImportError::NotPbf(reason) => ImportError::NotPbf(format!("block at byte {}, {reason}", blob.at)),
            error => error,
        })?;
    }
    Ok(dated)
}

/// Checks that all required features are supported. A file with history, for example, contains deleted elements that
/// would be read as existing. Returns the time of the data.
fn check_header(header: &[u8]) -> Result<Option<String>, ImportError> {
    let mut dated = None;
    let mut fields = WireReader::new(header);
    while let Some(field) = fields.field()? {
        if field.number == REPLICATION_TIME {
            dated = time(field.signed()?.saturating_mul(1_000));
        }
        if field.number != REQUIRED_FEATURES {
            continue;
        }
        let feature = field.content()?.text()?;
        if !SUPPORTED_FEATURES.contains(&feature) {
            let feature = signpost_text::clean_line(feature).chars().take(60).collect();
            return Err(ImportError::UnsupportedFeature { feature, supported: SUPPORTED_FEATURES.join(" and ") });
        }
    }
    Ok(dated)
}

impl From<WireDamage> for ImportError {
    fn from(damage: WireDamage) -> Self {
        Self::NotPbf(damage.to_string())
    }
}

fn machine(element: &OsmElement<'_>, tags: BTreeMap<String, String>) -> Result<OsmCandidate, WireDamage> {
    let (kind, place) = match &element.geometry {
        OsmGeometry::Node { lat, lon } => ("node", OsmPosition::At(*lat, *lon)),
        OsmGeometry::Way { nodes } => ("way", OsmPosition::Among(nodes.clone().collect::<Result<_, _>>()?)),
    };
    let id = format!("{kind}/{}", element.id);
    Ok(OsmCandidate { id, tags, edited: element.edited.and_then(time), place })
}

/// Returns the tags of an element that may be an ATM. `None` for other elements; their tags are not copied.
fn machine_tags(tags: &OsmTags<'_>) -> Result<Option<BTreeMap<String, String>>, WireDamage> {
    let mut is_atm = false;
    for tag in tags.clone() {
        let (key, value) = tag?;
        is_atm |= osm::may_be_kind_of_atm(key.bytes(), value.bytes());
    }
    if !is_atm {
        return Ok(None);
    }
    let mut owned = BTreeMap::new();
    for tag in tags.clone() {
        let (key, value) = tag?;
        owned.insert(key.text()?.to_owned(), value.text()?.to_owned());
    }
    Ok(Some(owned))
}

fn time(milliseconds: i64) -> Option<String> {
    let time = jiff::Timestamp::from_millisecond(milliseconds).ok()?;
    if time.as_second() > 0 { Some(time.to_string()) } else { None }
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
