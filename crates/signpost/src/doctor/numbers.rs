//! The database in numbers.

use std::sync::Arc;

use anyhow::Result;
use jiff::Timestamp;
use serde::Serialize;
use signpost_atm::catalogue::Catalogue;
use signpost_atm::{catalogue, feeds};
use signpost_login::domains::encryption_key;
use signpost_login::domains::overview::{self, DomainCount};
use signpost_login::{events, sessions, users};
use signpost_openid::jose::makes_rsa;
use signpost_openid::signing_keys;
use signpost_openid::signing_keys::trouble::{KeyTrouble, find_trouble};
use signpost_platform::accounts::Environment;
use signpost_store::Store;

use crate::config::Config;
use crate::deployment::sealed::{self, PlainTextSecrets};
use signpost_server::untrusted_proxy::{self, UntrustedProxy};

/// How far is counted: a look at a large database shall take no longer than a look at a small one.
pub const MOST_COUNTED: u32 = 100_000;
/// How many domains are named whose proof is missing, and how many disabled endpoints.
pub const MOST_NAMED: u32 = 100;

/// The database in numbers, each counted up to [`MOST_COUNTED`].
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct DatabaseSeen {
    pub domains: DomainsSeen,
    pub users: i64,
    pub pending_sessions: i64,
    pub events: EventsSeen,
    pub catalogue: CatalogueSeen,
    pub failing_feeds: Vec<FeedFailing>,
    /// Whether signing secrets are encrypted with the key of a server.
    #[serde(skip)]
    pub has_encrypted_secrets: bool,
    /// The signing secrets and signing keys in plain text.
    #[serde(skip)]
    pub plain_text: PlainTextSecrets,
    /// Why signing secrets cannot be read, if they cannot. Encrypted ones are not read without a key.
    #[serde(skip)]
    pub unreadable_secrets: Option<String>,
    /// The proxy that names clients and is not trusted, if a server saw one.
    #[serde(skip)]
    pub(crate) untrusted_proxy: Option<UntrustedProxy>,
    /// What is wrong with the keys that sign ID tokens, if anything is.
    #[serde(skip)]
    pub key_trouble: Option<KeyTrouble>,
}

/// Domains of all accounts.
#[derive(Debug, Default, Serialize)]
pub struct DomainsSeen {
    /// In live.
    pub live: usize,
    /// In the sandbox.
    pub sandbox: usize,
    /// Verified, in both.
    pub verified: usize,
    /// Live ones with users here.
    pub live_hosted: usize,
    /// Names of verified ones whose proof is missing.
    pub missing_proof: Vec<String>,
}

/// Events and where they go.
#[derive(Debug, Serialize)]
pub struct EventsSeen {
    /// How many wait for an attempt.
    pub waiting: i64,
    /// Since when the first of them does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest_waiting_at: Option<Timestamp>,
    /// How many have failed for good.
    pub failed: i64,
    /// Endpoints that only fail.
    pub failing_endpoints: u32,
    /// Those of them that are disabled, at most [`MOST_NAMED`].
    pub disabled_endpoints: Vec<String>,
}

/// The machines.
#[derive(Debug, Serialize)]
pub struct CatalogueSeen {
    /// How many there are.
    pub machines: usize,
    /// Whether they are the fictional ones.
    pub sample: bool,
    /// How many sources they come from.
    pub sources: usize,
    /// Of when the newest word of any of them is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_as_of: Option<Timestamp>,
}

/// A source whose fetches fail.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct FeedFailing {
    pub name: String,
    pub failures: u32,
    pub error: String,
}

impl DatabaseSeen {
    pub(super) async fn read(
        config: &Config,
        store: &Store,
        served: Option<&Catalogue>,
        now: Timestamp,
    ) -> Result<Self> {
        let snapshot = match served {
            Some(served) => served.snapshot(),
            None => Arc::new(catalogue::load(store, now).await?),
        };
        let feeds = feeds::sql::list(store).await?.into_iter().filter(|feed| feed.failures > 0);
        let (seal, recorded) = (config.login.seal(), encryption_key::find(store).await?);
        let unreadable = if recorded.is_encrypted() && !seal.is_enabled() {
            Ok(())
        } else if let Err(refused) = recorded.admit(&seal) {
            Err(refused.into())
        } else {
            sealed::check(store, &seal).await
        };
        Ok(Self {
            domains: DomainsSeen::read(store).await?,
            users: users::sql::count_up_to(store, MOST_COUNTED).await?,
            pending_sessions: sessions::sql::count_pending_of_newest(store, now, MOST_COUNTED).await?,
            events: EventsSeen::read(store).await?,
            catalogue: CatalogueSeen {
                machines: snapshot.len(),
                sample: snapshot.is_sample(),
                sources: snapshot.sources().count(),
                data_as_of: snapshot.data_as_of(),
            },
            failing_feeds: feeds
                .map(|feed| FeedFailing {
                    name: feed.name,
                    failures: feed.failures,
                    error: feed.last_error.unwrap_or_default(),
                })
                .collect(),
            key_trouble: find_trouble(&signing_keys::sql::list_all(store).await?, makes_rsa(), now),
            has_encrypted_secrets: recorded.is_encrypted(),
            plain_text: sealed::count_plain_text(store).await?,
            untrusted_proxy: untrusted_proxy::find(store).await?,
            unreadable_secrets: unreadable.err().map(|error| format!("{error:#}")),
        })
    }
}

impl DomainsSeen {
    async fn read(store: &Store) -> Result<Self> {
        let mut seen = Self::default();
        for DomainCount { environment, is_hosted, is_verified, count } in
            overview::count_kinds(store, MOST_COUNTED).await?
        {
            seen.verified += if is_verified { count } else { 0 };
            match environment {
                Environment::Live => seen.live += count,
                Environment::Sandbox => seen.sandbox += count,
            }
            seen.live_hosted += if is_hosted && environment == Environment::Live { count } else { 0 };
        }
        let missing = overview::list_missing_proof(store, MOST_NAMED).await?;
        seen.missing_proof = missing.into_iter().map(|domain| domain.name.to_string()).collect();
        Ok(seen)
    }
}

impl EventsSeen {
    async fn read(store: &Store) -> Result<Self> {
        let waiting = events::sql::count_waiting_up_to(store, MOST_COUNTED).await?;
        // The oldest of very many is not looked for: that there are so many says enough.
        let oldest_waiting_at = if waiting < MOST_COUNTED { events::sql::count_waiting(store).await?.1 } else { None };
        let disabled = events::endpoints::list_disabled(store, MOST_NAMED).await?;
        Ok(Self {
            waiting: waiting.into(),
            oldest_waiting_at,
            failed: events::deliveries::count_failed_up_to(store, MOST_COUNTED).await?.into(),
            failing_endpoints: events::endpoints::count_failing_up_to(store, MOST_COUNTED).await?,
            disabled_endpoints: disabled.into_iter().map(|one| one.endpoint).collect(),
        })
    }
}
