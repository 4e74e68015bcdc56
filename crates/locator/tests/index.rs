//! Property tests that compare the spatial index with a linear search and with kiddo.

use std::num::NonZero;

use kiddo::{ImmutableKdTree, SquaredEuclidean};
use proptest::prelude::*;
use signpost_locator::{Distance, EARTH_RADIUS, Index, IndexMatch, Point};

fn point(lat: f64, lon: f64) -> Point {
    Point::new(lat.clamp(-90.0, 90.0), if lon.abs() > 180.0 { lon - 360.0 * lon.signum() } else { lon })
        .expect("on the earth")
}

/// Computes the expected result by linear search.
fn linear_search(points: &[Point], from: Point, within: Distance, keep: impl Fn(u32) -> bool) -> Vec<IndexMatch> {
    let mut all: Vec<IndexMatch> = (0..)
        .zip(points)
        .map(|(at, &point)| IndexMatch { at, distance: from.distance(point) })
        .filter(|near| near.distance <= within && keep(near.at))
        .collect();
    all.sort_by(|a, b| a.distance.partial_cmp(&b.distance).expect("not NaN").then(a.at.cmp(&b.at)));
    all
}

fn near_point(centre: (f64, f64), spread: f64) -> impl Strategy<Value = Point> {
    (-spread..=spread, -spread..=spread).prop_map(move |(north, east)| point(centre.0 + north, centre.1 + east))
}

/// Returns a strategy for difficult points: dense clusters, the poles, the date line, and coarse grids with many equal
/// and equidistant points.
fn places() -> impl Strategy<Value = Point> {
    prop_oneof![
        (-90.0..=90.0, -180.0..=180.0).prop_map(|(lat, lon)| point(lat, lon)),
        near_point((25.76, -80.19), 0.3),
        near_point((0.0, 180.0), 0.2),
        near_point((90.0, 0.0), 0.5).prop_map(|near| point(near.lat(), near.lon() * 360.0)),
        near_point((-90.0, 180.0), 0.5).prop_map(|near| point(near.lat(), (near.lon().abs() - 179.0) * 100.0)),
        (-2..=2_i32, -2..=2_i32).prop_map(|(lat, lon)| point(f64::from(lat) / 64.0, f64::from(lon) / 64.0)),
        (0..=3_i32, -6..=6_i32).prop_map(|(lat, lon)| point(f64::from(lat) * 30.0, f64::from(lon) * 30.0)),
    ]
}

fn radii() -> impl Strategy<Value = Distance> {
    prop_oneof![
        Just(0.0),
        0.0..10.0_f64,
        0.0..200_000.0_f64,
        0.0..25_000_000.0_f64,
        Just(f64::INFINITY),
        Just(EARTH_RADIUS.in_metres() * std::f64::consts::FRAC_PI_2),
    ]
    .prop_map(Distance::metres)
}

fn positions(near: &[IndexMatch]) -> Vec<u32> {
    sorted(near.iter().map(|near| near.at).collect())
}

fn sorted(mut at: Vec<u32>) -> Vec<u32> {
    at.sort_unstable();
    at
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, ..ProptestConfig::default() })]

    #[test]
    fn search_equals_linear_search(
        points in prop::collection::vec(places(), 0..200),
        from in places(),
        within in radii(),
        k in 0..20_usize,
        every in 1..4_u32,
    ) {
        let index = Index::build(&points);
        let keep = |at: u32| at.is_multiple_of(every);
        let expected = linear_search(&points, from, within, keep);
        prop_assert_eq!(sorted(index.within(from, within, keep)), positions(&expected));
        let nearest = &expected[..k.min(expected.len())];
        prop_assert_eq!(index.nearest(from, within, k, keep), nearest);
        prop_assert_eq!(index.nearest_and_count(from, within, k, keep), (nearest.to_vec(), expected.len()));
    }

    #[test]
    fn radius_includes_its_boundary(
        points in prop::collection::vec(places(), 1..60),
        from in places(),
    ) {
        let index = Index::build(&points);
        for &end in &points {
            let within = from.distance(end);
            let expected = linear_search(&points, from, within, |_| true);
            prop_assert_eq!(index.nearest_and_count(from, within, 1, |_| true).1, expected.len());
            prop_assert_eq!(sorted(index.within(from, within, |_| true)), positions(&expected));
        }
    }

    #[test]
    fn distances_equal_those_of_kiddo(
        points in prop::collection::vec(places(), 1..200),
        from in places(),
        k in 1..20_usize,
    ) {
        let vector = |point: Point| {
            let (lat, lon) = (point.lat().to_radians(), point.lon().to_radians());
            [lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()]
        };
        let vectors: Vec<[f64; 3]> = points.iter().copied().map(vector).collect();
        let kiddo = ImmutableKdTree::new_from_slice(&vectors).expect("a tree");
        let theirs = kiddo.query(&vector(from)).nearest_n::<SquaredEuclidean<f64>>(NonZero::new(k).unwrap()).execute();
        let ours = Index::build(&points).nearest(from, Distance::metres(f64::INFINITY), k, |_| true);
        prop_assert_eq!(ours.len(), theirs.len());
        for (ours, theirs) in ours.iter().zip(&theirs) {
            let chord = 2.0 * (ours.distance.in_metres() / EARTH_RADIUS.in_metres() / 2.0).sin();
            prop_assert!((chord - theirs.distance.sqrt()).abs() < 1e-12, "{:?} {:?}", ours, theirs);
        }
    }

    #[test]
    fn distances_follow_the_haversine_formula(from in places(), to in places()) {
        let half = |a: f64, b: f64| ((b - a).to_radians() / 2.0).sin().powi(2);
        let haversine = half(from.lat(), to.lat())
            + from.lat().to_radians().cos() * to.lat().to_radians().cos() * half(from.lon(), to.lon());
        let metres = 2.0 * EARTH_RADIUS.in_metres() * haversine.sqrt().min(1.0).asin();
        // Near the antipode, both formulas have an error of a few centimetres.
        let tolerance = if metres > 19e6 { 0.2 } else { 2e-6 };
        prop_assert!((from.distance(to).in_metres() - metres).abs() < tolerance);
    }
}

#[test]
fn ties_are_ordered_as_in_the_slice() {
    let ring: Vec<Point> = (0..360).map(|lon| point(80.0, f64::from(lon - 180))).collect();
    let index = Index::build(&ring);
    let at = |near: &[IndexMatch]| near.iter().map(|near| near.at).collect::<Vec<_>>();
    let first: Vec<u32> = (0..7).collect();
    assert_eq!(at(&index.nearest(point(90.0, 0.0), Distance::miles(1_000.0), 7, |_| true)), first);

    let one_place = vec![point(25.76, -80.19); 1_000];
    let index = Index::build(&one_place);
    assert_eq!(at(&index.nearest(one_place[0], Distance::metres(0.0), 7, |_| true)), first);
    assert_eq!(index.within(one_place[0], Distance::metres(0.0), |at| at >= 400).len(), 600);
}

#[test]
fn empty_index_and_invalid_radius_find_nothing() {
    let miami = point(25.76, -80.19);
    assert!(Index::build(&[]).nearest(miami, Distance::miles(25.0), 10, |_| true).is_empty());
    let index = Index::build(&[miami]);
    assert_eq!((index.len(), index.is_empty()), (1, false));
    for nowhere in [-1.0, f64::NAN, f64::NEG_INFINITY] {
        assert!(index.nearest(miami, Distance::metres(nowhere), 10, |_| true).is_empty());
        assert!(index.within(miami, Distance::metres(nowhere), |_| true).is_empty());
    }
    assert!(index.nearest(miami, Distance::miles(25.0), 0, |_| true).is_empty());
}

#[test]
fn filter_is_called_only_within_the_radius() {
    let points: Vec<Point> = (0..180).map(|lon| point(0.0, f64::from(lon))).collect();
    let mut asked = Vec::new();
    let _ = Index::build(&points).nearest(points[3], Distance::kilometres(120.0), 10, |at| {
        asked.push(at);
        true
    });
    asked.sort_unstable();
    assert_eq!(asked, [2, 3, 4]);
}

#[test]
fn search_for_any_point_stops_at_the_first() {
    let crowd = vec![point(30.0, -97.0); 10_000];
    let index = Index::build(&crowd);
    let within = |metres| {
        let mut asked = 0;
        let accepts = |at| {
            asked += 1;
            at != 0
        };
        let is_found = index.any_within(point(30.000_1, -97.0), Distance::metres(metres), accepts);
        (is_found, asked <= 2)
    };
    assert_eq!((within(10.0), within(12.0)), ((false, true), (true, true)));
    let asked = std::cell::Cell::new(0);
    let reject = |_| {
        asked.set(asked.get() + 1);
        false
    };
    assert_eq!(index.nearest_of_first(crowd[0], Distance::metres(1.0), 5, 100, reject), []);
    assert_eq!(asked.get(), 100);
    let all = index.nearest_of_first(crowd[0], Distance::metres(1.0), 5, usize::MAX, |_| true);
    assert_eq!(positions(&all), [0, 1, 2, 3, 4]);
}
