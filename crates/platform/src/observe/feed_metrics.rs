//! Metrics of the feeds, a series for each feed.

use std::sync::atomic::AtomicU64;

use anyhow::Result;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

/// Gauges of a feed, read from the database when the metrics are read.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedGauges {
    /// The name of the feed.
    pub name: String,
    /// The number of failures since the last success.
    pub failures: i64,
    /// The time of the last success, in Unix seconds.
    pub last_success_seconds: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FeedLabels {
    feed: String,
}

/// Appends the metrics of the feeds. The series are created anew, so that removed feeds have none.
pub(super) fn write_feeds(written: &mut String, feeds: &[FeedGauges]) -> Result<()> {
    let failures = Family::<FeedLabels, Gauge>::default();
    let last_success = Family::<FeedLabels, Gauge<f64, AtomicU64>>::default();
    for feed in feeds {
        let labels = FeedLabels { feed: feed.name.clone() };
        failures.get_or_create(&labels).set(feed.failures);
        if let Some(seconds) = feed.last_success_seconds {
            last_success.get_or_create(&labels).set(seconds);
        }
    }
    let mut registry = Registry::with_prefix("signpost");
    registry.register("feed_failures", "Failed fetches of a feed since its last success", failures);
    let help = "Time of the last successful fetch of a feed";
    registry.register_with_unit("feed_last_success_timestamp", help, Unit::Seconds, last_success);
    text::encode_registry(written, &registry)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_feed_has_a_series() {
        let feed = |name: &str, failures, last_success_seconds| FeedGauges {
            name: name.to_owned(),
            failures,
            last_success_seconds,
        };
        let mut written = String::new();
        write_feeds(&mut written, &[feed("btcmap", 0, Some(1.5)), feed("a\"b", 3, None)]).unwrap();
        for line in [
            "signpost_feed_failures{feed=\"btcmap\"} 0",
            "signpost_feed_failures{feed=\"a\\\"b\"} 3",
            "signpost_feed_last_success_timestamp_seconds{feed=\"btcmap\"} 1.5",
        ] {
            assert!(written.lines().any(|found| found == line), "{line} is not in {written}");
        }
        assert_eq!(written.matches("signpost_feed_last_success_timestamp_seconds{").count(), 1, "{written}");
        assert!(!written.contains("# EOF"), "{written}");
        let mut none = String::new();
        write_feeds(&mut none, &[]).unwrap();
        assert_eq!(none, "");
    }
}
