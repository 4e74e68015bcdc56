//! Maps of machines, drawn here: no map service is asked, and no street is shown.
//!
//! [`draw_figure`] draws the machines around a place into a page, which needs no script for it. The map that moves is a script's
//! (`crates/atm/assets/map/`), which draws the dots of [`encode_points`]; without it [`draw_overview`] has all of them.

mod figure;
mod mercator;
mod overview;
mod placing;
mod plane;
mod points;
mod rings;
mod shape;
mod words;

pub use figure::{FigureMachine, FigureScene, draw_figure};
pub use overview::{MapView, draw_overview, fit_view};
pub use points::{MOST_POINTS, encode_points};
pub use rings::RingUnit;
pub use shape::StatusShape;
