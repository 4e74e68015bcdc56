//! An installation for tests.

use super::{
    AdvisoriesSeen, CatalogueSeen, DatabaseSeen, DomainsSeen, EventsSeen, Exposure, Installation, PlacesSeen,
    ServerSeen, SettingsSeen, SurroundingsSeen,
};
use crate::deployment::sealed::PlainTextSecrets;

/// Nothing is wrong with it, and nothing around it was asked.
pub(super) fn sound() -> Installation {
    Installation {
        now: "2026-01-31T00:00:00Z".parse().expect("a time"),
        settings: SettingsSeen {
            database: "/data/signpost.sqlite".to_owned(),
            exposure: Exposure::Public,
            public_url: Some("https://login.test".to_owned()),
            runs_both_services: false,
            has_public_console: false,
            has_seal_key: true,
            data_dir_mode: Some(0o700),
        },
        server: ServerSeen {
            address: "http://127.0.0.1:8080".to_owned(),
            version: Ok(env!("CARGO_PKG_VERSION").to_owned()),
            public_address: Some("https://login.test".to_owned()),
        },
        database: Ok(DatabaseSeen {
            domains: DomainsSeen { live: 1, verified: 1, live_hosted: 1, ..DomainsSeen::default() },
            users: 1,
            pending_sessions: 0,
            events: EventsSeen {
                waiting: 0,
                oldest_waiting_at: None,
                failed: 0,
                failing_endpoints: 0,
                disabled_endpoints: Vec::new(),
            },
            catalogue: CatalogueSeen { machines: 3, sample: false, sources: 1, data_as_of: None },
            failing_feeds: Vec::new(),
            has_encrypted_secrets: true,
            plain_text: PlainTextSecrets::default(),
            unreadable_secrets: None,
            untrusted_proxy: None,
            key_trouble: None,
        }),
        places: Ok(PlacesSeen { places: 10, origin: "built-in" }),
        advisories: Ok(AdvisoriesSeen { rows: 2, overdue: Vec::new() }),
        surroundings: SurroundingsSeen::default(),
    }
}
