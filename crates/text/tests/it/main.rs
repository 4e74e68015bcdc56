//! What the cleaning of text does, and that it does it to whatever arrives.

mod fuzz;
#[path = "../../../../tests/mutations.rs"]
mod mutations;
mod text;
