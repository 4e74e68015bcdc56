//! Tests of the inline SVG drawing of ATMs.

use proptest::prelude::*;
use signpost_platform::pages::Language;

use super::*;
use crate::places::Places;

const MAX_BYTES: usize = 40_000;

fn point(lat: f64, lon: f64) -> Point {
    Point::new(lat, lon).expect("on the earth")
}

fn machine(number: u32, point: Point) -> FigureAtm {
    FigureAtm { number, point, shape: StatusShape::ALL[number as usize % StatusShape::ALL.len()] }
}

fn draw(middle: Point, machines: &[FigureAtm], gazetteer: &Gazetteer) -> String {
    let origin = PublicOrigin::new("https://atms.test");
    let scene = FigureScene {
        language: Language::English,
        unit: RingUnit::Miles,
        origin: &origin,
        middle,
        middle_name: Some("<b>Austin</b>"),
        center: FigureCenter::Place,
        machines,
        gazetteer,
        attribution: &["© OpenStreetMap contributors"],
    };
    draw_figure(&scene).into_string()
}

fn no_places() -> std::sync::Arc<Gazetteer> {
    Places::none().unwrap().now()
}

/// Counts the occurrences of a text in a page.
fn count(page: &str, text: &str) -> usize {
    page.matches(text).count()
}

#[test]
fn drawing_has_every_atm_with_number_and_shape() {
    let middle = point(30.267, -97.743);
    let machines: Vec<_> =
        (1..=5).map(|number| machine(number, point(30.2 + f64::from(number) * 0.03, -97.8))).collect();
    let page = draw(middle, &machines, &Gazetteer::embedded());
    for number in 1..=5 {
        assert_eq!(count(&page, &format!(">{number}</text>")), 1, "{page}");
    }
    for (shape, words) in StatusShape::ALL.iter().zip(["Filled disc", "Ring:", "Ring with a bar", "Square", "Diamond"])
    {
        assert_eq!(count(&page, &format!("class=\"m-pin {}\"", shape.class())), 1, "{page}");
        assert_eq!(count(&page, words), 1, "{words}");
    }
    assert!(page.contains("aria-label=\"Map of 5 machines around &lt;b&gt;Austin&lt;/b&gt;. The list says the same"));
    assert!(
        page.contains("Rings at 2, 4 and 6 miles. Cross: the place that distances count from. North is up."),
        "{page}"
    );
    assert!(page.contains("© OpenStreetMap contributors"));
    assert!(page.contains("href=\"/map#") && page.contains("/30.26700/-97.74300\""), "{page}");
    assert!(page.contains(">West Lake Hills</text>") || page.contains(">Rollingwood</text>"), "{page}");
    for inline in ["style=", "<style", "<script", "http"] {
        assert!(!page.contains(inline), "{inline}: {page}");
    }
}

#[test]
fn drawing_without_atms_has_a_notice() {
    let page = draw(point(0.0, 0.0), &[], &no_places());
    assert!(page.contains("No machine is on it."), "{page}");
    assert_eq!(count(&page, "m-pin"), 0);
}

#[test]
fn distant_atm_does_not_compress_the_others() {
    let middle = point(30.0, -97.0);
    let mut machines: Vec<_> =
        (1..=19).map(|number| machine(number, point(30.0 + f64::from(number) * 0.005, -97.0))).collect();
    machines.push(machine(20, point(48.0, -122.0)));
    let page = draw(middle, &machines, &no_places());
    assert!(page.contains("1 machine is farther away than the map shows."), "{page}");
    assert!(page.contains("Rings at 2, 4 and 6 miles."), "{page}");
    assert!(!page.contains(">20</text>"), "{page}");
}

#[test]
fn drawing_of_ten_thousand_atms_is_bounded() {
    let middle = point(30.0, -97.0);
    let machines: Vec<_> = (1..=10_000).map(|number| machine(number, middle)).collect();
    let page = draw(middle, &machines, &no_places());
    let numbered = count(&page, "m-pin");
    assert!((5..=MAX_NUMBERED).contains(&numbered), "{numbered}");
    assert!(page.contains(&format!("{} machines have small signs without a number.", 10_000 - numbered)), "{page}");
    assert!(page.len() < MAX_BYTES, "{}", page.len());
}

#[test]
fn largest_drawing_is_bounded() {
    let machines: Vec<_> = (0..10_000)
        .map(|number| {
            machine(number, point(30.0 + f64::from(number % 100) * 0.001, -97.0 + f64::from(number / 100) * 0.001))
        })
        .collect();
    let page = draw(point(30.05, -96.95), &machines, &Gazetteer::embedded());
    assert!(page.len() < MAX_BYTES, "{}", page.len());
    assert!((20..=MAX_NUMBERED).contains(&count(&page, "m-pin")), "{page}");
}

proptest! {
    #[test]
    fn any_drawing_has_most_atms_and_none_outside(
        middle in (-90.0f64..=90.0, -180.0f64..=180.0),
        others in prop::collection::vec((-90.0f64..=90.0, -180.0f64..=180.0), 1..30),
        spread in prop_oneof![Just(1.0), Just(0.01), Just(0.0)],
    ) {
        let middle = point(middle.0, middle.1);
        let near = |(lat, lon): (f64, f64)| {
            let turned = (middle.lon() + lon * spread + 540.0).rem_euclid(360.0) - 180.0;
            point((middle.lat() + lat * spread).clamp(-90.0, 90.0), turned.clamp(-180.0, 180.0))
        };
        let machines: Vec<_> = (1..).zip(others).map(|(number, other)| machine(number, near(other))).collect();
        let scene = FigureScene {
            language: Language::Spanish,
            unit: RingUnit::Kilometres,
            origin: &PublicOrigin::new("https://atms.test"),
            middle,
            middle_name: None,
            center: FigureCenter::Unmarked,
            machines: &machines,
            gazetteer: &no_places(),
            attribution: &[],
        };
        let drawing = Drawing::of(&scene);
        prop_assert_eq!(drawing.marks.len() + drawing.crowded + drawing.beyond, machines.len());
        prop_assert!(drawing.beyond * 10 <= machines.len(), "{} of {}", drawing.beyond, machines.len());
        prop_assert!(drawing.marks.iter().all(|mark| is_inside(mark.place)));
        prop_assert!(drawing.metres_per_pixel.is_finite() && drawing.metres_per_pixel > 0.0);
    }
}
