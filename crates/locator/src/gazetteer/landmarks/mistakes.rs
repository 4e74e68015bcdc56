//! Edit distance between names, with a fast filter for names that are too different.

/// Maximum length of names that are compared, in letters.
const MAX_LETTERS: usize = 64;

/// The set and number of letters in a name, for computing a lower bound of the edit distance.
#[derive(Clone, Copy)]
pub(super) struct Letters {
    kinds: u32,
    count: u8,
}

impl Letters {
    pub(super) fn of(name: &str) -> Self {
        let kinds = name.bytes().fold(0, |kinds, byte| kinds | 1 << (byte % 32));
        Self { kinds, count: u8::try_from(name.len()).unwrap_or(u8::MAX) }
    }

    /// Checks whether names with these letters can have an edit distance of at most `max`. Each mistake changes at most
    /// two elements of the set.
    pub(super) fn may_be_similar(self, other: Self, max: usize) -> bool {
        let differing = (self.kinds ^ other.kinds).count_ones() as usize;
        differing <= 2 * max && usize::from(self.count.abs_diff(other.count)) <= max
    }
}

/// Returns the edit distance (inserted, missing, wrong or transposed letters) if it is at most `max`. Unlike `strsim`,
/// this function does not allocate.
pub(super) fn edit_distance(one: &[u8], other: &[u8], max: usize) -> Option<usize> {
    if one.len() > MAX_LETTERS || other.len() > MAX_LETTERS {
        return None;
    }
    // The last three rows of the table of distances between prefixes.
    let mut rows = [[0; MAX_LETTERS + 1]; 3];
    for (at, cell) in rows[1].iter_mut().enumerate() {
        *cell = at;
    }
    for (at, letter) in one.iter().enumerate() {
        let [before, last, row] = &mut rows;
        row[0] = at + 1;
        for (column, other_letter) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != other_letter);
            row[column + 1] = replaced.min(last[column + 1] + 1).min(row[column] + 1);
            if at > 0 && column > 0 && *letter == other[column - 1] && one[at - 1] == *other_letter {
                row[column + 1] = row[column + 1].min(before[column - 1] + 1);
            }
        }
        if row[..=other.len()].iter().all(|cell| *cell > max) {
            return None;
        }
        rows.rotate_left(1);
    }
    let distance = rows[1][other.len()];
    if distance <= max { Some(distance) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_counted() {
        for (one, other, expected) in [
            ("", "", Some(0)),
            ("abc", "abc", Some(0)),
            ("abc", "ab", Some(1)),
            ("ab", "abc", Some(1)),
            ("abc", "axc", Some(1)),
            ("abc", "acb", Some(1)),
            ("abcd", "badc", Some(2)),
            ("abcd", "ab", Some(2)),
            ("abcd", "wxyz", None),
            ("", "abc", None),
        ] {
            assert_eq!(edit_distance(one.as_bytes(), other.as_bytes(), 2), expected, "{one} and {other}");
            let near = Letters::of(one).may_be_similar(Letters::of(other), 2);
            assert!(near || expected.is_none(), "{one} and {other}");
        }
        assert_eq!(edit_distance(&[b'a'; 65], &[b'a'; 65], 2), None);
    }
}
