//! What crosses rooms in one write.

pub mod domain_end;
pub mod hosted;
pub mod lookup;
pub mod submit;
