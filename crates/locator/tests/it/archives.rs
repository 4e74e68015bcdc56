//! Compressed files: complete, unsuitable, damaged, and crafted to exhaust the memory.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use proptest::prelude::*;
use signpost_locator::import::{Bounds, CompressedError, Import, ImportError, Options, read};

const TABLE: &[u8] = b"id,name,lat,lon\n1,Corner Shop,30.2,-97.7\n2,Mall,30.3,-97.6\n";

/// An entry of an archive, with the numbers that its directory declares.
struct Entry {
    name: String,
    method: u16,
    flags: u16,
    size: u32,
    checksum: u32,
    packed: Vec<u8>,
}

fn stored(name: &str, content: &[u8]) -> Entry {
    let mut checksum = flate2::Crc::new();
    checksum.update(content);
    let size = u32::try_from(content.len()).unwrap();
    let packed = content.to_vec();
    Entry { name: name.to_owned(), method: 0, flags: 0, size, checksum: checksum.sum(), packed }
}

fn deflated(name: &str, content: &[u8]) -> Entry {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    Entry { method: 8, packed: encoder.finish().unwrap(), ..stored(name, content) }
}

fn zip(entries: &[Entry]) -> Vec<u8> {
    zip_with_comment(entries, b"")
}

fn zip_with_comment(entries: &[Entry], comment: &[u8]) -> Vec<u8> {
    let mut archive = Vec::new();
    let mut directory = Vec::new();
    for entry in entries {
        let at = u32::try_from(archive.len()).unwrap();
        let packed_size = u32::try_from(entry.packed.len()).unwrap();
        let name_bytes = u16::try_from(entry.name.len()).unwrap();
        let shared = [
            &20_u16.to_le_bytes()[..],
            &entry.flags.to_le_bytes(),
            &entry.method.to_le_bytes(),
            &[0; 4],
            &entry.checksum.to_le_bytes(),
            &packed_size.to_le_bytes(),
            &entry.size.to_le_bytes(),
            &name_bytes.to_le_bytes(),
            &[0; 2],
        ]
        .concat();
        archive.extend([&b"PK\x03\x04"[..], &shared, entry.name.as_bytes(), &entry.packed].concat());
        let place = [&[0; 10][..], &at.to_le_bytes(), entry.name.as_bytes()].concat();
        directory.extend([&b"PK\x01\x02\x14\0"[..], &shared, &place].concat());
    }
    let count = u16::try_from(entries.len()).unwrap().to_le_bytes();
    let directory_bytes = u32::try_from(directory.len()).unwrap().to_le_bytes();
    let start = u32::try_from(archive.len()).unwrap().to_le_bytes();
    let comment_bytes = u16::try_from(comment.len()).unwrap().to_le_bytes();
    let end = [&b"PK\x05\x06\0\0\0\0"[..], &count, &count, &directory_bytes, &start, &comment_bytes, comment].concat();
    [archive, directory, end].concat()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn import(file: &[u8]) -> Result<Import, ImportError> {
    read(file, &Options::default())
}

fn reason(file: &[u8]) -> String {
    import(file).expect_err("is rejected").to_string()
}

fn damaged(file: &[u8]) -> String {
    match import(file).expect_err("is damaged") {
        ImportError::Compressed(CompressedError::Damaged { reason, .. }) => reason,
        other => panic!("{other}"),
    }
}

#[test]
fn gzip_and_zip_are_read_by_their_first_bytes() {
    let plain = import(TABLE).unwrap();
    let (first, second) = TABLE.split_at(30);
    for file in [
        gzip(TABLE),
        // Parallel programs write several members, and tapes end with zero bytes.
        [gzip(first), gzip(second), gzip(b"")].concat(),
        [gzip(TABLE), vec![0; 512]].concat(),
        zip(&[deflated("atms.csv", TABLE)]),
        zip(&[stored("data/atms.CSV", TABLE)]),
        zip(&[deflated("atms", TABLE)]),
        zip(&[stored("data/", b""), stored("README.txt", b"About"), deflated("atms.txt", TABLE)]),
        zip(&[stored("README.md", b"About"), deflated("atms.csv", TABLE), stored("license.txt", b"ODbL")]),
        zip(&[deflated("atms.csv", TABLE), stored("__MACOSX/._atms.csv", b"x"), stored(".hidden.csv", b"x")]),
        zip_with_comment(&[deflated("atms.csv", TABLE)], b"PK\x05\x06 in a comment"),
    ] {
        let import = import(&file).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(import.rows, plain.rows);
    }
    let notices = import(&zip(&[deflated("data/atms\n.csv", TABLE)])).unwrap().notices;
    assert_eq!(notices, ["the data file in the zip archive is data/atms .csv"]);
    assert_eq!(import(&gzip(TABLE)).unwrap().notices, [""; 0]);
}

#[test]
fn every_format_may_be_compressed() {
    let json = br#"{"locations": [{"latitude": 1, "longitude": 2}]}"#;
    assert_eq!(import(&gzip(json)).unwrap().rows.len(), 1);
    assert_eq!(import(&zip(&[deflated("texas.osm.pbf", &crate::pbf::extract())])).unwrap().rows.len(), 2);
    // A reply of the submission API is never decompressed.
    let strict = Options { strict: true, format: "submission".parse().unwrap(), ..Options::default() };
    assert!(matches!(read(&gzip(json), &strict), Err(ImportError::NotJson { .. })));
}

#[test]
fn unsuitable_archives_are_rejected_with_a_remedy() {
    let encrypted = Entry { flags: 1, ..deflated("a.csv", TABLE) };
    let other_method = Entry { method: 93, ..deflated("a.csv", TABLE) };
    let files: Vec<Entry> = (1..=7).map(|number| stored(&format!("{number}.csv"), TABLE)).collect();
    let many: Vec<Entry> = (0..1_001).map(|number| stored(&format!("{number}.csv"), b"")).collect();
    for (file, expected) in [
        (
            zip(&files),
            "the zip file contains several data files (1.csv, 2.csv, 3.csv, 4.csv, 5.csv and 2 more); import each",
        ),
        (zip(&[]), "the zip file contains no data file such as .csv, .json, .geojson or .pbf (it is empty)"),
        (
            zip(&[stored("a.png", b""), stored("b.png", b"")]),
            "no data file such as .csv, .json, .geojson or .pbf (a.png",
        ),
        (zip(&[stored("a.txt", b""), stored("b.txt", b"")]), "several data files (a.txt, b.txt)"),
        (zip(&many), "the zip file has more than 1000 entries; compress the data file on its own"),
        (zip(&[encrypted]), "the zip file is encrypted, which is not supported; extract it"),
        (zip(&[other_method]), "the zip file is compressed with the method 93, which is not supported"),
        (zip(&[stored("a.csv", &gzip(TABLE))]), "the zip file contains another gzip file; extract it"),
        (gzip(&gzip(TABLE)), "the gzip file contains another gzip file; extract it, and import the data file"),
        (gzip(&zip(&[stored("a.csv", TABLE)])), "the gzip file contains a zip archive"),
        (
            zip(&[stored("[Content_Types].xml", b""), stored("xl/workbook.xml", b"")]),
            "the file is an Excel workbook, which is not supported: save the sheet with the ATMs as CSV (UTF-8)",
        ),
        (zip(&[stored("mimetype", b""), stored("content.xml", b"")]), "the file is an OpenDocument file"),
        (zip(&[stored("doc.kml", b"<kml>"), stored("files/a.png", b"")]), "the file is KML, which is not supported"),
        (zip(&[stored("doc.kml", b"<kml>")]), "the file is KML, which is not supported"),
        (zip(&[stored("a.shp", b""), stored("a.dbf", b"")]), "the file is a shapefile"),
        (gzip(b"<html><body>Sign in</body></html>"), "the file is an HTML page"),
    ] {
        let reason = reason(&file);
        assert!(reason.contains(expected), "{reason}");
    }
}

#[test]
fn decompression_is_bounded_by_size_and_ratio() {
    let zeros = vec![0; 64 << 20];
    for (file, kind) in [(gzip(&zeros), "gzip"), (zip(&[deflated("a.csv", &zeros)]), "zip")] {
        let error = import(&file).unwrap_err();
        let expected = CompressedError::TooLong { kind, bytes: file.len(), max: 16 << 20 };
        assert_eq!(error, ImportError::Compressed(expected));
    }
    // The declared size is small, and the data is not.
    let lie = zip(&[Entry { size: 100, ..deflated("a.csv", &zeros) }]);
    assert!(matches!(import(&lie), Err(ImportError::Compressed(CompressedError::TooLong { max: 0x100_0000, .. }))));
    // Many small members.
    let members = gzip(&zeros[..1 << 20]).repeat(64);
    assert!(matches!(import(&members), Err(ImportError::Compressed(CompressedError::TooLong { .. }))));
    assert_eq!(damaged(&gzip(b"").repeat(20_001)), "it has more than 20,000 members");
    // The limit of the caller is exact.
    for (unpacked_bytes, is_read) in [(TABLE.len(), true), (TABLE.len() - 1, false)] {
        let options = Options { bounds: Bounds { unpacked_bytes, ..Bounds::default() }, ..Options::default() };
        for file in [gzip(TABLE), zip(&[deflated("a.csv", TABLE)]), zip(&[stored("a.csv", TABLE)])] {
            assert_eq!(read(&file, &options).is_ok(), is_read);
        }
    }
}

#[test]
fn declared_numbers_must_match_the_data() {
    let entry = || deflated("a.csv", TABLE);
    for size in [0, 1, 1_000] {
        let reason = damaged(&zip(&[Entry { size, ..entry() }]));
        assert_eq!(reason, format!("its data has {} bytes, but {size} are declared", TABLE.len()));
    }
    assert_eq!(damaged(&zip(&[Entry { checksum: 7, ..entry() }])), "the checksum of its data is wrong");
    let mut changed = gzip(TABLE);
    let last = changed.len() - 1;
    changed[last] ^= 1;
    assert!(!damaged(&changed).is_empty());
    assert_eq!(damaged(&[gzip(TABLE), b"more".to_vec()].concat()), "other data follows its end");
    // More entries than there are, a directory outside of the file, and data outside of it.
    let archive = zip(&[entry()]);
    let end = archive.len() - 22;
    for (at, bytes) in [(end + 10, &[2, 0][..]), (end + 16, &[0, 0, 0, 0x7f]), (end - 51 + 20, &[0xff, 0xff, 0xff])] {
        let mut archive = archive.clone();
        archive[at..at + bytes.len()].copy_from_slice(bytes);
        assert!(damaged(&archive).starts_with("its directory "));
    }
    let mut zip64 = archive.clone();
    zip64[end + 16..end + 20].copy_from_slice(&[0xff; 4]);
    assert!(
        reason(&zip64).starts_with("the zip file is in the format ZIP64 for large archives, which is not supported")
    );
}

#[test]
fn truncated_archives_are_rejected() {
    for file in [gzip(TABLE), zip(&[deflated("a.csv", TABLE)])] {
        for end in 4..file.len() {
            assert!(import(&file[..end]).is_err(), "{end} of {}", file.len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_archives_are_read_or_rejected(at in 0_usize..1_000, with in prop::collection::vec(any::<u8>(), 1..4)) {
        for mut file in [gzip(TABLE), zip(&[deflated("a.csv", TABLE), stored("b.txt", b"text")])] {
            let at = at % file.len();
            let end = (at + with.len()).min(file.len());
            file[at..end].copy_from_slice(&with[..end - at]);
            if let Ok(import) = import(&file) {
                prop_assert!(import.rows.len() <= 2);
            }
        }
    }
}
