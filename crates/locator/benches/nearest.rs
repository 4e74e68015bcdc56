//! Benchmark of spatial searches, in nanoseconds: the 10 nearest points within 25 miles (this index with and without a
//! filter, compared with kiddo), and all points within 10 miles.
//!
//! `cargo bench -p signpost-locator --bench nearest`. The variants alternate in each round, and the fastest round
//! counts, to reduce the effect of other load.

use std::hint::black_box;
use std::num::NonZero;
use std::time::{Duration, Instant};

use kiddo::{ImmutableKdTree, SquaredEuclidean};
use signpost_locator::{Distance, EARTH_RADIUS, Index, Point};

const ROUNDS: usize = 7;
const QUERIES: usize = 20_000;
const K: NonZero<usize> = NonZero::new(10).expect("not zero");
const WITHIN: Distance = Distance::miles(25.0);
const AROUND: Distance = Distance::miles(10.0);

fn main() {
    // `cargo test --benches` also runs this function. It then compares the results without measuring.
    let rounds = if std::env::args().any(|arg| arg == "--bench") { ROUNDS } else { 0 };
    // Preparing ten million points needs half a minute, so they are used only for measurements.
    let counts = if rounds == 0 { &[40_000][..] } else { &[40_000, 1_000_000, 10_000_000] };
    for count in counts {
        measure(*count, rounds);
    }
}

fn measure(count: usize, rounds: usize) {
    let mut numbers = Numbers(42);
    let cities: Vec<Point> = (0..2_000).map(|_| numbers.anywhere()).collect();
    let points: Vec<Point> = (0..count).map(|_| numbers.near_city(&cities)).collect();
    let queries: Vec<Point> = (0..QUERIES).map(|_| numbers.near_city(&cities)).collect();
    let start = Instant::now();
    let index = Index::build(&points);
    println!("{count} points: built in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    let kiddo =
        ImmutableKdTree::new_from_slice(&points.iter().copied().map(vector).collect::<Vec<_>>()).expect("built");
    let chord = (2.0 * (WITHIN.in_metres() / EARTH_RADIUS.in_metres() / 2.0).sin()).powi(2);

    let ours = |from: Point| index.nearest(from, WITHIN, K.get(), |_| true);
    // Accepts three of ten points, like a filter for ATMs that pay out cash.
    let filtered = |from: Point| index.nearest(from, WITHIN, K.get(), |at| at % 10 < 3);
    let theirs = |from: Point| kiddo.query(&vector(from)).nearest_n::<SquaredEuclidean<f64>>(K).within(chord).execute();
    let mut found = 0;
    for &from in &queries {
        let (ours, theirs) = (ours(from), theirs(from));
        assert_eq!(ours.len(), theirs.len(), "at {from:?}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            let metres = 2.0 * EARTH_RADIUS.in_metres() * (theirs.distance.sqrt() / 2.0).asin();
            assert!((ours.distance.in_metres() - metres).abs() < 1e-6, "at {from:?}: {ours:?}, kiddo {metres}");
        }
        found += ours.len();
    }
    println!("  answers agree, {:.1} on average", per_query(found));

    let all = |from: Point| index.within(from, AROUND, |_| true);
    // The number of hits grows with the number of ATMs, so the number of queries is reduced.
    let few = &queries[..QUERIES * 40_000 / count];
    let around: usize = few.iter().map(|from| all(*from).len()).sum();
    let mut fastest = [Duration::MAX; 4];
    for _ in 0..rounds {
        fastest[0] = fastest[0].min(time(&queries, ours));
        fastest[1] = fastest[1].min(time(&queries, filtered));
        fastest[2] = fastest[2].min(time(&queries, theirs));
        fastest[3] = fastest[3].min(time(few, all));
    }
    if rounds > 0 {
        let [ours, filtered, theirs, all] = fastest.map(|all| per_query(all.as_nanos()));
        #[expect(clippy::cast_precision_loss, reason = "a few digits are enough to read")]
        let share = QUERIES as f64 / few.len() as f64;
        let (all, hits) = (all * share, per_query(around) * share);
        println!(
            "  all within 10 miles: {all:.0} ns for {hits:.0} hits, {:.2} x the goal of 500 ns and 10 a hit",
            all / (500.0 + 10.0 * hits)
        );
        println!("  ours {ours:.0} ns, filtered {filtered:.0} ns, kiddo {theirs:.0} ns");
        println!("  ours is {:.2} x kiddo, filtered {:.2} x ours unfiltered", ours / theirs, filtered / ours);
        // `make bench` parses these lines.
        println!("RESULT\tnearest_{count}\t{}", ours / theirs);
    }
}

fn time<T>(queries: &[Point], search: impl Fn(Point) -> T) -> Duration {
    let start = Instant::now();
    for &from in queries {
        black_box(search(black_box(from)));
    }
    start.elapsed()
}

#[expect(clippy::cast_precision_loss, reason = "a few digits are enough to read")]
fn per_query(total: impl TryInto<u64>) -> f64 {
    total.try_into().unwrap_or(u64::MAX) as f64 / QUERIES as f64
}

fn vector(point: Point) -> [f64; 3] {
    let (lat, lon) = (point.lat().to_radians(), point.lon().to_radians());
    [lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()]
}

/// A deterministic generator of pseudorandom numbers (`SplitMix64`).
struct Numbers(u64);

impl Numbers {
    /// Returns a number between 0 (inclusive) and 1 (exclusive).
    #[expect(clippy::cast_precision_loss, reason = "the upper 53 bits fit")]
    fn fraction(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn anywhere(&mut self) -> Point {
        Point::new(25.0 + 24.0 * self.fraction(), -124.0 + 57.0 * self.fraction()).expect("in the United States")
    }

    /// Returns a point near a city, distributed like ATMs: most points are in the first cities and close to their
    /// centres.
    fn near_city(&mut self, cities: &[Point]) -> Point {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index"
        )]
        let city = cities[(self.fraction().powi(4) * cities.len() as f64) as usize];
        let (radius, angle) = (0.3 * self.fraction().powi(2), std::f64::consts::TAU * self.fraction());
        Point::new(city.lat() + radius * angle.sin(), city.lon() + radius * angle.cos()).expect("near the city")
    }
}
