//! A builder of small OpenStreetMap extracts for tests: <https://wiki.openstreetmap.org/wiki/PBF_Format>.

/// Number of coordinate units per degree.
const PER_DEGREE: f64 = 1e7;

/// Returns an extract with a node and a way that are ATMs, the two nodes of the way, and a bank.
pub(crate) fn extract() -> Vec<u8> {
    let header = [field(4, b"OsmSchema-V0.6"), field(4, b"DenseNodes")].concat();
    let strings = ["", "amenity", "atm", "currency:XBT", "yes", "operator", "Example Coins", "name", "A Bank", "bank"];
    let table: Vec<u8> = strings.iter().flat_map(|text| field(1, text.as_bytes())).collect();
    let nodes = [
        node(1, 30.25, -97.75, &[(1, 2), (3, 4), (5, 6)]),
        node(2, 10.0, 20.0, &[]),
        node(3, 12.0, 22.0, &[]),
        node(4, 30.0, -97.0, &[(1, 9), (7, 8)]),
    ];
    let nodes: Vec<u8> = nodes.iter().flat_map(|node| field(1, node)).collect();
    let way = [
        integer(1, 7),
        field(2, &packed(&[1, 3])),
        field(3, &packed(&[2, 4])),
        field(8, &packed(&[zigzag(2), zigzag(1)])),
    ];
    let groups = [field(2, &nodes), field(2, &field(3, &way.concat()))].concat();
    let block = [field(1, &table), groups].concat();
    [blob("OSMHeader", &header), blob("OSMData", &block)].concat()
}

fn node(id: i64, lat: f64, lon: f64, tags: &[(u64, u64)]) -> Vec<u8> {
    #[expect(clippy::cast_possible_truncation, reason = "degrees are small")]
    let units = |degrees: f64| zigzag((degrees * PER_DEGREE).round() as i64);
    let (keys, values): (Vec<u64>, Vec<u64>) = tags.iter().copied().unzip();
    let tags = [field(2, &packed(&keys)), field(3, &packed(&values))].concat();
    [integer(1, zigzag(id)), tags, integer(8, units(lat)), integer(9, units(lon))].concat()
}

pub(crate) fn blob(kind: &str, data: &[u8]) -> Vec<u8> {
    let blob = field(1, data);
    let header = [field(1, kind.as_bytes()), integer(3, blob.len() as u64)].concat();
    let length = u32::try_from(header.len()).expect("short").to_be_bytes();
    [&length[..], &header, &blob].concat()
}

pub(crate) fn field(number: u64, bytes: &[u8]) -> Vec<u8> {
    [varint(number << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
}

pub(crate) fn integer(number: u64, value: u64) -> Vec<u8> {
    [varint(number << 3), varint(value)].concat()
}

pub(crate) fn packed(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|value| varint(*value)).collect()
}

pub(crate) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(value & 0x7f).expect("seven bits");
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}
