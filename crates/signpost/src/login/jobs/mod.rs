//! Work that a running server does by itself.

pub mod deliver;
pub mod forget;
pub mod recheck;
