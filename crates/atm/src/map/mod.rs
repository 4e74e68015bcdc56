//! Maps of ATMs, drawn by the server without a map service and without streets.
//!
//! [`draw_figure`] draws the ATMs around a place into a page, without a script. The interactive map is a script
//! (`crates/atm/assets/map/`) that draws the dots of [`encode_points`]. Without scripts, [`draw_overview`] shows all
//! ATMs.

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

pub use figure::{FigureAtm, FigureScene, draw_figure};
pub use lines::{STATE_LINES, WORLD_LINES, square_lines};
pub use overview::{MapView, draw_overview, fit_view};
pub use points::{MAX_POINTS, encode_points};
pub use rings::RingUnit;
pub use shape::StatusShape;
