//! Caches parsed rows. Polling clients read the same rows repeatedly, and parsing a row costs as
//! much as reading it, so an unchanged row is not parsed again. Each lookup still reads the
//! database.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use signpost_store::Row;

/// Number of independently locked shards of the cache.
const SHARDS: usize = 16;
/// Approximate maximum size of a shard in bytes. A full shard is cleared, at the cost of parsing
/// each row again.
const MAX_SHARD_BYTES: usize = (16 << 20) / SHARDS;

/// A cache of rows with their parsed values, by key. `R` is a row, or a list of rows.
pub struct ParsedRows<K, V, R = Row> {
    shards: [Mutex<RowShard<K, V, R>>; SHARDS],
    hasher: RandomState,
    size: fn(&V) -> usize,
}

struct RowShard<K, V, R> {
    rows: HashMap<K, (R, Arc<V>)>,
    bytes: usize,
}

impl<K: Hash + Eq + Clone, V, R: Clone + PartialEq> ParsedRows<K, V, R> {
    /// Creates an empty cache. The function `size` returns the approximate size of a row and its
    /// value in bytes.
    #[must_use]
    pub fn new(size: fn(&V) -> usize) -> Self {
        let shards = std::array::from_fn(|_| Mutex::new(RowShard { rows: HashMap::new(), bytes: 0 }));
        Self { shards, hasher: RandomState::new(), size }
    }

    /// Returns the parsed value of a row that was just read. If the row is unchanged, this is the
    /// cached value; otherwise it is the result of `parse`.
    ///
    /// # Errors
    /// Returns the errors of `parse`.
    pub fn parse(&self, key: &K, row: R, parse: impl FnOnce(R) -> Result<V>) -> Result<Arc<V>> {
        if let Some((last, value)) = self.shard(key).rows.get(key)
            && *last == row
        {
            return Ok(Arc::clone(value));
        }
        let value = Arc::new(parse(row.clone())?);
        let mut shard = self.shard(key);
        if shard.bytes >= MAX_SHARD_BYTES {
            shard.rows.clear();
            shard.bytes = 0;
        }
        shard.bytes += (self.size)(&value);
        if let Some((_, last)) = shard.rows.insert(key.clone(), (row, Arc::clone(&value))) {
            shard.bytes -= (self.size)(&last);
        }
        Ok(value)
    }

    fn shard(&self, key: &K) -> MutexGuard<'_, RowShard<K, V, R>> {
        let shard = usize::try_from(self.hasher.hash_one(key) % SHARDS as u64).unwrap_or(0);
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, V, R> fmt::Debug for ParsedRows<K, V, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ParsedRows")
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
    fn an_unchanged_row_is_parsed_once() {
        let rows = ParsedRows::new(|_| 1);
        let mut times = 0;
        let mut read = |key: &'static str, number: i64| {
            let value = rows.parse(&key, row(number), |row| {
                times += 1;
                row.int(0)
            });
            (*value.unwrap(), times)
        };
        assert_eq!([read("a", 1), read("a", 1), read("b", 1), read("b", 1)], [(1, 1), (1, 1), (1, 2), (1, 2)]);
        assert_eq!([read("a", 2), read("a", 2), read("a", 1)], [(2, 3), (2, 3), (1, 4)]);
    }

    #[test]
    fn unparsable_rows_are_not_stored() {
        let rows: ParsedRows<_, i64> = ParsedRows::new(|_| 1);
        assert!(rows.parse(&"a", row(1), |_| bail!("not parsable")).is_err());
        assert_eq!(*rows.parse(&"a", row(1), |row| row.int(0)).unwrap(), 1);
    }

    #[test]
    fn the_table_is_bounded() {
        let rows: ParsedRows<i64, usize> = ParsedRows::new(|size| *size);
        for key in 0..400 {
            rows.parse(&key, row(key), |_| Ok(1 << 20)).unwrap();
        }
        for key in [1, 1, 1] {
            rows.parse(&key, row(-key), |_| Ok(1 << 20)).unwrap();
        }
        for shard in &rows.shards {
            let shard = shard.lock().unwrap();
            assert_eq!(shard.bytes, shard.rows.len() << 20);
            assert!(shard.bytes <= MAX_SHARD_BYTES + (1 << 20));
        }
    }
}
