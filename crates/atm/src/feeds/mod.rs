//! Feeds: sources that are fetched. Asked politely: with what their server said last time, so that it can answer that
//! nothing changed, and after a failure ever more rarely.

mod every;
mod feed;
mod memory;
pub mod sql;
mod sync;

pub use feed::{Feed, FetchFailed, SINCE, Synced, Validators, check_url, check_wait};
pub use memory::FetchMemory;
pub use sync::{FeedFetcher, MAX_CONCURRENT_FETCHES};
