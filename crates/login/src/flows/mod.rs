//! What crosses rooms in one write.

pub mod account_sessions;
pub mod addresses;
pub(crate) mod admission;
pub(crate) mod asker;
pub mod credential_end;
pub mod domain_end;
pub mod hosted;
pub mod link;
pub mod lnurl;
pub mod lookup;
pub mod notices;
pub(crate) mod offer;
pub mod page;
pub mod page_answers;
pub(crate) mod passkey;
pub(crate) mod passkey_log;
pub mod refusals;
pub mod sign_in;
pub mod submit;
pub mod user_end;
