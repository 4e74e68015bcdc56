//! An optional external geocoder for addresses and places that the gazetteer does not contain.

mod answers;
mod client;
mod kind;

pub use answers::{GeocodeResult, GeocodedPlace};
pub use client::{Geocoder, GeocoderSettings};
pub use kind::GeocoderKind;
