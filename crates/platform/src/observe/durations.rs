//! A lock-free histogram of durations. It is lock-free because every request updates it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::{MetricType, TypedMetric};

/// Upper bounds of the histogram buckets in seconds, from an in-memory call to a wait for another
/// host.
const SECONDS: [f64; 14] = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

/// A histogram of durations. It is cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct DurationHistogram(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// Number of durations per bucket of [`SECONDS`]; the last bucket has no upper bound.
    buckets: [AtomicU64; SECONDS.len() + 1],
    nanos: AtomicU64,
}

impl DurationHistogram {
    /// Adds a duration to the histogram.
    pub(crate) fn observe(&self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        let index = SECONDS.partition_point(|bound| *bound < seconds);
        self.0.buckets[index].fetch_add(1, Ordering::Relaxed);
        self.0.nanos.fetch_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl EncodeMetric for DurationHistogram {
    fn encode(&self, mut encoder: MetricEncoder) -> fmt::Result {
        let bounds = SECONDS.into_iter().chain([f64::INFINITY]);
        let counts = self.0.buckets.iter().map(|count| count.load(Ordering::Relaxed));
        let buckets: Vec<_> = bounds.zip(counts).collect();
        let sum = Duration::from_nanos(self.0.nanos.load(Ordering::Relaxed)).as_secs_f64();
        encoder.encode_histogram::<NoLabelSet>(sum, buckets.iter().map(|(_, count)| count).sum(), &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

impl TypedMetric for DurationHistogram {
    const TYPE: MetricType = MetricType::Histogram;
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;
    use prometheus_client::metrics::histogram::Histogram;
    use prometheus_client::registry::Registry;

    use super::*;

    #[test]
    fn histogram_equals_that_of_the_library() {
        let (mut actual, mut expected) = (Registry::default(), Registry::default());
        let (durations, histogram) = (DurationHistogram::default(), Histogram::new(SECONDS));
        actual.register("duration", "Time", durations.clone());
        expected.register("duration", "Time", histogram.clone());
        // Multiples of a power of two have an exact sum.
        for duration in [0.0, 0.5, 0.5, 1.0, 1.25, 30.0, 31.0, 0.001_953_125] {
            durations.observe(Duration::from_secs_f64(duration));
            histogram.observe(duration);
        }
        let [actual, expected] = [actual, expected].map(|registry| {
            let mut text = String::new();
            encode(&mut text, &registry).map(|()| text).unwrap()
        });
        assert_eq!(actual, expected);
        assert!(actual.contains("le=\"0.5\"} 4"), "{actual}");
    }
}
