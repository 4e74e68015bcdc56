//! A queueing model of the writer thread. Write requests wait for the writer, which processes all
//! waiting requests as a batch and responds when the batch is on disk. From the latency of a single
//! request and the maximum throughput, the model predicts the latencies for every request rate. It
//! is pure: the arrival times are an argument.

use std::time::Duration;

/// The measured costs of a writer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Writer {
    /// Fixed cost of a batch in seconds, for the write to disk.
    pub batch: f64,
    /// Additional cost of each request in seconds.
    pub each: f64,
}

/// Predicted or measured latencies in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latency {
    /// The 50th percentile.
    pub p50: f64,
    /// The 99th percentile.
    pub p99: f64,
}

impl Writer {
    /// Derives the costs from the latency of a single request and the maximum number of requests
    /// per second.
    #[must_use]
    pub fn of(alone: Duration, max_per_second: f64) -> Self {
        let each = 1.0 / max_per_second;
        Self { batch: (alone.as_secs_f64() - each).max(0.0), each }
    }

    /// Predicts the latencies of requests that arrive at these times (in seconds, sorted), with
    /// batches of at most `max_batch` requests.
    ///
    /// # Panics
    /// Panics if there are no arrivals.
    #[must_use]
    pub fn latency(self, arrivals: &[f64], max_batch: usize) -> Latency {
        let (mut latencies, mut free, mut next) = (Vec::with_capacity(arrivals.len()), 0.0_f64, 0);
        while let Some(first) = arrivals.get(next) {
            let begins = free.max(*first);
            let waiting = arrivals[next..].iter().take(max_batch).take_while(|arrival| **arrival <= begins).count();
            free = begins + self.batch + self.each * f64::from(u32::try_from(waiting).unwrap_or(u32::MAX));
            latencies.extend(arrivals[next..next + waiting].iter().map(|arrival| free - arrival));
            next += waiting;
        }
        Latency::of(latencies)
    }
}

impl Latency {
    /// Returns the percentiles of these latencies.
    ///
    /// # Panics
    /// Panics if there are no latencies.
    #[must_use]
    pub fn of(mut latencies: Vec<f64>) -> Self {
        latencies.sort_unstable_by(f64::total_cmp);
        Self { p50: latencies[latencies.len() / 2], p99: latencies[latencies.len() * 99 / 100] }
    }
}

/// Returns random arrival times at this rate per second, with a fixed seed. They are rounded up to
/// milliseconds, the timer resolution of load generators.
#[must_use]
pub fn arrivals(per_second: f64, seconds: f64) -> Vec<f64> {
    let (mut at, mut state, mut all) = (0.0, 42_u64, Vec::new());
    loop {
        // The generator is SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        #[expect(clippy::cast_precision_loss, reason = "the upper 53 bits fit")]
        let fraction = ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
        at -= (1.0 - fraction).ln() / per_second;
        if at > seconds {
            return all;
        }
        all.push((at * 1e3).ceil() / 1e3);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Writer, arrivals};

    const MAX_BATCH: usize = 256;

    #[test]
    fn single_request_does_not_wait() {
        let writer = Writer::of(Duration::from_millis(2), 10_000.0);
        let latency = writer.latency(&[1.0, 2.0, 3.0], MAX_BATCH);
        assert!((latency.p50 - 0.002).abs() < 1e-9 && (latency.p99 - 0.002).abs() < 1e-9, "{latency:?}");
    }

    #[test]
    fn requests_during_a_batch_share_the_next() {
        let writer = Writer { batch: 1.0, each: 0.1 };
        // The first request is written until 1.1, and the next three together until 2.4.
        let latency = writer.latency(&[0.0, 0.1, 0.2, 0.3], MAX_BATCH);
        assert!((latency.p50 - 2.2).abs() < 1e-9 && (latency.p99 - 2.3).abs() < 1e-9, "{latency:?}");
        // In batches of two, they are written until 2.3 and 3.4.
        assert!((writer.latency(&[0.0, 0.1, 0.2, 0.3], 2).p99 - 3.1).abs() < 1e-9);
    }

    #[test]
    fn arrivals_are_deterministic() {
        let some = arrivals(2_000.0, 10.0);
        assert!((19_000..21_000).contains(&some.len()), "{}", some.len());
        assert!(some.is_sorted());
        assert_eq!(some, arrivals(2_000.0, 10.0));
    }

    #[test]
    fn overload_increases_latency() {
        let writer = Writer { batch: 0.001, each: 0.001 };
        let short = writer.latency(&arrivals(2_000.0, 1.0), MAX_BATCH).p99;
        assert!(writer.latency(&arrivals(2_000.0, 4.0), MAX_BATCH).p99 > short * 3.0);
    }
}
