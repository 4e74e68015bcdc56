//! A sample installation for the tests of the checks.

use super::{
    AdvisoriesFacts, CatalogueFacts, DatabaseFacts, DependencyFacts, DomainsFacts, EventsFacts, Exposure, Installation,
    PlacesFacts, ServerFacts, SettingsFacts,
};
use crate::deployment::sealed::PlainTextSecrets;

/// Returns an installation without problems and without facts about its dependencies.
pub(super) fn healthy_installation() -> Installation {
    Installation {
        now: "2026-01-31T00:00:00Z".parse().expect("a time"),
        settings: SettingsFacts {
            database: "/data/signpost.sqlite".to_owned(),
            exposure: Exposure::Public,
            public_url: Some("https://login.test".to_owned()),
            runs_both_services: false,
            has_public_console: false,
            has_seal_key: true,
            data_dir_mode: Some(0o700),
        },
        server: ServerFacts {
            address: "http://127.0.0.1:8080".to_owned(),
            version: Ok(env!("CARGO_PKG_VERSION").to_owned()),
            public_address: Some("https://login.test".to_owned()),
        },
        database: Ok(DatabaseFacts {
            domains: DomainsFacts { live: 1, verified: 1, live_hosted: 1, ..DomainsFacts::default() },
            users: 1,
            pending_sessions: 0,
            events: EventsFacts {
                waiting: 0,
                oldest_waiting_at: None,
                failed: 0,
                failing_endpoints: 0,
                disabled_endpoints: Vec::new(),
            },
            catalogue: CatalogueFacts { machines: 3, sources: 1, ..CatalogueFacts::default() },
            failing_feeds: Vec::new(),
            has_encrypted_secrets: true,
            plain_text: PlainTextSecrets::default(),
            unreadable_secrets: None,
            untrusted_proxy: None,
            key_problem: None,
        }),
        places: Ok(PlacesFacts { places: 10, origin: "built-in" }),
        advisories: Ok(AdvisoriesFacts { rows: 2, overdue: Vec::new() }),
        dependencies: DependencyFacts::default(),
    }
}
