//! Builds the list of signing keys for the operator.

use jiff::Timestamp;
use serde::Serialize;
use signpost_platform::accounts::Environment;

use super::rules::{RETIREMENT_PERIOD, find_end, find_state};
use super::{KeyState, StoredSigningKey, series, times};
use crate::jose::SigningAlgorithm;

/// A signing key without its private key.
#[derive(Clone, Debug, Serialize)]
pub struct ListedSigningKey {
    /// The ID in token headers and in the JWK Set.
    pub kid: String,
    /// The environment of its tokens.
    pub environment: Environment,
    /// The algorithm.
    pub algorithm: SigningAlgorithm,
    /// The state now.
    pub state: KeyState,
    /// The time when it was generated and published.
    pub created_at: Timestamp,
    /// The time when it starts to sign.
    pub active_from: Timestamp,
    /// The time when it is no longer published, if it has a successor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_until: Option<Timestamp>,
}

/// Returns the list of ordered keys of one or both environments.
#[must_use]
pub fn describe(keys: &[StoredSigningKey], now: Timestamp) -> Vec<ListedSigningKey> {
    let mut listed = Vec::new();
    for series in series(keys) {
        let times = times(series);
        for (position, key) in series.iter().enumerate() {
            listed.push(ListedSigningKey {
                kid: key.kid.clone(),
                environment: key.environment,
                algorithm: key.algorithm,
                state: find_state(&times, position, now),
                created_at: key.created_at,
                active_from: key.active_from,
                published_until: find_end(&times, position).map(|end| end + RETIREMENT_PERIOD),
            });
        }
    }
    listed
}
