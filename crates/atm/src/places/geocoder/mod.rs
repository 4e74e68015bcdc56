//! An external geocoder for texts that the place names do not contain. Off unless the operator configures one.

mod answers;
mod client;
mod kind;

pub use answers::{GeocodeResult, GeocodedPlace};
pub use client::{Geocoder, GeocoderSettings};
pub use kind::GeocoderKind;
