//! Integration tests of text cleaning, with examples, properties and mutations.

mod fuzz;
#[path = "../../../../tests/mutations.rs"]
mod mutations;
mod text;
