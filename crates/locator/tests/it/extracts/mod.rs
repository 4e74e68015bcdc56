//! Tests of OpenStreetMap extracts as written by other programs, and of the errors of damaged extracts.

mod fuzz;

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use signpost_locator::import::{FormatChoice, Import, ImportError, Options, read};

use crate::pbf::{blob, extract, field, integer, packed, zigzag};

/// The string table of each block, with the empty string first.
const TEXTS: [&str; 7] = ["", "amenity", "atm", "currency:XBT", "yes", "operator", "Example Coins"];
/// The tags of an ATM as indexes into [`TEXTS`], with the terminator.
const MACHINE: [u64; 5] = [1, 2, 3, 4, 0];
/// The type of blobs that contain elements.
const DATA: &str = "OSMData";

fn format() -> FormatChoice {
    "osm-pbf".parse().unwrap()
}

fn import(file: &[u8]) -> Result<Import, ImportError> {
    let now = Some("2026-11-20T12:00:00Z".parse().unwrap());
    read(file, &Options { format: format(), now, ..Options::default() })
}

/// Returns the reason why a file is rejected, without the common prefix of the error texts.
fn reason(file: &[u8]) -> String {
    match import(file).expect_err("damaged") {
        ImportError::NotPbf(reason) => reason,
        other => panic!("{other}"),
    }
}

fn texts() -> Vec<u8> {
    field(1, &TEXTS.iter().flat_map(|text| field(1, text.as_bytes())).collect::<Vec<_>>())
}

fn deltas(numbers: &[i64]) -> Vec<u8> {
    packed(&numbers.iter().map(|number| zigzag(*number)).collect::<Vec<_>>())
}

/// Returns the columns of three dense nodes with integer coordinates. The first and the last node are ATMs.
fn columns() -> Vec<Vec<u8>> {
    let tags = [&MACHINE[..], &[0], &[5, 6], &MACHINE].concat();
    let info = [field(1, &packed(&[1, 1, 1])), field(2, &deltas(&[1_700_000_000, 60, -120]))].concat();
    vec![
        field(1, &deltas(&[100, 5, -1])),
        field(5, &info),
        field(8, &deltas(&[300_000_000, 10_000_000, -600_000_000])),
        field(9, &deltas(&[-970_000_000, 10_000_000, 10_000_000])),
        field(10, &packed(&tags)),
    ]
}

fn dense(columns: &[Vec<u8>]) -> Vec<u8> {
    [texts(), field(2, &field(2, &columns.concat()))].concat()
}

fn zlib(content: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// Returns a blob with these encoded fields.
fn stored(kind: &str, fields: &[u8]) -> Vec<u8> {
    let header = [field(1, kind.as_bytes()), integer(3, fields.len() as u64)].concat();
    [&u32::try_from(header.len()).unwrap().to_be_bytes()[..], &header, fields].concat()
}

fn compressed(content: &[u8]) -> Vec<u8> {
    stored(DATA, &[integer(2, content.len() as u64), field(3, &zlib(content))].concat())
}

/// Returns a block with a single node.
fn node(fields: &[Vec<u8>]) -> Vec<u8> {
    [texts(), field(2, &field(1, &fields.concat()))].concat()
}

/// Returns a block with a single way.
fn way(fields: &[Vec<u8>]) -> Vec<u8> {
    [texts(), field(2, &field(3, &fields.concat()))].concat()
}

#[test]
fn dense_nodes_have_their_tags_and_times() {
    let file = [stored("OSMHeader", &field(3, &zlib(b""))), compressed(&dense(&columns()))].concat();
    let import = import(&file).unwrap();
    let rows = import.rows.iter().map(|row| {
        let record = &row.record;
        let edited = record.reported_at.map(jiff::Timestamp::as_second);
        (row.key.as_str(), record.point.lat(), record.point.lon(), record.operator.as_deref(), edited)
    });
    let rows: Vec<_> = rows.collect();
    let first = ("ref:node/100", 30.0, -97.0, None, Some(1_700_000_000));
    assert_eq!(rows, [first, ("ref:node/104", -29.0, -95.0, Some("Example Coins"), Some(1_699_999_940))]);
}

#[test]
fn optional_columns_may_be_missing() {
    let mut columns = columns();
    columns.remove(1);
    let import = import(&blob(DATA, &dense(&columns))).unwrap();
    assert_eq!(import.rows.iter().filter(|row| row.record.reported_at.is_none()).count(), 2);
    columns.pop();
    let file = [extract(), blob(DATA, &dense(&columns))].concat();
    assert_eq!(self::import(&file).unwrap().rows.len(), 2);
}

#[test]
fn block_defines_its_units() {
    let info = field(4, &integer(2, 1_700_000));
    let machine = [field(2, &packed(&[1, 3])), field(3, &packed(&[2, 4])), info].concat();
    let node = node(&[integer(1, zigzag(7)), machine, integer(8, zigzag(3_000)), integer(9, zigzag(-9_700))]);
    // Coordinates in hundredths of a degree with an offset of half a degree to the north and east; times in units of a
    // thousand seconds.
    let units = [integer(17, 10_000_000), integer(18, 1_000_000), integer(19, 500_000_000), integer(20, 500_000_000)];
    let import = import(&blob(DATA, &[node, units.concat()].concat())).unwrap();
    let record = &import.rows[0].record;
    assert_eq!((record.point.lat(), record.point.lon()), (30.5, -96.5));
    assert_eq!(record.reported_at.map(jiff::Timestamp::as_second), Some(1_700_000_000));
}

#[test]
fn required_features_are_checked_by_name() {
    let file = |features: &[&[u8]]| {
        let header: Vec<u8> = features.iter().flat_map(|feature| field(4, feature)).collect();
        // Optional features, and the name of the writing program.
        let header = [header, field(5, b"Sort.Type_then_ID"), field(16, b"some program")].concat();
        [blob("OSMHeader", &header), blob(DATA, &dense(&columns()))].concat()
    };
    assert_eq!(import(&file(&[b"OsmSchema-V0.6", b"DenseNodes"])).unwrap().rows.len(), 2);
    for unknown in ["HistoricalInformation", "OsmSchema-V0.7", "densenodes", ""] {
        let refused = import(&file(&[b"OsmSchema-V0.6", b"DenseNodes", unknown.as_bytes()])).unwrap_err();
        assert!(refused.to_string().contains(&format!("requires the feature \"{unknown}\"")), "{refused}");
    }
    let long = import(&file(&[&[b'x'; 5_000]])).unwrap_err().to_string();
    assert!(long.len() < 400, "{long}");
    assert!(reason(&file(&[b"\xff"])).ends_with("a text is not UTF-8"));
}

#[test]
fn unknown_fields_are_skipped() {
    // A blob of another kind, fields with other numbers and types, and a relation.
    let more = [integer(99, 1), field(98, b"more"), vec![0x99, 6], vec![0; 8], vec![0x9d, 6], vec![0; 4]].concat();
    let relation = field(2, &field(4, &more));
    let file = [stored("Index", b"\xff"), blob(DATA, &[dense(&columns()), relation, more].concat())].concat();
    assert_eq!(import(&file).unwrap().rows.len(), 2);
}

#[test]
fn damage_outside_blocks_is_located() {
    let whole = extract();
    for (rest, expected) in [
        (&b"\0\0"[..], "byte 0: it ends too early"),
        (b"\0\x01\0\0", "byte 0: the header of a block has 64 KiB or more"),
        (b"\0\0\0\x09", "byte 4: it ends too early"),
        (b"\0\0\0\0", "byte 0: the header of a block does not say what it is, or how long"),
        (b"\0\0\0\x02\x0b\x00", "byte 4: a field is of no known kind"),
        (&blob(DATA, b"12345678")[..20], "byte 15: it ends too early"),
        (&stored(DATA, b""), "byte 0: a block is empty, or not compressed by zlib"),
        (&stored(DATA, &field(4, b"lzma")), "byte 0: a block is empty, or not compressed by zlib"),
        (&stored(DATA, &[field(1, b""), field(3, b"")].concat()), "byte 0: a block is there twice"),
    ] {
        assert_eq!(reason(rest), expected);
        // The position is relative to the start of the file.
        let (word, at) = expected.split_once(' ').unwrap();
        let (at, rest_of_it) = at.split_once(':').unwrap();
        let at = at.parse::<usize>().unwrap() + whole.len();
        assert_eq!(reason(&[&whole[..], rest].concat()), format!("{word} {at}:{rest_of_it}"));
    }
}

#[test]
fn damaged_compressed_data_is_rejected() {
    let whole = zlib(&dense(&columns()));
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 0xff;
    let lengths = [0, 1, whole.len() / 2, whole.len() - 4, whole.len() - 1];
    for data in lengths.map(|length| &whole[..length]).into_iter().chain([&changed[..]]) {
        let file = stored(DATA, &field(3, data));
        let at = file.len() - data.len();
        assert_eq!(reason(&file), format!("byte {at}: the compressed data is damaged"));
    }
}

#[test]
fn damaged_blocks_are_located() {
    let id = integer(1, zigzag(7));
    let place = [integer(8, 2), integer(9, 2)].concat();
    let machine = |keys: &[u64], values: &[u64]| [field(2, &packed(keys)), field(3, &packed(values))].concat();
    let most = zigzag(i64::MAX);
    let with = |at: usize, column: Vec<u8>| {
        let mut columns = columns();
        columns[at] = column;
        dense(&columns)
    };
    for (content, expected) in [
        (field(2, b""), "the block has no texts"),
        ([texts(), texts()].concat(), "a part is there twice"),
        ([texts(), integer(2, 1)].concat(), "a part is of another kind"),
        ([texts(), field(17, b"")].concat(), "a number is of another kind"),
        (node(std::slice::from_ref(&id)), "a node has no number or no position"),
        (node(std::slice::from_ref(&place)), "a node has no number or no position"),
        (node(&[id.clone(), integer(8, most), integer(9, 2)]), "a position is too large"),
        (node(&[id.clone(), place.clone(), machine(&[1, 3], &[2])]), "there are more keys than values, or fewer"),
        (node(&[id.clone(), place.clone(), machine(&[1], &[7])]), "a tag is none of the block's texts"),
        (node(&[id.clone(), place.clone(), machine(&[1], &[u64::MAX])]), "a tag is none of the block's texts"),
        (way(&[machine(&[1], &[2])]), "a way has no number"),
        (way(&[id.clone(), machine(&[1, 3], &[2, 4]), field(8, b"\x80")]), "a number does not end"),
        (way(&[id, machine(&[1, 3], &[2, 4]), field(8, &packed(&[most, 2]))]), "a number is too large"),
        (with(0, field(1, &deltas(&[1, 1]))), "there are more numbers of nodes than positions, or fewer"),
        (with(2, field(8, &deltas(&[1, 1]))), "there are more numbers of nodes than positions, or fewer"),
        (with(3, field(9, &packed(&[most, 2, 2]))), "a position is too large"),
        (with(1, field(5, &field(2, &deltas(&[1])))), "there are fewer times than nodes"),
        (with(4, field(10, &packed(&[1, 2, 3]))), "a tag has no value"),
        (with(4, field(10, &packed(&[1, 2, 9, 9]))), "a tag is none of the block's texts"),
    ] {
        let header = blob("OSMHeader", b"");
        for block in [blob(DATA, &content), compressed(&content)] {
            let told = reason(&[&header[..], &block].concat());
            let (at, what) = told.split_once(": ").unwrap();
            assert_eq!(what, expected);
            let at = at.strip_prefix(&format!("block at byte {}, byte ", header.len())).expect(&told);
            assert!(at.parse::<usize>().unwrap() <= content.len(), "{told}");
        }
    }
    assert_eq!(reason(&blob("OSMHeader", b"\x0a\x05")), "block at byte 0, byte 2: it ends too early");
}

#[test]
fn texts_of_an_atm_are_utf_8() {
    let named = |name: &[u8]| {
        let mut content = dense(&columns());
        let at = content.windows(13).position(|window| window == b"Example Coins").unwrap();
        content[at..at + name.len()].copy_from_slice(name);
        blob(DATA, &content)
    };
    assert_eq!(import(&named("Exámple".as_bytes())).unwrap().rows.len(), 2);
    assert!(reason(&named(b"Ex\xe1mple")).ends_with(": a text is not UTF-8"));
}

#[test]
fn block_size_is_limited_by_the_format() {
    let most = (32 << 20) - 1;
    let content = dense(&columns());
    // A field that fills the rest of the block: its number, four bytes for the length, and the content.
    let filler = |length: usize| field(15, &vec![0; length - content.len() - 5]);
    for (length, is_read) in [(most, true), (most + 1, false), (most + (1 << 20), false)] {
        let content = [&content[..], &filler(length)].concat();
        assert_eq!(content.len(), length);
        for file in [blob(DATA, &content), compressed(&content)] {
            match import(&file) {
                Ok(import) => assert!(is_read && import.rows.len() == 2, "{length}"),
                Err(broken) => assert!(!is_read && broken.to_string().ends_with("byte 0: a block has 32 MiB or more")),
            }
        }
    }
}
