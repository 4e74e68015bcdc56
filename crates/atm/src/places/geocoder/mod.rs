//! An external geocoder behind the embedded place names: off unless the operator names one, asked only about what the
//! embedded names do not know, politely, and remembered.

mod answers;
mod client;
mod kind;

pub use answers::{GeocodeResult, GeocodedPlace};
pub use client::{Geocoder, GeocoderSettings};
pub use kind::GeocoderKind;
