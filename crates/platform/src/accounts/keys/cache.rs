//! Caches the grants of API keys for a moment, so that a busy integrator does not cause a read per request.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use signpost_store::Store;

use crate::accounts::Environment;
use crate::accounts::keys::used::KeyUses;
use crate::accounts::keys::{KeyGrant, KeyHash, sql};

/// Lifetime of a cached grant. A revoked key must stop working within 5 s.
const CACHE_LIFETIME: SignedDuration = SignedDuration::from_secs(2);
/// Maximum number of cached keys. A shard with its part of them is emptied, at the cost of a read per key.
const MAX_CACHED_KEYS: usize = 10_000;
/// Number of independently locked shards. Keys are looked up by all threads, and far more often than inserted.
const SHARDS: usize = 16;

/// Grants of recently used keys; cheap to clone. Invalid keys are not cached.
#[derive(Clone, Debug, Default)]
pub struct KeyCache {
    shards: Arc<[RwLock<KeyShard>; SHARDS]>,
    /// The last use of each key, for the database.
    pub used: KeyUses,
}

type KeyShard = HashMap<KeyHash, (Arc<KeyGrant>, Timestamp)>;

impl KeyCache {
    /// Returns the grant of a key; `None` if the key is invalid.
    ///
    /// # Errors
    /// Returns the errors of [`sql::find_grant`].
    pub async fn find_grant(
        &self,
        store: &Store,
        environment: Environment,
        hash: KeyHash,
        now: Timestamp,
    ) -> Result<Option<Arc<KeyGrant>>> {
        if let Some(grant) = self.find_cached(&hash, now) {
            return Ok(Some(grant));
        }
        let grant = sql::find_grant(store, environment, &hash, now).await?.map(Arc::new);
        if let Some(grant) = &grant {
            self.used.record(&grant.key, now);
        }
        let mut shard = self.shard(&hash).write().unwrap_or_else(PoisonError::into_inner);
        match &grant {
            Some(grant) => {
                if shard.len() >= MAX_CACHED_KEYS / SHARDS {
                    shard.clear();
                }
                shard.insert(hash, (Arc::clone(grant), now));
            }
            None => drop(shard.remove(&hash)),
        }
        Ok(grant)
    }

    fn find_cached(&self, hash: &KeyHash, now: Timestamp) -> Option<Arc<KeyGrant>> {
        let shard = self.shard(hash).read().unwrap_or_else(PoisonError::into_inner);
        let (grant, since) = shard.get(hash)?;
        // `abs`, so that a clock that was set back does not extend the lifetime.
        if now.duration_since(*since).abs() < CACHE_LIFETIME { Some(Arc::clone(grant)) } else { None }
    }

    fn shard(&self, hash: &KeyHash) -> &RwLock<KeyShard> {
        &self.shards[hash.shard(SHARDS)]
    }
}
