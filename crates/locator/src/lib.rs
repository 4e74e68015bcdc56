//! A data model of Bitcoin ATMs, with a spatial index, a gazetteer, and importers for several data formats.
//!
//! All functions are pure. They have no input or output, use no clock and no randomness; the time is an argument.
//!
//! ```
//! use signpost_locator::{Distance, Index, Point};
//!
//! let atms: Vec<Point> = [(25.774, -80.194), (25.790, -80.130), (30.267, -97.743)]
//!     .into_iter()
//!     .filter_map(|(lat, lon)| Point::new(lat, lon))
//!     .collect();
//! let index = Index::build(&atms);
//!
//! let miami = Point::new(25.7617, -80.1918).unwrap();
//! let near = index.nearest(miami, Distance::miles(25.0), 10, |_| true);
//! assert_eq!(near.iter().map(|near| near.at).collect::<Vec<_>>(), [0, 1]);
//! assert_eq!(format!("{:.1} miles", near[0].distance.in_miles()), "0.9 miles");
//! ```

mod address;
mod atm;
mod claim;
mod coin;
mod country;
mod dates;
mod division;
mod end_date;
pub mod export;
mod fold;
mod formula;
pub mod gazetteer;
mod hours;
pub mod import;
mod index;
mod merge;
mod neighbours;
mod point;
pub mod quality;
mod region;
pub mod sample;
mod sharing;
mod status;
mod stored_form;
mod terms;
mod tri;

pub use arcstr::ArcStr;

pub use address::Address;
pub use atm::{Atm, AtmId, Coin, MoreFields, Record, ReportedState};
pub use claim::{ClaimParts, SourceClaim};
pub use country::Country;
pub use dates::DataDates;
pub use division::Division;
pub use fold::{fold, slug};
pub use hours::{Hours, NotEvaluated, OpenDay, OpenSpan, OpenState, Opening, Schedule};
pub use index::{Index, IndexMatch};
pub use merge::{MergedAtm, merge};
pub use point::{Distance, EARTH_RADIUS, Point};
pub use region::Region;
pub use sharing::RecordInterner;
pub use status::{AtmStatus, Freshness, IN_SERVICE_VALIDITY, StatusReason, StatusReport, status};
pub use terms::{CashLimits, Currency, Decimal, Fees, Kyc, Trade};
pub use tri::Tri;
