//! What was read a moment ago, for those who ask again and again. It is kept where the database tells every change, or with
//! the state of the file that it was read in; anywhere else each question is a read.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use anyhow::Result;
use signpost_store::FileState;

/// In how many shards it stands, each with a lock of its own.
const SHARDS: usize = 16;
/// How many bytes a shard keeps, about; at that size all of it is forgotten, which costs one read each.
const MAX_SHARD_BYTES: usize = (32 << 20) / SHARDS;
/// What an entry takes beside its value, about.
const ENTRY_OVERHEAD: usize = 128;

/// A read-through cache; cheap to clone.
pub struct ReadCache<K, V> {
    shards: Arc<[RwLock<Entries<K, V>>; SHARDS]>,
    hasher: RandomState,
    size: fn(&V) -> usize,
}

struct Entries<K, V> {
    /// Whether every change is told.
    is_told: bool,
    by_key: HashMap<K, CacheSlot<V>>,
    bytes: usize,
    reads: u64,
}

enum CacheSlot<V> {
    /// Being read; a change in the meantime takes this away, so that what was read before it is not kept.
    Pending(u64),
    /// Good until a change is told.
    Read(V),
    /// Good while the file is in this state.
    AsOf(FileState, V),
}

/// What to do for an answer.
enum CacheLookup<V> {
    Hit(V),
    /// Read it, and bring it under this number.
    Miss(Option<u64>),
}

/// A read that runs. Who asked may leave before it ends (a long poll does all the time): then the next one reads anew.
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
    /// Nothing, until every change is told. `size` says about how many bytes a value takes.
    #[must_use]
    pub fn new(size: fn(&V) -> usize) -> Self {
        let entries = || Entries { is_told: false, by_key: HashMap::new(), bytes: 0, reads: 0 };
        let shards = [(); SHARDS].map(|()| RwLock::new(entries()));
        Self { shards: Arc::new(shards), hasher: RandomState::new(), size }
    }

    /// What is kept under a key, or else what `read` says; nothing is not kept.
    ///
    /// # Errors
    /// Those of `read`.
    pub async fn find(&self, key: &K, read: impl Future<Output = Result<Option<V>>>) -> Result<Option<V>> {
        let number = match self.look_up(key) {
            CacheLookup::Hit(value) => return Ok(Some(value)),
            CacheLookup::Miss(number) => number,
        };
        let asked = number.map(|number| PendingRead { cache: self, key, number });
        let value = read.await;
        if let Some(asked) = asked {
            self.fill(key, asked.number, value.as_ref().ok().and_then(Option::as_ref));
        }
        value
    }

    /// What is kept under a key and was read in this state of the file, or else what `read` says. The state is asked for
    /// before, so that what is read then is of it or a later one. Without a state as [`ReadCache::find`].
    ///
    /// # Errors
    /// Those of `read`.
    pub async fn find_as_of(
        &self,
        key: &K,
        state: Option<FileState>,
        read: impl Future<Output = Result<Option<V>>>,
    ) -> Result<Option<V>> {
        let Some(state) = state else { return self.find(key, read).await };
        if let Some(value) = self.get_as_of(key, state) {
            return Ok(Some(value));
        }
        let value = read.await?;
        if let Some(value) = &value {
            self.change(key).keep(key, CacheSlot::AsOf(state, value.clone()), self.size);
        }
        Ok(value)
    }

    fn get_as_of(&self, key: &K, state: FileState) -> Option<V> {
        let all = self.shard(key).read().unwrap_or_else(PoisonError::into_inner);
        match all.by_key.get(key) {
            Some(CacheSlot::AsOf(kept, value)) if *kept == state => Some(value.clone()),
            _ => None,
        }
    }

    /// What is kept under a key, where changes are told.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<V> {
        let all = self.shard(key).read().unwrap_or_else(PoisonError::into_inner);
        match all.by_key.get(key) {
            Some(CacheSlot::Read(value)) => Some(value.clone()),
            Some(CacheSlot::Pending(_) | CacheSlot::AsOf(..)) | None => None,
        }
    }

    fn look_up(&self, key: &K) -> CacheLookup<V> {
        // Nearly always it is there, and those who look do not wait for each other.
        if let Some(value) = self.get(key) {
            return CacheLookup::Hit(value);
        }
        let mut all = self.change(key);
        match all.by_key.get(key) {
            Some(CacheSlot::Read(value)) => CacheLookup::Hit(value.clone()),
            None if all.is_told => CacheLookup::Miss(Some(all.ask(key))),
            Some(CacheSlot::Pending(_) | CacheSlot::AsOf(..)) | None => CacheLookup::Miss(None),
        }
    }

    /// Ends a read: with a value that is kept, or with none.
    fn fill(&self, key: &K, number: u64, value: Option<&V>) {
        let mut all = self.change(key);
        if !matches!(all.by_key.get(key), Some(CacheSlot::Pending(asked)) if *asked == number) {
            return;
        }
        match value {
            Some(value) => all.keep(key, CacheSlot::Read(value.clone()), self.size),
            None => all.remove(key, self.size),
        }
    }

    /// Drops what is under this key: it changed.
    pub fn invalidate(&self, key: &K) {
        self.change(key).remove(key, self.size);
    }

    /// Drops all: anything may have changed.
    pub fn invalidate_all(&self) {
        self.each(Entries::clear);
    }

    /// Drops all, and keeps what is read from now on if every change is told from now on.
    pub fn restart(&self, is_told: bool) {
        self.each(|all| {
            all.clear();
            all.is_told = is_told;
        });
    }

    fn shard(&self, key: &K) -> &RwLock<Entries<K, V>> {
        &self.shards[usize::try_from(self.hasher.hash_one(key) % SHARDS as u64).unwrap_or(0)]
    }

    fn change(&self, key: &K) -> RwLockWriteGuard<'_, Entries<K, V>> {
        self.shard(key).write().unwrap_or_else(PoisonError::into_inner)
    }

    fn each(&self, change: impl Fn(&mut Entries<K, V>)) {
        for shard in &*self.shards {
            change(&mut shard.write().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

impl<K: Hash + Eq + Clone, V> Entries<K, V> {
    fn ask(&mut self, key: &K) -> u64 {
        self.make_room();
        self.reads += 1;
        self.by_key.insert(key.clone(), CacheSlot::Pending(self.reads));
        self.reads
    }

    /// Keeps a value in the place of what was under its key.
    fn keep(&mut self, key: &K, slot: CacheSlot<V>, size: fn(&V) -> usize) {
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
            Self::Read(value) | Self::AsOf(_, value) => size(value),
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
    use signpost_store::{Migration, Schema, Store, step};

    use super::*;

    fn numbers() -> ReadCache<&'static str, u32> {
        ReadCache::new(|_| 1)
    }

    async fn find(kept: &ReadCache<&'static str, u32>, value: Option<u32>) -> Option<u32> {
        kept.find(&"a", async { Ok(value) }).await.unwrap()
    }

    #[tokio::test]
    async fn nothing_is_kept_unless_changes_are_told() {
        let kept = numbers();
        assert_eq!([find(&kept, Some(1)).await, find(&kept, Some(2)).await], [Some(1), Some(2)]);
        kept.restart(true);
        assert_eq!([find(&kept, Some(3)).await, find(&kept, Some(4)).await], [Some(3), Some(3)]);
        kept.invalidate(&"a");
        assert_eq!([find(&kept, None).await, find(&kept, Some(5)).await], [None, Some(5)]);
        kept.restart(false);
        assert_eq!([find(&kept, Some(6)).await, find(&kept, Some(7)).await], [Some(6), Some(7)]);
    }

    #[tokio::test]
    async fn what_was_read_before_a_change_is_not_kept_behind_it() {
        let kept = numbers();
        kept.restart(true);
        let changes: [fn(&ReadCache<&'static str, u32>); 3] =
            [ReadCache::invalidate_all, |kept| kept.invalidate(&"a"), |kept| kept.restart(true)];
        for change in changes {
            let old = kept.find(&"a", async {
                change(&kept);
                Ok(Some(1))
            });
            assert_eq!(old.await.unwrap(), Some(1));
            assert_eq!(find(&kept, Some(2)).await, Some(2));
            kept.invalidate_all();
        }
    }

    #[tokio::test]
    async fn a_read_that_nobody_waits_for_any_more_keeps_no_other_from_being_kept() {
        let kept = numbers();
        kept.restart(true);
        let mut left = Box::pin(kept.find(&"a", std::future::pending()));
        assert!(futures_util::poll!(&mut left).is_pending());
        drop(left);
        assert_eq!([find(&kept, Some(1)).await, find(&kept, Some(2)).await], [Some(1), Some(1)]);
    }

    #[tokio::test]
    async fn what_is_kept_has_a_bound() {
        let kept: ReadCache<usize, usize> = ReadCache::new(|size| *size);
        kept.restart(true);
        for key in 0..200 {
            kept.find(&key, async { Ok(Some(1 << 20)) }).await.unwrap();
            kept.each(|shard| assert!(shard.bytes <= MAX_SHARD_BYTES + (1 << 20)));
        }
    }

    #[tokio::test]
    async fn what_was_read_in_another_state_of_the_file_is_read_anew() {
        static SCHEMA: Schema = Schema {
            migrations: &[Migration::expands("CREATE TABLE probe (at BIGINT); INSERT INTO probe VALUES (0);")],
            tables: &[],
            single_rows: &[],
            watched: &[],
        };
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite:{}", folder.path().join("database").display()), &SCHEMA).unwrap();
        let kept = numbers();
        let find = async |state, value| kept.find_as_of(&"a", state, async { Ok(value) }).await.unwrap();
        let first = store.file_state();
        assert!(first.is_some());
        assert_eq!(
            [find(first, None).await, find(first, Some(1)).await, find(first, Some(2)).await],
            [None, Some(1), Some(1)]
        );
        store.write([step("UPDATE probe SET at = 1", Vec::new())]).await.unwrap();
        let second = store.file_state();
        assert_eq!([find(second, Some(3)).await, find(first, Some(4)).await], [Some(3), Some(4)]);
        // Where nobody can say in which state the file is, nothing from memory counts.
        assert_eq!([find(None, Some(5)).await, find(None, Some(6)).await], [Some(5), Some(6)]);
        assert_eq!(kept.get(&"a"), None);
        kept.invalidate(&"a");
        assert_eq!(find(second, Some(7)).await, Some(7));
        kept.each(|shard| assert_eq!(shard.bytes, shard.by_key.len()));
    }
}
