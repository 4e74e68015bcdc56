//! Remembers for a moment what a key opens, so that a busy integrator does not ask the database each time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use signpost_store::Store;

use crate::accounts::Environment;
use crate::accounts::keys::used::KeyUses;
use crate::accounts::keys::{KeyGrant, KeyHash, sql};

/// How long an answer is believed. A revoked key must stop within 5 s.
const CACHE_LIFETIME: SignedDuration = SignedDuration::from_secs(2);
/// How many keys are remembered; at that number all are forgotten, which costs one read each.
const MAX_CACHED_KEYS: usize = 10_000;

/// Keys that opened an account a moment ago; cheap to clone. Keys that opened nothing are not remembered.
#[derive(Clone, Debug, Default)]
pub struct KeyCache {
    known: Arc<Mutex<HashMap<KeyHash, (KeyGrant, Timestamp)>>>,
    /// Which of them were asked for, to be remembered with the keys.
    pub used: KeyUses,
}

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
    ) -> Result<Option<KeyGrant>> {
        if let Some(grant) = self.find_cached(&hash, now) {
            return Ok(Some(grant));
        }
        let grant = sql::find_grant(store, environment, &hash, now).await?;
        if let Some(grant) = &grant {
            self.used.record(&grant.key, now);
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match &grant {
            Some(grant) => {
                if known.len() >= MAX_CACHED_KEYS {
                    known.clear();
                }
                known.insert(hash, (grant.clone(), now));
            }
            None => drop(known.remove(&hash)),
        }
        Ok(grant)
    }

    fn find_cached(&self, hash: &KeyHash, now: Timestamp) -> Option<KeyGrant> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back makes the answer look young: it is asked for again then too.
        let is_young = |since: &Timestamp| now.duration_since(*since).abs() < CACHE_LIFETIME;
        known.get(hash).filter(|(_, since)| is_young(since)).map(|(grant, _)| grant.clone())
    }
}
