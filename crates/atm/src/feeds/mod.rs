//! Feeds: sources that are fetched, by conditional requests and with exponential backoff after failures.

mod every;
mod feed;
mod memory;
pub mod sql;
mod sync;

pub use feed::{Feed, FetchFailed, SINCE, SyncOutcome, Validators, check_retry_delay, check_url};
pub use memory::FetchMemory;
pub use sync::{FeedFetcher, MAX_CONCURRENT_FETCHES};
