//! An inline SVG drawing of the ATMs around a place, for pages without scripts.

use std::collections::BTreeSet;
use std::fmt::Write;

use maud::{Markup, html};
use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::{Distance, Point};
use signpost_platform::origin::PublicOrigin;
use signpost_platform::pages::Language;

use super::azimuthal::AzimuthalProjection;
use super::placing::{LabelLayout, Rect, around};
use super::rings::{Ring, RingUnit};
use super::shape::StatusShape;
use super::words::map_words;

/// An ATM in a drawing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FigureAtm {
    /// The number of the ATM in the list next to the drawing.
    pub number: u32,
    /// The coordinates.
    pub point: Point,
    /// The shape that represents its status.
    pub shape: StatusShape,
}

/// The mark at the centre of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureCenter {
    /// The location of the user, with a large dot.
    User,
    /// The place of a search or a town, with a small cross.
    Place,
    /// No mark, because no distance is measured from the centre.
    Unmarked,
}

/// The input of [`draw_figure`]: the ATMs, the centre and the texts of a drawing.
#[derive(Clone, Copy, Debug)]
pub struct FigureScene<'a> {
    /// The language of the texts.
    pub language: Language,
    /// The unit of the distance rings.
    pub unit: RingUnit,
    /// The web origin of the page.
    pub origin: &'a PublicOrigin,
    /// The centre of the drawing, and the origin of the distances in the list.
    pub middle: Point,
    /// The name of the centre, such as `Austin, Texas`; `None` for coordinates.
    pub middle_name: Option<&'a str>,
    /// The mark at the centre.
    pub center: FigureCenter,
    /// The ATMs in the order of the list. If there is not enough space for all numbered marks, the first ATMs take
    /// precedence.
    pub machines: &'a [FigureAtm],
    /// The gazetteer with the place names to draw if there is space.
    pub gazetteer: &'a Gazetteer,
    /// The attributions that the licences of the ATM and place data require.
    pub attribution: &'a [&'a str],
}

/// Width and height of the drawing, in CSS pixels of a phone screen.
const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 340.0;
/// Minimum distance of the centre of a mark from the edge, in pixels.
const MARGIN: f64 = 18.0;
/// Half of the side of the square that a mark occupies, in pixels.
const HALF_MARK: f64 = 13.5;
/// Distances between a mark and its ATM to try if the position of the ATM is occupied, in pixels.
const MARK_OFFSETS: [f64; 2] = [28.0, 56.0];
/// Maximum number of numbered marks.
const MAX_NUMBERED: usize = 50;
/// Maximum number of small marks without a number.
const MAX_SMALL: usize = 400;
/// Approximate minimum distance between small marks, in pixels.
const SMALL_MARK_SPACING: f64 = 5.0;
/// Maximum number of place names that are tried, maximum number that are drawn, and maximum length of a name in
/// characters.
const MAX_TRIED: usize = 60;
const MAX_NAMED: usize = 9;
const MAX_NAME_CHARS: usize = 24;
/// Approximate width of a letter, in pixels.
const LETTER_WIDTH: f64 = 7.0;
/// Distance from the centre to the edge, in metres: the minimum, and the value for a drawing without ATMs.
const MIN_METRES: f64 = 500.0;
const EMPTY_METRES: f64 = 40_000.0;
/// Width of a pixel at the equator at zoom level 0, in metres.
const METRES_AT_ZOOM_0: f64 = 156_543.03;

/// Draws the ATMs around a place as a `<figure id="map" class="map">` with inline SVG. It contains no scripts, no
/// styles and no URLs of other hosts; its classes are defined in the stylesheet.
///
/// The drawing has `role="img"`, and its text alternative refers to the list next to it. North is up; distances and
/// directions from the centre are exact. At least nine of ten ATMs are shown, and the caption states the number of the
/// other ATMs. The output has at most 40 kB.
#[must_use]
pub fn draw_figure(scene: &FigureScene<'_>) -> Markup {
    let drawing = Drawing::of(scene);
    let words = map_words(scene.language);
    let lengths: Vec<_> = drawing.rings.iter().map(|(ring, _)| ring.length.as_str()).collect();
    let shown: BTreeSet<_> = scene.machines.iter().map(|machine| machine.shape).collect();
    let [crowded, beyond] = [drawing.crowded, drawing.beyond];
    html! {
        figure #map .map {
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img"
                aria-label=((words.drawing)(scene.machines.len(), scene.middle_name)) {
                (drawing.draw_rings(scene.unit))
                (drawing.draw_marks(scene.center))
            }
            figcaption {
                p {
                    @for shape in shown { ((words.shape)(shape)) " " }
                    @if !lengths.is_empty() { ((words.rings)(&lengths, scene.unit)) " " }
                    @if crowded > 0 { ((words.crowded)(crowded)) " " }
                    @if beyond > 0 { ((words.beyond)(beyond)) " " }
                    @match scene.center {
                        FigureCenter::User => { (words.user) " " }
                        FigureCenter::Place => { (words.place) " " }
                        FigureCenter::Unmarked => {}
                    }
                    (words.north)
                }
                p { a href=(scene.origin.link(&large_map(scene.middle, drawing.metres_per_pixel))) { (words.full_map) } }
                p { (scene.attribution.join(" · ")) }
            }
        }
    }
}

/// Returns the path of the interactive map, centred at a point, at about this scale.
fn large_map(middle: Point, metres_per_pixel: f64) -> String {
    let at_zoom_0 = METRES_AT_ZOOM_0 * middle.lat().to_radians().cos();
    let zoom = (at_zoom_0 / metres_per_pixel).log2().clamp(1.0, 17.0);
    format!("/map#{zoom:.1}/{:.5}/{:.5}", middle.lat(), middle.lon())
}

/// A numbered mark of an ATM.
#[derive(Debug)]
struct Mark {
    atm: FigureAtm,
    /// The positions of the ATM and of its mark, in pixels.
    place: [f64; 2],
    drawn: [f64; 2],
}

/// The computed layout of a drawing: its scale and the positions of all elements.
#[derive(Debug)]
struct Drawing {
    metres_per_pixel: f64,
    marks: Vec<Mark>,
    small: Vec<(StatusShape, [f64; 2])>,
    /// The number of ATMs that are drawn without a number, and the number of ATMs outside the drawing.
    crowded: usize,
    beyond: usize,
    /// The distance rings, each with the position of its label if there is space.
    rings: Vec<(Ring, Option<Rect>)>,
    names: Vec<(String, Rect)>,
}

impl Drawing {
    fn of(scene: &FigureScene<'_>) -> Self {
        let plane = AzimuthalProjection::centred_at(scene.middle);
        let places: Vec<_> = scene.machines.iter().map(|machine| plane.metres(machine.point)).collect();
        let metres_per_pixel = fit_scale(&places);
        let mut drawing = Self {
            metres_per_pixel,
            marks: Vec::new(),
            small: Vec::new(),
            crowded: 0,
            beyond: 0,
            rings: Vec::new(),
            names: Vec::new(),
        };
        let mut layout = LabelLayout::new(WIDTH, HEIGHT);
        layout.occupy(Rect { x: WIDTH / 2.0, y: HEIGHT / 2.0, half: [8.0; 2] });
        drawing.place_atms(scene.machines, &places, &mut layout);
        drawing.place_rings(scene, &mut layout);
        drawing.place_names(scene, plane, &mut layout);
        drawing
    }

    fn pixels(&self, [east, north]: [f64; 2]) -> [f64; 2] {
        [WIDTH / 2.0 + east / self.metres_per_pixel, HEIGHT / 2.0 - north / self.metres_per_pixel]
    }

    fn place_atms(&mut self, machines: &[FigureAtm], places: &[[f64; 2]], layout: &mut LabelLayout) {
        let mut cells = BTreeSet::new();
        for (machine, metres) in machines.iter().zip(places) {
            let place = self.pixels(*metres);
            if !is_inside(place) {
                self.beyond += 1;
                continue;
            }
            let own = Rect { x: place[0], y: place[1], half: [HALF_MARK; 2] };
            let is_numbered = self.marks.len() < MAX_NUMBERED && self.crowded < MAX_NUMBERED;
            let rects = around(&MARK_OFFSETS).map(|way| own.offset_by(way)).take_while(|_| is_numbered);
            if let Some(rect) = layout.occupy_first(rects) {
                self.marks.push(Mark { atm: *machine, place, drawn: [rect.x, rect.y] });
                continue;
            }
            self.crowded += 1;
            let [column, row] = place.map(|pixel| whole(pixel / SMALL_MARK_SPACING));
            if self.small.len() < MAX_SMALL && cells.insert((column, row)) {
                self.small.push((machine.shape, place));
            }
        }
    }

    fn place_rings(&mut self, scene: &FigureScene<'_>, layout: &mut LabelLayout) {
        let decimal = map_words(scene.language).decimal;
        for mut ring in scene.unit.choose_rings(Distance::metres((HEIGHT / 2.0 - 4.0) * self.metres_per_pixel)) {
            ring.length = ring.length.replace('.', decimal);
            let radius = ring.radius.in_metres() / self.metres_per_pixel;
            let half = [half_label_width(ring.length.len() + 3), 9.0];
            let offsets = [[0.0, -radius], [0.0, radius], [radius, 0.0], [-radius, 0.0]];
            let middle = Rect { x: WIDTH / 2.0, y: HEIGHT / 2.0, half };
            let rect = layout.occupy_first(offsets.map(|way| middle.offset_by(way)));
            self.rings.push((ring, rect));
        }
    }

    fn place_names(&mut self, scene: &FigureScene<'_>, plane: AzimuthalProjection, layout: &mut LabelLayout) {
        let corner = (WIDTH / 2.0).hypot(HEIGHT / 2.0) * self.metres_per_pixel;
        let radius = Distance::metres(corner.min(AzimuthalProjection::max_distance()));
        for place in scene.gazetteer.largest_within(scene.middle, radius, MAX_TRIED) {
            let letters = place.name.chars().count();
            if self.names.len() == MAX_NAMED || letters > MAX_NAME_CHARS {
                continue;
            }
            let [x, y] = self.pixels(plane.metres(place.point));
            let half = [half_label_width(letters), 10.0];
            let above_and_below = [0.0, -18.0, 18.0].map(|down| Rect { x, y: y + down, half });
            if let Some(rect) = layout.occupy_first(above_and_below) {
                self.names.push((place.name, rect));
            }
        }
    }

    /// Draws the distance rings and their labels.
    fn draw_rings(&self, unit: RingUnit) -> Markup {
        let [x, y] = [WIDTH / 2.0, HEIGHT / 2.0];
        html! {
            @for (ring, _) in &self.rings {
                circle.m-ring cx=(x) cy=(y) r=(round_to_tenth(ring.radius.in_metres() / self.metres_per_pixel)) {}
            }
            @for (ring, rect) in &self.rings {
                @if let Some(rect) = rect {
                    text x=(round_to_tenth(rect.x)) y=(round_to_tenth(rect.y + 4.5)) { (ring.length) " " (unit.symbol()) }
                }
            }
        }
    }

    /// Draws the marks of the ATMs and the place names.
    fn draw_marks(&self, center: FigureCenter) -> Markup {
        let [x, y] = [WIDTH / 2.0, HEIGHT / 2.0];
        html! {
            @for shape in StatusShape::ALL {
                @let signs = draw_small_marks(&self.small, shape);
                @if !signs.is_empty() { path class={ "m-small " (shape.class()) } d=(signs) {} }
            }
            @for (name, rect) in &self.names {
                text.name x=(round_to_tenth(rect.x)) y=(round_to_tenth(rect.y + 4.5)) { (name) }
            }
            @for Mark { place: [x, y], drawn, .. } in self.marks.iter().filter(|mark| mark.is_moved()) {
                path.m-lead d={ "M" (round_to_tenth(*x)) " " (round_to_tenth(*y)) "L" (round_to_tenth(drawn[0])) " " (round_to_tenth(drawn[1])) } {}
                circle.m-foot cx=(round_to_tenth(*x)) cy=(round_to_tenth(*y)) r="3" {}
            }
            @match center {
                FigureCenter::User => circle.m-me cx=(x) cy=(y) r="7" {},
                FigureCenter::Place => path.m-place d={ "M" (x - 5.0) " " (y) "h10M" (x) " " (y - 5.0) "v10" } {},
                FigureCenter::Unmarked => {}
            }
            // Drawn in reverse order, so that the first ATMs of the list are on top.
            @for mark in self.marks.iter().rev() { (mark.draw()) }
        }
    }
}

impl Mark {
    fn is_moved(&self) -> bool {
        (self.place[0] - self.drawn[0]).hypot(self.place[1] - self.drawn[1]) > 1.0
    }

    fn draw(&self) -> Markup {
        let FigureAtm { number, shape, .. } = self.atm;
        let [x, y] = self.drawn.map(round_to_tenth);
        html! {
            g class={ "m-pin " (shape.class()) } transform={ "translate(" (x) " " (y) ")" } {
                @match shape {
                    StatusShape::Open | StatusShape::Closed => circle r="13" {},
                    StatusShape::Paused => {
                        circle r="13" {}
                        path d="M-6 8h12" {}
                    }
                    StatusShape::Out => rect x="-12" y="-12" width="24" height="24" rx="4" {},
                    StatusShape::Unknown => rect x="-11" y="-11" width="22" height="22" rx="3" transform="rotate(45)" {},
                }
                text y=(if shape == StatusShape::Paused { "2.5" } else { "4.5" }) { (number) }
            }
        }
    }
}

/// Returns the scale in metres per pixel for fitting nine of ten ATMs on the drawing. Farther ATMs are included if they
/// are less than twice as far away.
fn fit_scale(places: &[[f64; 2]]) -> f64 {
    let needs = places
        .iter()
        .map(|[east, north]| (east.abs() / (WIDTH / 2.0 - MARGIN)).max(north.abs() / (HEIGHT / 2.0 - MARGIN)));
    let mut needs: Vec<f64> = needs.collect();
    needs.sort_unstable_by(f64::total_cmp);
    let Some(most) = needs.get((needs.len() * 9).div_ceil(10).saturating_sub(1)) else {
        return EMPTY_METRES / (HEIGHT / 2.0);
    };
    let chosen = needs.iter().rfind(|need| **need <= most * 2.0).unwrap_or(most);
    chosen.max(MIN_METRES / (HEIGHT / 2.0))
}

fn is_inside([x, y]: [f64; 2]) -> bool {
    // Rounding may move an ATM at the edge slightly outside.
    const SLACK: f64 = 0.001;
    let min = MARGIN - SLACK;
    (min..=WIDTH - min).contains(&x) && (min..=HEIGHT - min).contains(&y)
}

fn draw_small_marks(small: &[(StatusShape, [f64; 2])], shape: StatusShape) -> String {
    let outline = match shape {
        StatusShape::Open | StatusShape::Closed => "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0",
        StatusShape::Paused => "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0h8",
        StatusShape::Out => "m-4-4h8v8h-8z",
        StatusShape::Unknown => "m0-5 5 5-5 5-5-5z",
    };
    let mut path = String::new();
    for (_, [x, y]) in small.iter().filter(|(found, _)| *found == shape) {
        write!(path, "M{} {}{outline}", round_to_tenth(*x), round_to_tenth(*y)).expect("a text");
    }
    path
}

/// Returns half of the width of a label with this number of letters, including its margins, in pixels.
fn half_label_width(letters: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "names are short")]
    let letters = letters as f64;
    letters.mul_add(LETTER_WIDTH, 6.0) / 2.0
}

#[expect(clippy::cast_possible_truncation, reason = "a pixel of the drawing")]
fn whole(pixel: f64) -> i32 {
    pixel as i32
}

/// Rounds to a tenth of a pixel.
fn round_to_tenth(pixel: f64) -> f64 {
    // Adding zero makes a negative zero positive.
    (pixel * 10.0).round() / 10.0 + 0.0
}

#[cfg(test)]
#[path = "figure_tests.rs"]
mod tests;
