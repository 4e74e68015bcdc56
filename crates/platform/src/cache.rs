//! What was read a moment ago, for those who ask again and again. Only a database that tells every change lets it be
//! kept; with any other each question is a read.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;

/// How many bytes are kept, about; at that size all are forgotten, which costs one read each.
const MOST: usize = 32 << 20;
/// What an entry takes beside its value, about.
const EACH: usize = 128;

/// Values by their keys; cheap to clone.
pub struct Kept<K, V> {
    all: Arc<Mutex<Entries<K, V>>>,
    size: fn(&V) -> usize,
}

struct Entries<K, V> {
    /// Whether every change is told.
    is_told: bool,
    by_key: HashMap<K, Entry<V>>,
    bytes: usize,
    reads: u64,
}

enum Entry<V> {
    /// Being read; a change in the meantime takes this away, so that what was read before it is not kept.
    Asked(u64),
    Read(V),
}

/// What to do for an answer.
enum Found<V> {
    Kept(V),
    /// Read it, and bring it under this number.
    Ask(Option<u64>),
}

/// A read that runs. Who asked may leave before it ends (a long poll does all the time): then the next one reads anew.
struct Asked<'a, K: Hash + Eq + Clone, V: Clone> {
    kept: &'a Kept<K, V>,
    key: &'a K,
    number: u64,
}

impl<K: Hash + Eq + Clone, V: Clone> Drop for Asked<'_, K, V> {
    fn drop(&mut self) {
        self.kept.bring(self.key, self.number, None);
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Kept<K, V> {
    /// Nothing, until every change is told. `size` says about how many bytes a value takes.
    #[must_use]
    pub fn new(size: fn(&V) -> usize) -> Self {
        let entries = Entries { is_told: false, by_key: HashMap::new(), bytes: 0, reads: 0 };
        Self { all: Arc::new(Mutex::new(entries)), size }
    }

    /// What is kept under a key, or else what `read` says; nothing is not kept.
    ///
    /// # Errors
    /// Those of `read`.
    pub async fn find(&self, key: &K, read: impl Future<Output = Result<Option<V>>>) -> Result<Option<V>> {
        let number = match self.look(key) {
            Found::Kept(value) => return Ok(Some(value)),
            Found::Ask(number) => number,
        };
        let asked = number.map(|number| Asked { kept: self, key, number });
        let value = read.await;
        if let Some(asked) = asked {
            self.bring(key, asked.number, value.as_ref().ok().and_then(Option::as_ref));
        }
        value
    }

    /// What is kept under a key.
    #[must_use]
    pub fn kept(&self, key: &K) -> Option<V> {
        match self.lock().by_key.get(key) {
            Some(Entry::Read(value)) => Some(value.clone()),
            Some(Entry::Asked(_)) | None => None,
        }
    }

    fn look(&self, key: &K) -> Found<V> {
        let mut all = self.lock();
        match all.by_key.get(key) {
            Some(Entry::Read(value)) => Found::Kept(value.clone()),
            None if all.is_told => Found::Ask(Some(all.ask(key))),
            Some(Entry::Asked(_)) | None => Found::Ask(None),
        }
    }

    /// Ends a read: with a value that is kept, or with none.
    fn bring(&self, key: &K, number: u64, value: Option<&V>) {
        let mut all = self.lock();
        if !matches!(all.by_key.get(key), Some(Entry::Asked(asked)) if *asked == number) {
            return;
        }
        match value {
            Some(value) => {
                all.bytes += (self.size)(value);
                all.by_key.insert(key.clone(), Entry::Read(value.clone()));
            }
            None => drop(all.by_key.remove(key)),
        }
    }

    /// What is under this key changed.
    pub fn forget(&self, key: &K) {
        let mut all = self.lock();
        if let Some(Entry::Read(value)) = all.by_key.remove(key) {
            all.bytes -= (self.size)(&value);
        }
    }

    /// Anything may have changed.
    pub fn forget_all(&self) {
        self.lock().clear();
    }

    /// Forgets all, and keeps what is read from now on if every change is told from now on.
    pub fn begin(&self, is_told: bool) {
        let mut all = self.lock();
        all.clear();
        all.is_told = is_told;
    }

    fn lock(&self) -> MutexGuard<'_, Entries<K, V>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq + Clone, V> Entries<K, V> {
    fn ask(&mut self, key: &K) -> u64 {
        if self.bytes + self.by_key.len() * EACH >= MOST {
            self.clear();
        }
        self.reads += 1;
        self.by_key.insert(key.clone(), Entry::Asked(self.reads));
        self.reads
    }

    fn clear(&mut self) {
        self.by_key.clear();
        self.bytes = 0;
    }
}

impl<K, V> Clone for Kept<K, V> {
    fn clone(&self) -> Self {
        Self { all: Arc::clone(&self.all), size: self.size }
    }
}

impl<K, V> fmt::Debug for Kept<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Kept")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers() -> Kept<&'static str, u32> {
        Kept::new(|_| 1)
    }

    async fn find(kept: &Kept<&'static str, u32>, value: Option<u32>) -> Option<u32> {
        kept.find(&"a", async { Ok(value) }).await.unwrap()
    }

    #[tokio::test]
    async fn nothing_is_kept_unless_changes_are_told() {
        let kept = numbers();
        assert_eq!([find(&kept, Some(1)).await, find(&kept, Some(2)).await], [Some(1), Some(2)]);
        kept.begin(true);
        assert_eq!([find(&kept, Some(3)).await, find(&kept, Some(4)).await], [Some(3), Some(3)]);
        kept.forget(&"a");
        assert_eq!([find(&kept, None).await, find(&kept, Some(5)).await], [None, Some(5)]);
        kept.begin(false);
        assert_eq!([find(&kept, Some(6)).await, find(&kept, Some(7)).await], [Some(6), Some(7)]);
    }

    #[tokio::test]
    async fn what_was_read_before_a_change_is_not_kept_behind_it() {
        let kept = numbers();
        kept.begin(true);
        let changes: [fn(&Kept<&'static str, u32>); 3] =
            [Kept::forget_all, |kept| kept.forget(&"a"), |kept| kept.begin(true)];
        for change in changes {
            let old = kept.find(&"a", async {
                change(&kept);
                Ok(Some(1))
            });
            assert_eq!(old.await.unwrap(), Some(1));
            assert_eq!(find(&kept, Some(2)).await, Some(2));
            kept.forget_all();
        }
    }

    #[tokio::test]
    async fn a_read_that_nobody_waits_for_any_more_keeps_no_other_from_being_kept() {
        let kept = numbers();
        kept.begin(true);
        let mut left = Box::pin(kept.find(&"a", std::future::pending()));
        assert!(futures_util::poll!(&mut left).is_pending());
        drop(left);
        assert_eq!([find(&kept, Some(1)).await, find(&kept, Some(2)).await], [Some(1), Some(1)]);
    }

    #[tokio::test]
    async fn what_is_kept_has_a_bound() {
        let kept: Kept<usize, usize> = Kept::new(|size| *size);
        kept.begin(true);
        for key in 0..200 {
            kept.find(&key, async { Ok(Some(1 << 20)) }).await.unwrap();
            assert!(kept.lock().bytes <= MOST + (1 << 20));
        }
    }
}
