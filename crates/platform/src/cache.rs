//! A read-through cache of database rows. Values are cached while the database reports every
//! change, or together with the state of the database file in which they were read. Otherwise each
//! lookup reads the database.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use anyhow::Result;
use signpost_store::FileState;

/// Number of independently locked shards of a cache.
const SHARDS: usize = 16;
/// Approximate maximum size of a shard in bytes. A full shard is cleared, at the cost of a database
/// read per value.
const MAX_SHARD_BYTES: usize = (32 << 20) / SHARDS;
/// Approximate size of an entry in bytes, excluding its value.
const ENTRY_OVERHEAD: usize = 128;

/// A read-through cache. It is cheap to clone.
pub struct ReadCache<K, V> {
    shards: Arc<[RwLock<Entries<K, V>>; SHARDS]>,
    hasher: RandomState,
    size: fn(&V) -> usize,
}

struct Entries<K, V> {
    /// Set while the database reports every change.
    is_notified: bool,
    by_key: HashMap<K, CacheSlot<V>>,
    bytes: usize,
    reads: u64,
}

enum CacheSlot<V> {
    /// A database read is pending. A change removes this slot, so that the value of a read that
    /// started before the change is not cached.
    Pending(u64),
    /// A value that is valid until the database reports a change.
    Read(V),
    /// A value that is valid while the database file is in this state.
    AtState(FileState, V),
}

/// The result of looking up a key.
enum CacheLookup<V> {
    Hit(V),
    /// The value must be read. It is then cached if the pending read has this number.
    Miss(Option<u64>),
}

/// A pending database read. If its future is dropped, which long polls often do, the next lookup
/// starts a new read.
struct PendingRead<'a, K: Hash + Eq + Clone, V: Clone> {
    cache: &'a ReadCache<K, V>,
    key: &'a K,
    number: u64,
}

impl<K: Hash + Eq + Clone, V: Clone> Drop for PendingRead<'_, K, V> {
    fn drop(&mut self) {
        self.cache.fill(self.key, self.number, None);
    }
}

impl<K: Hash + Eq + Clone, V: Clone> ReadCache<K, V> {
    /// Creates a cache that stores nothing until [`ReadCache::restart`] is called. The function
    /// `size` returns the approximate size of a value in bytes.
    #[must_use]
    pub fn new(size: fn(&V) -> usize) -> Self {
        let shards = std::array::from_fn(|_| {
            RwLock::new(Entries { is_notified: false, by_key: HashMap::new(), bytes: 0, reads: 0 })
        });
        Self { shards: Arc::new(shards), hasher: RandomState::new(), size }
    }

    /// Returns the cached value of a key. If there is none, awaits `read` and caches its value
    /// unless it is `None`.
    ///
    /// # Errors
    /// Returns the errors of `read`.
    pub async fn find(&self, key: &K, read: impl Future<Output = Result<Option<V>>>) -> Result<Option<V>> {
        let number = match self.look_up(key) {
            CacheLookup::Hit(value) => return Ok(Some(value)),
            CacheLookup::Miss(number) => number,
        };
        let pending = number.map(|number| PendingRead { cache: self, key, number });
        let value = read.await?;
        if let Some(pending) = &pending {
            self.fill(key, pending.number, value.as_ref());
        }
        Ok(value)
    }

    /// Returns the cached value of a key if the database file has not changed since it was read.
    /// Otherwise, awaits `read` and caches its value. The caller must determine `state` before the
    /// call, so that `read` returns values of this state or a later state. Without a state, this is
    /// [`ReadCache::find`].
    ///
    /// # Errors
    /// Returns the errors of `read`.
    pub async fn find_if_unchanged(
        &self,
        key: &K,
        state: Option<FileState>,
        read: impl Future<Output = Result<Option<V>>>,
    ) -> Result<Option<V>> {
        let Some(state) = state else { return self.find(key, read).await };
        if let Some(value) = self.get_if_unchanged(key, state) {
            return Ok(Some(value));
        }
        let value = read.await?;
        if let Some(value) = &value {
            self.write(key).insert(key, CacheSlot::AtState(state, value.clone()), self.size);
        }
        Ok(value)
    }

    fn get_if_unchanged(&self, key: &K, state: FileState) -> Option<V> {
        let entries = self.shard(key).read().unwrap_or_else(PoisonError::into_inner);
        match entries.by_key.get(key) {
            Some(CacheSlot::AtState(cached, value)) if *cached == state => Some(value.clone()),
            _ => None,
        }
    }

    /// Returns the cached value of a key if the database reports changes.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<V> {
        let entries = self.shard(key).read().unwrap_or_else(PoisonError::into_inner);
        match entries.by_key.get(key) {
            Some(CacheSlot::Read(value)) => Some(value.clone()),
            Some(CacheSlot::Pending(_) | CacheSlot::AtState(..)) | None => None,
        }
    }

    fn look_up(&self, key: &K) -> CacheLookup<V> {
        // Nearly every lookup is a hit and needs only the shared lock.
        if let Some(value) = self.get(key) {
            return CacheLookup::Hit(value);
        }
        let mut entries = self.write(key);
        match entries.by_key.get(key) {
            Some(CacheSlot::Read(value)) => CacheLookup::Hit(value.clone()),
            None if entries.is_notified => CacheLookup::Miss(Some(entries.insert_pending(key))),
            Some(CacheSlot::Pending(_) | CacheSlot::AtState(..)) | None => CacheLookup::Miss(None),
        }
    }

    /// Ends a pending read and caches its value, if any.
    fn fill(&self, key: &K, number: u64, value: Option<&V>) {
        let mut entries = self.write(key);
        if !matches!(entries.by_key.get(key), Some(CacheSlot::Pending(pending)) if *pending == number) {
            return;
        }
        match value {
            Some(value) => entries.insert(key, CacheSlot::Read(value.clone()), self.size),
            None => entries.remove(key, self.size),
        }
    }

    /// Removes the value of a key because it changed.
    pub fn invalidate(&self, key: &K) {
        self.write(key).remove(key, self.size);
    }

    /// Removes all values because any of them may have changed.
    pub fn invalidate_all(&self) {
        self.each(Entries::clear);
    }

    /// Removes all values. New values are cached if `is_notified` is set, because the database
    /// reports every change from now on.
    pub fn restart(&self, is_notified: bool) {
        self.each(|entries| {
            entries.clear();
            entries.is_notified = is_notified;
        });
    }

    fn shard(&self, key: &K) -> &RwLock<Entries<K, V>> {
        &self.shards[usize::try_from(self.hasher.hash_one(key) % SHARDS as u64).unwrap_or(0)]
    }

    fn write(&self, key: &K) -> RwLockWriteGuard<'_, Entries<K, V>> {
        self.shard(key).write().unwrap_or_else(PoisonError::into_inner)
    }

    fn each(&self, change: impl Fn(&mut Entries<K, V>)) {
        for shard in &*self.shards {
            change(&mut shard.write().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

impl<K: Hash + Eq + Clone, V> Entries<K, V> {
    fn insert_pending(&mut self, key: &K) -> u64 {
        self.make_room();
        self.reads += 1;
        self.by_key.insert(key.clone(), CacheSlot::Pending(self.reads));
        self.reads
    }

    fn insert(&mut self, key: &K, slot: CacheSlot<V>, size: fn(&V) -> usize) {
        self.remove(key, size);
        self.make_room();
        self.bytes += slot.bytes(size);
        self.by_key.insert(key.clone(), slot);
    }

    fn remove(&mut self, key: &K, size: fn(&V) -> usize) {
        if let Some(slot) = self.by_key.remove(key) {
            self.bytes -= slot.bytes(size);
        }
    }

    fn make_room(&mut self) {
        if self.bytes + self.by_key.len() * ENTRY_OVERHEAD >= MAX_SHARD_BYTES {
            self.clear();
        }
    }

    fn clear(&mut self) {
        self.by_key.clear();
        self.bytes = 0;
    }
}

impl<V> CacheSlot<V> {
    fn bytes(&self, size: fn(&V) -> usize) -> usize {
        match self {
            Self::Pending(_) => 0,
            Self::Read(value) | Self::AtState(_, value) => size(value),
        }
    }
}

impl<K, V> Clone for ReadCache<K, V> {
    fn clone(&self) -> Self {
        Self { shards: Arc::clone(&self.shards), hasher: self.hasher.clone(), size: self.size }
    }
}

impl<K, V> fmt::Debug for ReadCache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReadCache")
    }
}

#[cfg(test)]
mod tests {
    use signpost_store::{Migration, Schema, Statement, Store};

    use super::*;

    fn numbers() -> ReadCache<&'static str, u32> {
        ReadCache::new(|_| 1)
    }

    async fn find(cache: &ReadCache<&'static str, u32>, value: Option<u32>) -> Option<u32> {
        cache.find(&"a", async { Ok(value) }).await.unwrap()
    }

    #[tokio::test]
    async fn values_are_cached_only_with_notifications() {
        let cache = numbers();
        assert_eq!([find(&cache, Some(1)).await, find(&cache, Some(2)).await], [Some(1), Some(2)]);
        cache.restart(true);
        assert_eq!([find(&cache, Some(3)).await, find(&cache, Some(4)).await], [Some(3), Some(3)]);
        cache.invalidate(&"a");
        assert_eq!([find(&cache, None).await, find(&cache, Some(5)).await], [None, Some(5)]);
        cache.restart(false);
        assert_eq!([find(&cache, Some(6)).await, find(&cache, Some(7)).await], [Some(6), Some(7)]);
    }

    #[tokio::test]
    async fn read_before_a_change_is_not_cached() {
        let cache = numbers();
        cache.restart(true);
        let changes: [fn(&ReadCache<&'static str, u32>); 3] =
            [ReadCache::invalidate_all, |cache| cache.invalidate(&"a"), |cache| cache.restart(true)];
        for change in changes {
            let old = cache.find(&"a", async {
                change(&cache);
                Ok(Some(1))
            });
            assert_eq!(old.await.unwrap(), Some(1));
            assert_eq!(find(&cache, Some(2)).await, Some(2));
            cache.invalidate_all();
        }
    }

    #[tokio::test]
    async fn a_dropped_read_does_not_prevent_caching() {
        let cache = numbers();
        cache.restart(true);
        let mut left = Box::pin(cache.find(&"a", std::future::pending()));
        assert!(futures_util::poll!(&mut left).is_pending());
        drop(left);
        assert_eq!([find(&cache, Some(1)).await, find(&cache, Some(2)).await], [Some(1), Some(1)]);
    }

    #[tokio::test]
    async fn the_cache_is_bounded() {
        let cache: ReadCache<usize, usize> = ReadCache::new(|size| *size);
        cache.restart(true);
        for key in 0..200 {
            cache.find(&key, async { Ok(Some(1 << 20)) }).await.unwrap();
            cache.each(|shard| assert!(shard.bytes <= MAX_SHARD_BYTES + (1 << 20)));
        }
    }

    #[tokio::test]
    async fn changed_file_state_causes_a_read() {
        static SCHEMA: Schema = Schema {
            migrations: &[Migration::expands("CREATE TABLE probe (at BIGINT); INSERT INTO probe VALUES (0);")],
            tables: &[],
            single_rows: &[],
            watched: &[],
        };
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite:{}", folder.path().join("database").display()), &SCHEMA).unwrap();
        let cache = numbers();
        let find = async |state, value| cache.find_if_unchanged(&"a", state, async { Ok(value) }).await.unwrap();
        let first = store.file_state();
        assert!(first.is_some());
        assert_eq!(
            [find(first, None).await, find(first, Some(1)).await, find(first, Some(2)).await],
            [None, Some(1), Some(1)]
        );
        store.write([Statement::new("UPDATE probe SET at = 1", Vec::new())]).await.unwrap();
        let second = store.file_state();
        assert_eq!([find(second, Some(3)).await, find(first, Some(4)).await], [Some(3), Some(4)]);
        // While the state is unknown, no cached value is valid.
        assert_eq!([find(None, Some(5)).await, find(None, Some(6)).await], [Some(5), Some(6)]);
        assert_eq!(cache.get(&"a"), None);
        cache.invalidate(&"a");
        assert_eq!(find(second, Some(7)).await, Some(7));
        cache.each(|shard| assert_eq!(shard.bytes, shard.by_key.len()));
    }
}
