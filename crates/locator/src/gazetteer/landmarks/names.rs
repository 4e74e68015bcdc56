//! Folded names, and the rows that they stand for.

use super::mistakes::{Letters, mistakes};

/// Shorter names are too often like others.
const MIN_LETTERS: usize = 6;
/// The same for two mistakes.
const MIN_LETTERS_FOR_TWO: usize = 10;

/// Names in alphabetical order in one text: a few bytes for each, and no tree to walk.
pub(super) struct LandmarkNames {
    text: String,
    entries: Vec<NameEntry>,
    /// Of each entry, to pass over most of them when a name is misspelt.
    letters: Vec<Letters>,
    /// A bit for each value that a hash of a name has: most names that are looked up are none of these.
    seen: Vec<u64>,
}

/// Words of 64 bits.
const SEEN_WORDS: usize = 1 << 10;

/// Which bit of which word stands for a name: FNV-1a, of which 16 bits are kept.
fn bit_of(name: &str) -> (usize, u64) {
    let mix = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, mix);
    let [low, high, ..] = (hash ^ (hash >> 32)).to_le_bytes();
    let folded = u16::from_le_bytes([low, high]);
    (usize::from(folded >> 6), 1 << (folded & 63))
}

/// A name of a row. A name of several rows is written once in the text and has an entry for each.
#[derive(Clone, Copy)]
struct NameEntry {
    start: u32,
    length: u16,
    row: u16,
}

impl LandmarkNames {
    /// All but the empty ones.
    pub(super) fn new(mut names: Vec<(String, u16)>) -> Self {
        names.retain(|(name, _)| !name.is_empty());
        names.sort_unstable();
        names.dedup();
        let (mut text, mut entries) = (String::new(), Vec::<NameEntry>::with_capacity(names.len()));
        for (name, row) in names {
            let length = u16::try_from(name.len()).expect("names end long before");
            let same = entries.last().copied().filter(|last| text[last.start as usize..] == name);
            let start = same.map_or_else(|| u32::try_from(text.len()).expect("as do the tables"), |last| last.start);
            if same.is_none() {
                text.push_str(&name);
            }
            entries.push(NameEntry { start, length, row });
        }
        text.shrink_to_fit();
        let of_entry = |entry: &NameEntry| Letters::of(&text[entry.start as usize..][..usize::from(entry.length)]);
        let letters = entries.iter().map(of_entry).collect();
        let mut seen = vec![0; SEEN_WORDS];
        for entry in &entries {
            let (word, bit) = bit_of(&text[entry.start as usize..][..usize::from(entry.length)]);
            seen[word] |= bit;
        }
        Self { text, entries, letters, seen }
    }

    /// The rows of a name, in their order.
    pub(super) fn get(&self, name: &str) -> impl Iterator<Item = u16> {
        let (word, bit) = bit_of(name);
        let is_seen = self.seen[word] & bit != 0;
        let first =
            if is_seen { self.entries.partition_point(|entry| self.name(*entry) < name) } else { self.entries.len() };
        let of_name = self.entries[first..].iter().take_while(move |entry| self.name(**entry) == name);
        // The borrow of the name must not outlive the call.
        of_name.map(|entry| entry.row).collect::<Vec<_>>().into_iter()
    }

    /// The rows of names that are one or two typing mistakes away from this one, and how many: two in long names only,
    /// and not with another first letter. Names with digits have no neighbours, for `Route 66` is not `Route 65`.
    pub(super) fn near(&self, name: &str) -> impl Iterator<Item = (usize, u16)> {
        let is_word = name.bytes().all(|byte| byte.is_ascii_lowercase());
        let most = match name.len() {
            MIN_LETTERS_FOR_TWO.. if is_word => 2,
            MIN_LETTERS.. if is_word => 1,
            _ => 0,
        };
        let asked = Letters::of(name);
        let alike = self.entries.iter().zip(&self.letters).filter(move |(_, letters)| letters.are_near(asked, most));
        alike.filter_map(move |(entry, _)| {
            let other = self.name(*entry);
            let made = mistakes(name.as_bytes(), other.as_bytes(), most)?;
            (made == 1 || made == 2 && name.as_bytes()[0] == other.as_bytes()[0]).then_some((made, entry.row))
        })
    }

    fn name(&self, entry: NameEntry) -> &str {
        &self.text[entry.start as usize..][..usize::from(entry.length)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_gives_its_rows_in_order_and_others_give_none() {
        let called = [("soho", 7), ("soho", 2), ("loop", 1), ("", 3), ("soh", 4), ("soho", 2)];
        let names = LandmarkNames::new(called.map(|(name, row)| (name.to_owned(), row)).into());
        let rows = |name: &str| names.get(name).collect::<Vec<_>>();
        assert_eq!((rows("soho"), rows("soh"), rows("loop")), (vec![2, 7], vec![4], vec![1]));
        for unknown in ["", "a", "loo", "loops", "sohoo", "zz"] {
            assert_eq!(rows(unknown), [0; 0], "{unknown}");
        }
    }

    #[test]
    fn a_misspelt_name_gives_the_rows_of_those_like_it() {
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
