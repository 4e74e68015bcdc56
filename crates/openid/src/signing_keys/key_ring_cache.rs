//! A cache of the decrypted signing keys, because reading and decrypting them is as slow as
//! signing.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use anyhow::Result;
use signpost_login::domains::seal::Seal;
use signpost_platform::accounts::Environment;
use tokio::sync::Mutex;

use super::{KeyRing, StoredSigningKey};

/// Maximum age of the cached keys, after which changes of other servers are visible. Shorter than
/// [`SHORT_ANNOUNCEMENT_PERIOD`](super::rules::SHORT_ANNOUNCEMENT_PERIOD).
pub const MAX_AGE: Duration = Duration::from_secs(5);

/// The cached keys of both environments.
#[derive(Debug, Default)]
pub struct KeyRingCache {
    slots: [RingSlot; Environment::ALL.len()],
}

#[derive(Debug, Default)]
struct RingSlot {
    read: RwLock<CachedKeyRing>,
    /// A lock that is held while the keys are read, so that other tasks wait for the result.
    reading: Mutex<()>,
}

#[derive(Clone, Debug, Default)]
struct CachedKeyRing {
    ring: Option<Arc<KeyRing>>,
    /// The time when it was read; `None` if it must be read again.
    at: Option<Duration>,
    /// Number of invalidations. A read in progress during an invalidation is outdated.
    changes: u64,
}

impl KeyRingCache {
    /// Returns the keys of an environment, at most [`MAX_AGE`] old; `read` reads them if they are older. `now` is a
    /// monotonic time.
    ///
    /// # Errors
    /// Returns the errors of `read` and of [`KeyRing::open`].
    pub async fn find(
        &self,
        environment: Environment,
        now: Duration,
        seal: &Seal,
        read: impl Future<Output = Result<Vec<StoredSigningKey>>>,
    ) -> Result<Arc<KeyRing>> {
        let slot = self.slot(environment);
        if let Some(ring) = slot.fresh(now) {
            return Ok(ring);
        }
        let _reading = slot.reading.lock().await;
        if let Some(ring) = slot.fresh(now) {
            return Ok(ring);
        }
        let before = slot.get();
        let rows = read.await?;
        let ring = match before.ring.filter(|ring| ring.matches(&rows)) {
            Some(ring) => ring,
            None => Arc::new(KeyRing::open(rows, seal)?),
        };
        slot.change(|cached| {
            cached.ring = Some(Arc::clone(&ring));
            cached.at = (cached.changes == before.changes).then_some(now);
        });
        Ok(ring)
    }

    /// Invalidates the keys of an environment.
    pub fn invalidate(&self, environment: Environment) {
        self.slot(environment).change(|cached| {
            cached.at = None;
            cached.changes += 1;
        });
    }

    fn slot(&self, environment: Environment) -> &RingSlot {
        let [live, sandbox] = &self.slots;
        match environment {
            Environment::Live => live,
            Environment::Sandbox => sandbox,
        }
    }
}

impl RingSlot {
    fn get(&self) -> CachedKeyRing {
        self.read.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change(&self, change: impl FnOnce(&mut CachedKeyRing)) {
        change(&mut self.read.write().unwrap_or_else(PoisonError::into_inner));
    }

    fn fresh(&self, now: Duration) -> Option<Arc<KeyRing>> {
        let CachedKeyRing { ring, at, .. } = self.get();
        ring.filter(|_| at.is_some_and(|at| now.saturating_sub(at) < MAX_AGE))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn keys_are_read_once_in_five_seconds() {
        let (rings, reads) = (KeyRingCache::default(), AtomicU32::new(0));
        let seal = Seal::default();
        let find = async |environment, seconds: u64| {
            let read = async || {
                reads.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                Ok(Vec::new())
            };
            rings.find(environment, Duration::from_secs(seconds), &seal, read()).await.unwrap();
        };
        tokio::join!(find(Environment::Live, 0), find(Environment::Live, 0), find(Environment::Live, 4));
        assert_eq!(reads.load(Ordering::Relaxed), 1);
        find(Environment::Sandbox, 0).await;
        find(Environment::Live, 5).await;
        assert_eq!(reads.load(Ordering::Relaxed), 3);
        rings.invalidate(Environment::Live);
        find(Environment::Live, 5).await;
        assert_eq!(reads.load(Ordering::Relaxed), 4);
    }

    #[tokio::test]
    async fn stale_read_is_not_cached() {
        let (rings, reads, seal) = (KeyRingCache::default(), AtomicU32::new(0), Seal::default());
        let find = async || {
            let read = async || {
                if reads.fetch_add(1, Ordering::Relaxed) == 0 {
                    rings.invalidate(Environment::Live);
                }
                Ok(Vec::new())
            };
            rings.find(Environment::Live, Duration::ZERO, &seal, read()).await.unwrap();
            reads.load(Ordering::Relaxed)
        };
        assert_eq!([find().await, find().await, find().await], [1, 2, 2]);
    }

    #[tokio::test]
    async fn failed_read_is_not_cached() {
        let (rings, seal) = (KeyRingCache::default(), Seal::default());
        let failed = rings.find(Environment::Live, Duration::ZERO, &seal, async { anyhow::bail!("away") }).await;
        assert!(failed.is_err());
        rings.find(Environment::Live, Duration::ZERO, &seal, async { Ok(Vec::new()) }).await.unwrap();
    }
}
