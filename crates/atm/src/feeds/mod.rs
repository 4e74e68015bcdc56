//! Feeds: sources that are fetched, by conditional requests and with exponential backoff after failures.

mod adding;
mod every;
mod feed;
mod memory;
mod preset;
#[cfg(test)]
mod preset_tests;
mod redirect;
pub mod sql;
mod sync;

pub use adding::{AddPresetError, add_preset_feeds};
pub use feed::{Feed, FetchFailed, SINCE, SyncOutcome, Validators, check_retry_delay, check_url};
pub use memory::FetchMemory;
pub use preset::{AreaCode, InvalidPreset, PRESETS, Preset, PresetArguments, PresetPart, SpiderName};
pub use sync::{FeedFetcher, MAX_CONCURRENT_FETCHES};
