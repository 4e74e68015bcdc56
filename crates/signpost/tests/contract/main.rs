//! The service as its users meet it: every test starts a real server and talks HTTP to it over loopback.
//!
//! The actors live in [`harness`]; each other file is one chapter of the contract. Where the contract says that
//! something happens in time, the test moves the server's clock; where it has to wait for another task or process, it
//! looks until it sees it.

mod account;
mod account_guards;
mod account_keys;
mod account_links;
mod authenticate;
mod authentication;
mod bodies;
mod browser_wallet;
mod browsers;
mod cancel;
mod client_secret;
mod codes;
mod commands;
mod conformance;
mod connections;
mod crash;
mod deliveries;
mod demo;
mod desk;
mod documented;
mod domains;
mod errors;
mod events;
mod faults;
mod fuzz;
#[path = "../harness/mod.rs"]
mod harness;
mod hosted;
mod idempotency;
mod interleavings;
mod lightning_wallet;
mod limits;
mod link;
mod link_rules;
mod listing;
mod lnurl;
mod lnurl_wallets;
mod login_page;
mod login_settings;
mod logs;
mod metadata;
#[path = "../../../../tests/mutations.rs"]
mod mutations;
mod number_match;
mod operation;
mod outbox;
mod outbox_cost;
mod own_domain;
mod page_answers;
mod page_flow;
mod page_interleavings;
mod page_races;
mod pages;
mod partitions;
#[path = "../../../../tests/passkey.rs"]
mod passkey;
mod passkey_links;
mod passkey_next_time;
mod passkey_offers;
mod passkey_races;
mod passkey_realms;
mod passkey_refusals;
mod passkeys;
mod program;
mod proofs;
mod proven_keys;
mod races;
mod realms;
mod recheck;
mod reference;
mod refresh;
mod removal;
mod replicas;
mod same_device;
mod serving;
mod sessions;
mod sessions_migrated;
mod shared_limits;
mod signatures;
mod soak;
mod store;
mod stored;
mod through;
mod users;
mod users_managed;
mod users_migrated;
mod waiting;
mod wallet;
