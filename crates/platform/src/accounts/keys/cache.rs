//! Remembers for a moment what a key opens, so that a busy integrator does not ask the database each time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use signpost_store::Store;

use crate::accounts::Environment;
use crate::accounts::keys::used::Used;
use crate::accounts::keys::{KeyHash, Opened, sql};

/// How long an answer is believed. A revoked key must stop within 5 s.
const BELIEVED: SignedDuration = SignedDuration::from_secs(2);
/// How many keys are remembered; at that number all are forgotten, which costs one read each.
const MOST: usize = 10_000;

/// Keys that opened an account a moment ago; cheap to clone. Keys that opened nothing are not remembered.
#[derive(Clone, Debug, Default)]
pub struct KeyCache {
    known: Arc<Mutex<HashMap<KeyHash, (Opened, Timestamp)>>>,
    /// Which of them were asked for, to be remembered with the keys.
    pub used: Used,
}

impl KeyCache {
    /// What a key opens.
    ///
    /// # Errors
    /// As [`sql::find_opened`].
    pub async fn opened(
        &self,
        store: &Store,
        environment: Environment,
        hash: KeyHash,
        now: Timestamp,
    ) -> Result<Option<Opened>> {
        if let Some(opened) = self.remembered(&hash, now) {
            return Ok(Some(opened));
        }
        let opened = sql::find_opened(store, environment, &hash, now).await?;
        if let Some(opened) = &opened {
            self.used.at(&opened.key, now);
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match &opened {
            Some(opened) => {
                if known.len() >= MOST {
                    known.clear();
                }
                known.insert(hash, (opened.clone(), now));
            }
            None => drop(known.remove(&hash)),
        }
        Ok(opened)
    }

    fn remembered(&self, hash: &KeyHash, now: Timestamp) -> Option<Opened> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back makes the answer look young: it is asked for again then too.
        let is_young = |since: &Timestamp| now.duration_since(*since).abs() < BELIEVED;
        known.get(hash).filter(|(_, since)| is_young(since)).map(|(opened, _)| opened.clone())
    }
}
