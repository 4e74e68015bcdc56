//! Collects the facts about the database that the checks use, such as the numbers of domains and
//! pending events.

use std::sync::Arc;

use anyhow::Result;
use jiff::Timestamp;
use serde::Serialize;
use signpost_atm::catalogue::Catalogue;
use signpost_atm::{catalogue, feeds};
use signpost_login::domains::encryption_key;
use signpost_login::domains::overview::{self, DomainCount};
use signpost_login::{events, sessions, users};
use signpost_openid::jose::supports_rsa;
use signpost_openid::signing_keys;
use signpost_openid::signing_keys::problem::{KeyProblem, find_problem};
use signpost_platform::accounts::Environment;
use signpost_store::Store;

use crate::config::Config;
use crate::deployment::sealed::{self, PlainTextSecrets};
use signpost_server::untrusted_proxy::{self, UntrustedProxy};

/// Maximum value of a count, so that counting in a large database takes no longer than in a small
/// one.
pub const MAX_COUNTED: u32 = 100_000;
/// Maximum number of named domains without a proof, and of named disabled endpoints.
pub const MAX_NAMED: u32 = 100;

/// The facts about the database that the checks use. Counts end at [`MAX_COUNTED`].
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct DatabaseFacts {
    pub domains: DomainsFacts,
    pub users: i64,
    pub pending_sessions: i64,
    pub events: EventsFacts,
    pub catalogue: CatalogueFacts,
    pub failing_feeds: Vec<FailingFeed>,
    /// Whether signing secrets are encrypted with the key of a server.
    #[serde(skip)]
    pub has_encrypted_secrets: bool,
    /// The signing secrets and signing keys in plain text.
    #[serde(skip)]
    pub plain_text: PlainTextSecrets,
    /// The reason why signing secrets cannot be read. Encrypted secrets are not read without a key.
    #[serde(skip)]
    pub unreadable_secrets: Option<String>,
    /// The proxy, if any, that sends client addresses in its headers but is not among the trusted
    /// proxies.
    #[serde(skip)]
    pub(crate) untrusted_proxy: Option<UntrustedProxy>,
    /// The problem of the signing keys of ID tokens.
    #[serde(skip)]
    pub key_problem: Option<KeyProblem>,
}

/// The numbers of domains in all accounts.
#[derive(Debug, Default, Serialize)]
pub struct DomainsFacts {
    /// Number of live domains.
    pub live: usize,
    /// Number of sandbox domains.
    pub sandbox: usize,
    /// Number of verified domains in both environments.
    pub verified: usize,
    /// Number of live domains with the hosted handler.
    pub live_hosted: usize,
    /// Names of verified domains with a missing proof.
    pub missing_proof: Vec<String>,
}

/// The numbers of events, and the failing endpoints.
#[derive(Debug, Serialize)]
pub struct EventsFacts {
    /// Number of pending events.
    pub waiting: i64,
    /// Creation time of the oldest pending event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest_waiting_at: Option<Timestamp>,
    /// Number of permanently failed events.
    pub failed: i64,
    /// Number of failing endpoints.
    pub failing_endpoints: u32,
    /// The disabled endpoints, at most [`MAX_NAMED`].
    pub disabled_endpoints: Vec<String>,
}

/// The number, the sources and the age of the ATMs.
#[derive(Debug, Default, Serialize)]
pub struct CatalogueFacts {
    /// Number of ATMs in the catalogue.
    pub machines: usize,
    /// Whether the ATMs are the fictional samples.
    pub sample: bool,
    /// Number of sources.
    pub sources: usize,
    /// Time of the newest report or check of an ATM by its source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_as_of: Option<Timestamp>,
    /// Time of the oldest report or check, if it is more than a year before the newest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest_data_as_of: Option<Timestamp>,
    /// Number of ATMs without a date.
    pub undated: usize,
    /// Time of the last import.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported_at: Option<Timestamp>,
}

/// A feed of ATMs whose last fetch failed.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct FailingFeed {
    pub name: String,
    pub failures: u32,
    pub error: String,
}

impl DatabaseFacts {
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
        let dates = snapshot.dates();
        let feeds = feeds::sql::list(store).await?.into_iter().filter(|feed| feed.failures > 0);
        let seal = config.login.seal();
        let recorded = encryption_key::find(store).await?;
        let unreadable = if recorded.is_encrypted() && !seal.is_enabled() {
            Ok(())
        } else if let Err(refused) = recorded.admit(&seal) {
            Err(refused.into())
        } else {
            sealed::check(store, &seal).await
        };
        Ok(Self {
            domains: DomainsFacts::read(store).await?,
            users: users::sql::count_up_to(store, MAX_COUNTED).await?,
            pending_sessions: sessions::sql::count_pending_of_newest(store, now, MAX_COUNTED).await?,
            events: EventsFacts::read(store).await?,
            catalogue: CatalogueFacts {
                machines: snapshot.len(),
                sample: snapshot.is_sample(),
                sources: snapshot.sources().count(),
                data_as_of: dates.newest,
                oldest_data_as_of: dates.oldest_if_distant(),
                undated: dates.undated,
                imported_at: snapshot.imported_at(),
            },
            failing_feeds: feeds
                .map(|feed| FailingFeed {
                    name: feed.name,
                    failures: feed.failures,
                    error: feed.last_error.unwrap_or_default(),
                })
                .collect(),
            key_problem: find_problem(&signing_keys::sql::list_all(store).await?, supports_rsa(), now),
            has_encrypted_secrets: recorded.is_encrypted(),
            plain_text: sealed::count_plain_text(store).await?,
            untrusted_proxy: untrusted_proxy::find(store).await?,
            unreadable_secrets: unreadable.err().map(|error| format!("{error:#}")),
        })
    }
}

impl DomainsFacts {
    async fn read(store: &Store) -> Result<Self> {
        let mut seen = Self::default();
        for DomainCount { environment, is_hosted, is_verified, count } in
            overview::count_kinds(store, MAX_COUNTED).await?
        {
            seen.verified += if is_verified { count } else { 0 };
            match environment {
                Environment::Live => seen.live += count,
                Environment::Sandbox => seen.sandbox += count,
            }
            seen.live_hosted += if is_hosted && environment == Environment::Live { count } else { 0 };
        }
        let missing = overview::list_missing_proof(store, MAX_NAMED).await?;
        seen.missing_proof = missing.into_iter().map(|domain| domain.name.to_string()).collect();
        Ok(seen)
    }
}

impl EventsFacts {
    async fn read(store: &Store) -> Result<Self> {
        let waiting = events::sql::count_waiting_up_to(store, MAX_COUNTED).await?;
        // The oldest event is not determined if there are very many events.
        let oldest_waiting_at = if waiting < MAX_COUNTED { events::sql::count_waiting(store).await?.1 } else { None };
        let disabled = events::endpoints::list_disabled(store, MAX_NAMED).await?;
        Ok(Self {
            waiting: waiting.into(),
            oldest_waiting_at,
            failed: events::deliveries::count_failed_up_to(store, MAX_COUNTED).await?.into(),
            failing_endpoints: events::endpoints::count_failing_up_to(store, MAX_COUNTED).await?,
            disabled_endpoints: disabled.into_iter().map(|one| one.endpoint).collect(),
        })
    }
}
