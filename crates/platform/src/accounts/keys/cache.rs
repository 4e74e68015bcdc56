//! Remembers for a moment what a key opens, so that a busy integrator does not ask the database each time.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use signpost_store::Store;

use crate::accounts::Environment;
use crate::accounts::keys::used::KeyUses;
use crate::accounts::keys::{KeyGrant, KeyHash, sql};

/// How long an answer is believed. A revoked key must stop within 5 s.
const CACHE_LIFETIME: SignedDuration = SignedDuration::from_secs(2);
/// How many keys are remembered; where a shard has its part of them it is emptied, which costs one read each.
const MAX_CACHED_KEYS: usize = 10_000;
/// In how many shards they stand. A key is looked up far more often than it is put there, by all threads at once.
const SHARDS: usize = 16;

/// Keys that opened an account a moment ago; cheap to clone. Keys that opened nothing are not remembered.
#[derive(Clone, Debug, Default)]
pub struct KeyCache {
    known: Arc<[RwLock<KeyShard>; SHARDS]>,
    /// Which of them were asked for, to be remembered with the keys.
    pub used: KeyUses,
}

type KeyShard = HashMap<KeyHash, (Arc<KeyGrant>, Timestamp)>;

impl KeyCache {
    /// What a key opens.
    ///
    /// # Errors
    /// As [`sql::find_grant`].
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
        // A clock that was set back makes the answer look young: it is asked for again then too.
        let is_young = |since: &Timestamp| now.duration_since(*since).abs() < CACHE_LIFETIME;
        shard.get(hash).filter(|(_, since)| is_young(since)).map(|(grant, _)| Arc::clone(grant))
    }

    fn shard(&self, hash: &KeyHash) -> &RwLock<KeyShard> {
        &self.known[hash.shard(SHARDS)]
    }
}
