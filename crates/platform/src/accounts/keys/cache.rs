//! Caches the grants of API keys for a few seconds, so that a busy integrator does not cause a
//! database read per request.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use signpost_store::Store;

use crate::accounts::Environment;
use crate::accounts::keys::used::KeyUses;
use crate::accounts::keys::{KeyGrant, KeyHash, sql};

/// How long a grant is cached. A revoked key must stop working within 5 seconds.
const CACHE_LIFETIME: SignedDuration = SignedDuration::from_secs(2);
/// Maximum number of cached keys. A full shard is cleared, at the cost of a database read per key.
const MAX_CACHED_KEYS: usize = 10_000;
/// Number of independently locked shards. Lookups, which all threads do, are far more frequent than
/// insertions.
const SHARDS: usize = 16;

/// A cache of the grants of recently used keys. It is cheap to clone. Invalid keys are not cached.
#[derive(Clone, Debug, Default)]
pub struct KeyCache {
    shards: Arc<[RwLock<KeyShard>; SHARDS]>,
    /// The time of the last use of each key, to be stored in the database.
    pub used: KeyUses,
}

type KeyShard = HashMap<KeyHash, (Arc<KeyGrant>, Timestamp)>;

impl KeyCache {
    /// Returns the grant of a key, or `None` if the key is invalid.
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
        // `abs`, because the cache must not serve old grants after the clock was set back.
        if now.duration_since(*since).abs() < CACHE_LIFETIME { Some(Arc::clone(grant)) } else { None }
    }

    fn shard(&self, hash: &KeyHash) -> &RwLock<KeyShard> {
        &self.shards[hash.shard(SHARDS)]
    }
}
