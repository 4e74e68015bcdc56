//! Parses CBOR (RFC 8949) with limits. The size of the input limits the size of the values.

use ciborium::Value;
use ciborium::de::from_reader_with_recursion_limit;
use ciborium::value::Integer;

/// Maximum nesting depth of values. A list of certificates in an attestation statement needs a
/// depth of three.
const DEPTH: usize = 16;

/// Maximum number of entries of a map. Values have no order and no hash, so all pairs of keys are
/// compared.
const MAX_ENTRIES: usize = 64;

/// A CBOR map without duplicate keys.
pub(super) struct Map(Vec<(Value, Value)>);

impl Map {
    /// Parses a map at the start of `bytes`. Returns it with the remaining bytes.
    pub(super) fn read(mut bytes: &[u8]) -> Option<(Self, &[u8])> {
        let value = from_reader_with_recursion_limit(&mut bytes, DEPTH).ok()?;
        Some((Self::of(value)?, bytes))
    }

    /// Converts a value to a map. Returns `None` for other values, too many entries and duplicate
    /// keys.
    pub(super) fn of(value: Value) -> Option<Self> {
        let Value::Map(members) = value else { return None };
        if members.len() > MAX_ENTRIES {
            return None;
        }
        for (index, (key, _)) in members.iter().enumerate() {
            if members[..index].iter().any(|(earlier, _)| earlier == key) {
                return None;
            }
        }
        Some(Self(members))
    }

    /// Returns `true` if the map has no entries.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes and returns the value of a text key.
    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        let at = self.0.iter().position(|(found, _)| found.as_text() == Some(key))?;
        Some(self.0.swap_remove(at).1)
    }

    /// Returns the value of an integer key.
    pub(super) fn get(&self, key: i64) -> Option<&Value> {
        let key = Value::Integer(Integer::from(key));
        self.0.iter().find_map(|(found, value)| (*found == key).then_some(value))
    }

    /// Returns the value of an integer key if it is an integer.
    pub(super) fn get_integer(&self, key: i64) -> Option<i128> {
        self.get(key)?.as_integer().map(i128::from)
    }

    /// Returns the value of an integer key if it is a byte string.
    pub(super) fn get_bytes(&self, key: i64) -> Option<&[u8]> {
        self.get(key)?.as_bytes().map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(depth: usize) -> Vec<u8> {
        [vec![0xa1, 0x01], vec![0x81; depth], vec![0x00]].concat()
    }

    #[test]
    fn map_parser_returns_the_rest() {
        let (mut map, rest) = Map::read(&[0xa2, 0x01, 0x20, 0x61, b'a', 0x41, 7, 0xff]).unwrap();
        assert_eq!((map.get_integer(1), map.get_integer(2), rest), (Some(-1), None, &[0xff][..]));
        assert_eq!(map.take("a"), Some(Value::Bytes(vec![7])));
        assert!(map.take("a").is_none() && !map.is_empty());
    }

    #[test]
    fn other_values_than_maps_are_rejected() {
        for (name, bytes) in [
            ("nothing", &[][..]),
            ("a list", &[0x80]),
            ("cut off", &[0xa1, 0x01]),
            ("a key twice", &[0xa2, 0x01, 0x00, 0x01, 0x01]),
            ("a key twice in two spellings", &[0xa2, 0x01, 0x00, 0x18, 0x01, 0x01]),
            ("a text that is no UTF-8", &[0xa1, 0x61, 0xff, 0x00]),
            ("more members than there are", &[0xbb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00]),
            ("more bytes than there are", &[0xa1, 0x01, 0x5b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00]),
        ] {
            assert!(Map::read(bytes).is_none(), "{name}");
        }
        assert!(Map::read(&nested(8)).is_some());
        assert!(Map::read(&nested(30_000)).is_none());
        let many = |count: u8| [vec![0xb8, count], (0..count).flat_map(|key| [0x18, key + 24, 0]).collect()].concat();
        assert!(Map::read(&many(64)).is_some());
        assert!(Map::read(&many(65)).is_none());
    }
}
