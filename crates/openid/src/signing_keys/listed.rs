//! Signing keys as the operator lists them.

use jiff::Timestamp;
use serde::Serialize;
use signpost_platform::accounts::Environment;

use super::rules::{AFTERLIFE, KeyTimes, find_end, find_state};
use super::{KeyState, StoredSigningKey};
use crate::jose::SigningAlgorithm;

/// A key without what signs.
#[derive(Clone, Debug, Serialize)]
pub struct ListedSigningKey {
    /// Its name in headers and in the JWK Set.
    pub kid: String,
    /// Whose tokens it signs.
    pub environment: Environment,
    /// How.
    pub algorithm: SigningAlgorithm,
    /// What it does now.
    pub state: KeyState,
    /// When it was made, and published.
    pub created_at: Timestamp,
    /// From when on it signs.
    pub active_from: Timestamp,
    /// Until when relying parties find it, once it has a successor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_until: Option<Timestamp>,
}

/// Keys of one or both environments, which come in their order, with what they do.
#[must_use]
pub fn describe(keys: &[StoredSigningKey], now: Timestamp) -> Vec<ListedSigningKey> {
    let is_of_one = |one: &StoredSigningKey, next: &StoredSigningKey| {
        (one.environment, one.algorithm) == (next.environment, next.algorithm)
    };
    keys.chunk_by(is_of_one).flat_map(|series| describe_series(series, now)).collect()
}

fn describe_series(series: &[StoredSigningKey], now: Timestamp) -> Vec<ListedSigningKey> {
    let times: Vec<KeyTimes> = series.iter().map(StoredSigningKey::times).collect();
    let listed = |(position, key): (usize, &StoredSigningKey)| ListedSigningKey {
        kid: key.kid.clone(),
        environment: key.environment,
        algorithm: key.algorithm,
        state: find_state(&times, position, now),
        created_at: key.created_at,
        active_from: key.active_from,
        published_until: find_end(&times, position).map(|end| end + AFTERLIFE),
    };
    series.iter().enumerate().map(listed).collect()
}
