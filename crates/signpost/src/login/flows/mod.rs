//! What crosses rooms in one write.

pub mod hosted;
pub mod lookup;
pub mod submit;
