//! What crosses rooms in one write.

pub mod account_sessions;
pub mod addresses;
pub(crate) mod admission;
pub mod domain_end;
pub mod hosted;
pub mod lnurl;
pub mod lookup;
pub mod notices;
pub mod page;
pub mod page_answers;
pub mod refusals;
pub mod sign_in;
pub mod submit;
