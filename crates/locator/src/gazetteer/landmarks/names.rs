//! A compact index of folded landmark names, for exact and fuzzy lookups.

use super::mistakes::{Letters, edit_distance};

/// Minimum number of letters of a name for fuzzy matches at edit distance 1. Shorter names have too many matches.
const MIN_LETTERS: usize = 6;
/// Minimum number of letters of a name for fuzzy matches at edit distance 2.
const MIN_LETTERS_FOR_TWO: usize = 10;

/// An index of names, stored in alphabetical order in a single text with a few bytes of overhead for each name.
pub(super) struct LandmarkNames {
    text: String,
    entries: Vec<NameEntry>,
    /// The letters of each entry, to exclude most entries in a fuzzy search.
    letters: Vec<Letters>,
    /// A Bloom filter with a single hash function, to exclude most unknown names.
    filter: Vec<u64>,
}

/// Number of 64-bit words in the filter.
const FILTER_WORDS: usize = 1 << 10;

/// Returns the word and the bit of a name in the filter, determined by 16 bits of its FNV-1a hash.
fn bit_of(name: &str) -> (usize, u64) {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in name.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let [low, high, ..] = (hash ^ (hash >> 32)).to_le_bytes();
    let folded = u16::from_le_bytes([low, high]);
    (usize::from(folded >> 6), 1 << (folded & 63))
}

/// An entry of the index: a name and a row. A name of several rows is stored once in the text and has an entry for each
/// row.
#[derive(Clone, Copy)]
struct NameEntry {
    start: u32,
    length: u16,
    row: u16,
}

impl NameEntry {
    fn name(self, text: &str) -> &str {
        &text[self.start as usize..][..usize::from(self.length)]
    }
}

impl LandmarkNames {
    /// Creates an index of all non-empty names.
    pub(super) fn new(mut names: Vec<(String, u16)>) -> Self {
        names.retain(|(name, _)| !name.is_empty());
        names.sort_unstable();
        names.dedup();
        let mut text = String::new();
        let mut entries: Vec<NameEntry> = Vec::with_capacity(names.len());
        for (name, row) in names {
            let length = u16::try_from(name.len()).expect("names are much shorter");
            let start = match entries.last() {
                Some(last) if text[last.start as usize..] == name => last.start,
                _ => {
                    let start = u32::try_from(text.len()).expect("the tables are much shorter");
                    text.push_str(&name);
                    start
                }
            };
            entries.push(NameEntry { start, length, row });
        }
        text.shrink_to_fit();
        let letters = entries.iter().map(|entry| Letters::of(entry.name(&text))).collect();
        let mut filter = vec![0; FILTER_WORDS];
        for entry in &entries {
            let (word, bit) = bit_of(entry.name(&text));
            filter[word] |= bit;
        }
        Self { text, entries, letters, filter }
    }

    /// Returns the rows with a name, in ascending order.
    pub(super) fn get(&self, name: &str) -> impl Iterator<Item = u16> {
        let (word, bit) = bit_of(name);
        let first = if self.filter[word] & bit == 0 {
            self.entries.len()
        } else {
            self.entries.partition_point(|entry| entry.name(&self.text) < name)
        };
        let of_name = self.entries[first..].iter().take_while(move |entry| entry.name(&self.text) == name);
        // The result is collected, so that it does not borrow the name.
        of_name.map(|entry| entry.row).collect::<Vec<_>>().into_iter()
    }

    /// Returns the rows with a name at edit distance 1 or 2, each with the distance. Distance 2 requires a long name
    /// and an equal first letter. Names with digits have no fuzzy matches, because `Route 66` is not `Route 65`.
    pub(super) fn near(&self, name: &str) -> impl Iterator<Item = (usize, u16)> {
        let is_word = name.bytes().all(|byte| byte.is_ascii_lowercase());
        let max = match name.len() {
            MIN_LETTERS_FOR_TWO.. if is_word => 2,
            MIN_LETTERS.. if is_word => 1,
            _ => 0,
        };
        let own = Letters::of(name);
        let similar =
            self.entries.iter().zip(&self.letters).filter(move |(_, letters)| letters.may_be_similar(own, max));
        similar.filter_map(move |(entry, _)| {
            let other = entry.name(&self.text);
            let distance = edit_distance(name.as_bytes(), other.as_bytes(), max)?;
            let is_similar = distance == 1 || distance == 2 && name.as_bytes()[0] == other.as_bytes()[0];
            if is_similar { Some((distance, entry.row)) } else { None }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_returns_its_rows_in_order() {
        let called = [("soho", 7), ("soho", 2), ("loop", 1), ("", 3), ("soh", 4), ("soho", 2)];
        let names = LandmarkNames::new(called.map(|(name, row)| (name.to_owned(), row)).into());
        let rows = |name: &str| names.get(name).collect::<Vec<_>>();
        assert_eq!((rows("soho"), rows("soh"), rows("loop")), (vec![2, 7], vec![4], vec![1]));
        for unknown in ["", "a", "loo", "loops", "sohoo", "zz"] {
            assert_eq!(rows(unknown), [0; 0], "{unknown}");
        }
    }

    #[test]
    fn misspelt_name_returns_rows_of_similar_names() {
        let called = [("heathrow", 1), ("disneyland", 2), ("disneyworld", 3), ("alamo", 4), ("route66", 5)];
        let names = LandmarkNames::new(called.map(|(name, row)| (name.to_owned(), row)).into());
        for (asked, near) in [
            ("heathrw", &[(1, 1)][..]),
            ("haethrow", &[(1, 1)]),
            ("eathrow", &[(1, 1)]),
            ("hethrw", &[]),
            ("disneylnd", &[(1, 2)]),
            ("disnyeworlld", &[(2, 3)]),
            ("isneyworlld", &[]),
            ("heathrow", &[]),
            ("alaamo", &[(1, 4)]),
            ("alam", &[]),
            ("route65", &[]),
            ("", &[]),
            ("h\u{e9}athrw", &[]),
        ] {
            assert_eq!(names.near(asked).collect::<Vec<_>>(), near, "{asked}");
        }
    }
}
