//! Maps of ATMs, rendered by the server without an external map service.
//!
//! [`draw_figure`] renders the ATMs around a place as inline SVG. The interactive map is a script
//! (`crates/atm/assets/map/`) that draws the output of [`encode_points`]; browsers without scripts get all ATMs from
//! [`draw_overview`]. The maps have no streets.

mod azimuthal;
mod figure;
mod lines;
mod mercator;
mod overview;
mod placing;
mod points;
mod rings;
mod shape;
mod window;
mod words;

pub use figure::{FigureAtm, FigureCenter, FigureScene, draw_figure};
pub use lines::{STATE_LINES, WORLD_LINES, square_lines};
pub use overview::{MapView, draw_overview, fit_view};
pub use points::{MAX_POINTS, encode_points};
pub use rings::RingUnit;
pub use shape::StatusShape;
