//! What rows said when they were read last. A row that says the same again need not be understood again: whoever polls
//! reads one row over and over, and to understand it takes as long as to read it. Each question is still a read.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use signpost_store::Row;

/// In how many shards they stand, each with a lock of its own.
const SHARDS: usize = 16;
/// How many bytes a shard holds, about; at that size it is emptied, which costs one understanding each.
const MAX_SHARD_BYTES: usize = (16 << 20) / SHARDS;

/// Rows by their key, and what they mean. What is read under a key is a row, or `R`: several.
pub struct ReadRows<K, V, R = Row> {
    shards: [Mutex<RowShard<K, V, R>>; SHARDS],
    hasher: RandomState,
    size: fn(&V) -> usize,
}

struct RowShard<K, V, R> {
    rows: HashMap<K, (R, Arc<V>)>,
    bytes: usize,
}

impl<K: Hash + Eq + Clone, V, R: Clone + PartialEq> ReadRows<K, V, R> {
    /// Nothing yet. `size` says about how many bytes a row and what it means take.
    #[must_use]
    pub fn new(size: fn(&V) -> usize) -> Self {
        let shards = [(); SHARDS].map(|()| Mutex::new(RowShard { rows: HashMap::new(), bytes: 0 }));
        Self { shards, hasher: RandomState::new(), size }
    }

    /// What a row means that was read just now: as it was understood before, or else as `understand` says.
    ///
    /// # Errors
    /// Those of `understand`.
    pub fn understand(&self, key: &K, row: R, understand: impl FnOnce(R) -> Result<V>) -> Result<Arc<V>> {
        let place = usize::try_from(self.hasher.hash_one(key) % SHARDS as u64).unwrap_or(0);
        let shard = || self.shards[place].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, meaning)) = shard().rows.get(key).filter(|(before, _)| *before == row) {
            return Ok(Arc::clone(meaning));
        }
        let meaning = Arc::new(understand(row.clone())?);
        let mut shard = shard();
        if shard.bytes >= MAX_SHARD_BYTES {
            shard.rows.clear();
            shard.bytes = 0;
        }
        shard.bytes += (self.size)(&meaning);
        if let Some((_, before)) = shard.rows.insert(key.clone(), (row, Arc::clone(&meaning))) {
            shard.bytes -= (self.size)(&before);
        }
        Ok(meaning)
    }
}

impl<K, V, R> fmt::Debug for ReadRows<K, V, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReadRows")
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    fn row(number: i64) -> Row {
        Row::from_iter([number.into()])
    }

    #[test]
    fn a_row_is_understood_once_as_long_as_it_says_the_same() {
        let rows = ReadRows::new(|_| 1);
        let mut times = 0;
        let mut read = |key: &'static str, number: i64| {
            let meaning = rows.understand(&key, row(number), |row| {
                times += 1;
                row.int(0)
            });
            (*meaning.unwrap(), times)
        };
        assert_eq!([read("a", 1), read("a", 1), read("b", 1), read("b", 1)], [(1, 1), (1, 1), (1, 2), (1, 2)]);
        assert_eq!([read("a", 2), read("a", 2), read("a", 1)], [(2, 3), (2, 3), (1, 4)]);
    }

    #[test]
    fn what_nobody_understands_is_not_kept() {
        let rows: ReadRows<_, i64> = ReadRows::new(|_| 1);
        assert!(rows.understand(&"a", row(1), |_| bail!("it means nothing")).is_err());
        assert_eq!(*rows.understand(&"a", row(1), |row| row.int(0)).unwrap(), 1);
    }

    #[test]
    fn what_is_kept_has_a_bound() {
        let rows: ReadRows<i64, usize> = ReadRows::new(|size| *size);
        for key in 0..400 {
            rows.understand(&key, row(key), |_| Ok(1 << 20)).unwrap();
        }
        for key in [1, 1, 1] {
            rows.understand(&key, row(-key), |_| Ok(1 << 20)).unwrap();
        }
        for shard in &rows.shards {
            let shard = shard.lock().unwrap();
            assert_eq!(shard.bytes, shard.rows.len() << 20);
            assert!(shard.bytes <= MAX_SHARD_BYTES + (1 << 20));
        }
    }
}
