//! Cleaning of text, for examples and for any input.

mod fuzz;
#[path = "../../../../tests/mutations.rs"]
mod mutations;
mod text;
