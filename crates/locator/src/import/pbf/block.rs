//! Decoder of a block in an OpenStreetMap extract (PBF): nodes and ways with their tags.
//! <https://wiki.openstreetmap.org/wiki/PBF_Format#Encoding_OSM_entities_into_fileblocks>

use super::super::error::ImportError;
use super::wire::{WireDamage, WireDeltas, WireField, WireReader};

/// A block of OpenStreetMap elements.
pub(super) struct OsmBlock<'a> {
    message: WireReader<'a>,
    strings: OsmStrings<'a>,
    units: OsmUnits,
}

/// A node or a way. Relations are not supported, because no known ATM is a relation.
pub(super) struct OsmElement<'a> {
    pub(super) id: i64,
    pub(super) geometry: OsmGeometry<'a>,
    /// The time of the last edit, in milliseconds since 1970.
    pub(super) edited: Option<i64>,
    pub(super) tags: OsmTags<'a>,
}

/// The geometry of an element.
#[derive(Clone)]
pub(super) enum OsmGeometry<'a> {
    /// A node with its coordinates in degrees.
    Node { lat: f64, lon: f64 },
    /// A way with the IDs of its nodes.
    Way { nodes: WireDeltas<'a> },
}

/// An iterator over the tags of an element, as keys and values. It ends after an error.
#[derive(Clone)]
pub(super) struct OsmTags<'a> {
    strings: &'a OsmStrings<'a>,
    pairs: OsmTagPairs<'a>,
}

/// The tags of an element as indexes into the string table.
#[derive(Clone)]
enum OsmTagPairs<'a> {
    /// All keys followed by all values.
    Columns { keys: WireReader<'a>, values: WireReader<'a> },
    /// Alternating keys and values, up to a 0 or the end.
    Alternating(WireReader<'a>),
}

/// The string table of a block.
struct OsmStrings<'a> {
    table: WireReader<'a>,
    /// The position of each string's field in the table. A block with empty strings may have up to sixteen million.
    starts: Vec<u32>,
}

/// The units of coordinates and times in a block.
struct OsmUnits {
    /// Nanodegrees per unit of a coordinate.
    granularity: i64,
    /// The offset of latitudes, in nanodegrees.
    lat_offset: i64,
    lon_offset: i64,
    /// Milliseconds per unit of a time.
    date_granularity: i64,
}

/// Dense nodes, stored as columns of equal length. Optional columns may be missing.
struct OsmDenseNodes<'a> {
    ids: WireDeltas<'a>,
    lats: WireDeltas<'a>,
    lons: WireDeltas<'a>,
    times: Option<WireDeltas<'a>>,
    tags: WireReader<'a>,
}

/// The message fields that nodes and ways have in common.
#[derive(Default)]
struct OsmFields<'a> {
    keys: Option<WireReader<'a>>,
    values: Option<WireReader<'a>>,
    info: Option<WireReader<'a>>,
}

impl<'a> OsmBlock<'a> {
    pub(super) fn new(content: &'a [u8]) -> Result<Self, WireDamage> {
        let message = WireReader::new(content);
        let mut units = OsmUnits { granularity: 100, lat_offset: 0, lon_offset: 0, date_granularity: 1000 };
        let mut table = None;
        let mut fields = message;
        while let Some(field) = fields.field()? {
            match field.number {
                1 => field.content_into(&mut table)?,
                17 => units.granularity = field.signed()?,
                18 => units.date_granularity = field.signed()?,
                19 => units.lat_offset = field.signed()?,
                20 => units.lon_offset = field.signed()?,
                _ => {}
            }
        }
        let table = table.ok_or_else(|| message.damage("the block has no texts"))?;
        Ok(Self { message, strings: OsmStrings::new(table)?, units })
    }

    /// Calls `take` with each element until it returns an error.
    ///
    /// # Errors
    /// The errors of `take`, and [`ImportError::NotPbf`] with the position in the block.
    pub(super) fn each_element(
        &self,
        mut take: impl FnMut(OsmElement<'_>) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        let mut fields = self.message;
        while let Some(field) = fields.field()? {
            if field.number == 2 {
                self.each_of_group(field.content()?, &mut take)?;
            }
        }
        Ok(())
    }

    fn each_of_group<'b>(
        &'b self,
        mut group: WireReader<'b>,
        take: &mut impl FnMut(OsmElement<'_>) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        while let Some(field) = group.field()? {
            match field.number {
                1 => take(self.node(&field)?)?,
                2 => {
                    let mut nodes = OsmDenseNodes::new(field.content()?)?;
                    while let Some(node) = self.dense_node(&mut nodes)? {
                        take(node)?;
                    }
                }
                3 => take(self.way(&field)?)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn node<'b>(&'b self, message: &WireField<'b>) -> Result<OsmElement<'b>, WireDamage> {
        let mut shared = OsmFields::default();
        let mut fields = message.content()?;
        let mut id = None;
        let mut lat = None;
        let mut lon = None;
        while let Some(field) = fields.field()? {
            match field.number {
                1 => id = Some(field.zigzag()?),
                8 => lat = Some(field.zigzag()?),
                9 => lon = Some(field.zigzag()?),
                _ => shared.add(&field)?,
            }
        }
        let (Some(id), Some(lat), Some(lon)) = (id, lat, lon) else {
            return Err(message.damage("a node has no number or no position"));
        };
        let point = self.units.point(lat, lon).ok_or_else(|| message.damage("a position is too large"))?;
        self.element(id, point, &shared, fields)
    }

    fn way<'b>(&'b self, message: &WireField<'b>) -> Result<OsmElement<'b>, WireDamage> {
        let mut shared = OsmFields::default();
        let mut fields = message.content()?;
        let mut id = None;
        let mut nodes = None;
        while let Some(field) = fields.field()? {
            match field.number {
                1 => id = Some(field.signed()?),
                8 => field.content_into(&mut nodes)?,
                _ => shared.add(&field)?,
            }
        }
        let id = id.ok_or_else(|| message.damage("a way has no number"))?;
        let nodes = WireDeltas::new(nodes.unwrap_or(fields));
        self.element(id, OsmGeometry::Way { nodes }, &shared, fields)
    }

    /// Creates an element. `end` is the empty rest of its message and replaces missing fields.
    fn element<'b>(
        &'b self,
        id: i64,
        geometry: OsmGeometry<'b>,
        shared: &OsmFields<'b>,
        end: WireReader<'b>,
    ) -> Result<OsmElement<'b>, WireDamage> {
        let mut edited = None;
        let mut info = shared.info.unwrap_or(end);
        while let Some(field) = info.field()? {
            if field.number == 2 {
                edited = Some(self.units.milliseconds(field.signed()?));
            }
        }
        let [keys, values] = [shared.keys, shared.values].map(|column| column.unwrap_or(end));
        let pairs = OsmTagPairs::Columns { keys, values };
        Ok(OsmElement { id, geometry, edited, tags: OsmTags { strings: &self.strings, pairs } })
    }

    /// Returns the next dense node, or `None` at the end of the columns.
    fn dense_node<'b>(&'b self, nodes: &mut OsmDenseNodes<'b>) -> Result<Option<OsmElement<'b>>, WireDamage> {
        let [id, lat, lon] = [&mut nodes.ids, &mut nodes.lats, &mut nodes.lons].map(|column| column.next().transpose());
        let (id, lat, lon) = match (id?, lat?, lon?) {
            (Some(id), Some(lat), Some(lon)) => (id, lat, lon),
            (None, None, None) => return Ok(None),
            _ => return Err(nodes.ids.damage("there are more numbers of nodes than positions, or fewer")),
        };
        let geometry = self.units.point(lat, lon).ok_or_else(|| nodes.lats.damage("a position is too large"))?;
        let edited = match &mut nodes.times {
            None => None,
            Some(times) => {
                let time = times.next().transpose()?.ok_or_else(|| times.damage("there are fewer times than nodes"))?;
                Some(self.units.milliseconds(time))
            }
        };
        let pairs = OsmTagPairs::Alternating(nodes.tags);
        nodes.skip_tags()?;
        Ok(Some(OsmElement { id, geometry, edited, tags: OsmTags { strings: &self.strings, pairs } }))
    }
}

impl<'a> OsmFields<'a> {
    fn add(&mut self, field: &WireField<'a>) -> Result<(), WireDamage> {
        match field.number {
            2 => field.content_into(&mut self.keys),
            3 => field.content_into(&mut self.values),
            4 => field.content_into(&mut self.info),
            _ => Ok(()),
        }
    }
}

impl<'a> OsmDenseNodes<'a> {
    fn new(mut fields: WireReader<'a>) -> Result<Self, WireDamage> {
        let [mut ids, mut info, mut lats, mut lons, mut tags, mut times] = [None; 6];
        while let Some(field) = fields.field()? {
            match field.number {
                1 => field.content_into(&mut ids)?,
                5 => field.content_into(&mut info)?,
                8 => field.content_into(&mut lats)?,
                9 => field.content_into(&mut lons)?,
                10 => field.content_into(&mut tags)?,
                _ => {}
            }
        }
        let end = fields;
        let mut info = info.unwrap_or(end);
        while let Some(field) = info.field()? {
            if field.number == 2 {
                field.content_into(&mut times)?;
            }
        }
        let [ids, lats, lons] = [ids, lats, lons].map(|column| WireDeltas::new(column.unwrap_or(end)));
        let times = times.filter(|times| !times.bytes().is_empty()).map(WireDeltas::new);
        Ok(Self { ids, lats, lons, times, tags: tags.unwrap_or(end) })
    }

    /// Skips the remaining tags of the current node.
    fn skip_tags(&mut self) -> Result<(), WireDamage> {
        while let Some(1..) = self.tags.number()? {
            self.tags.number()?.ok_or_else(|| self.tags.damage("a tag has no value"))?;
        }
        Ok(())
    }
}

impl OsmUnits {
    fn point(&self, lat: i64, lon: i64) -> Option<OsmGeometry<'static>> {
        let lat = self.degrees(lat, self.lat_offset)?;
        let lon = self.degrees(lon, self.lon_offset)?;
        Some(OsmGeometry::Node { lat, lon })
    }

    #[expect(clippy::cast_precision_loss, reason = "valid nanodegrees have 38 bits")]
    fn degrees(&self, number: i64, offset: i64) -> Option<f64> {
        Some(1e-9 * self.granularity.checked_mul(number)?.checked_add(offset)? as f64)
    }

    /// Converts a time to milliseconds since 1970. The multiplication saturates, because times that are too large are
    /// invalid anyway.
    const fn milliseconds(&self, time: i64) -> i64 {
        time.saturating_mul(self.date_granularity)
    }
}

impl<'a> OsmStrings<'a> {
    fn new(table: WireReader<'a>) -> Result<Self, WireDamage> {
        let mut starts = Vec::new();
        let mut rest = table;
        loop {
            let start = u32::try_from(rest.position() - table.position());
            let Some(field) = rest.field()? else { return Ok(Self { table, starts }) };
            if field.number == 1 {
                field.content()?;
                starts.push(start.map_err(|_| field.damage("the texts are too long"))?);
            }
        }
    }

    fn get(&self, number: u64) -> Option<WireReader<'a>> {
        let start = self.starts.get(usize::try_from(number).ok()?)?;
        let mut rest = self.table;
        rest.take(u64::from(*start)).ok()?;
        rest.field().ok()??.content().ok()
    }
}

impl<'a> Iterator for OsmTags<'a> {
    /// The key and the value of a tag.
    type Item = Result<(WireReader<'a>, WireReader<'a>), WireDamage>;

    fn next(&mut self) -> Option<Self::Item> {
        let (key, value) = match self.pairs.pair().transpose()? {
            Ok(pair) => pair,
            Err(damage) => return Some(Err(damage)),
        };
        let tag = self.strings.get(key).zip(self.strings.get(value));
        Some(tag.ok_or_else(|| self.pairs.damage("a tag is none of the block's texts")))
    }
}

impl OsmTagPairs<'_> {
    fn pair(&mut self) -> Result<Option<(u64, u64)>, WireDamage> {
        match self {
            Self::Alternating(numbers) => {
                let Some(key @ 1..) = numbers.number()? else { return Ok(None) };
                let value = numbers.number()?.ok_or_else(|| numbers.damage("a tag has no value"))?;
                Ok(Some((key, value)))
            }
            Self::Columns { keys, values } => match (keys.number()?, values.number()?) {
                (Some(key), Some(value)) => Ok(Some((key, value))),
                (None, None) => Ok(None),
                _ => Err(keys.damage("there are more keys than values, or fewer")),
            },
        }
    }

    const fn damage(&self, reason: &'static str) -> WireDamage {
        match self {
            Self::Alternating(numbers) | Self::Columns { keys: numbers, .. } => numbers.damage(reason),
        }
    }
}
