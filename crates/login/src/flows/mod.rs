//! Operations across several modules, such as accepting an answer, completing a login, and deleting
//! a domain or a user.

pub mod account_sessions;
pub mod addresses;
pub(crate) mod admission;
pub(crate) mod answer_context;
pub(crate) mod changes;
pub mod credentials;
pub mod hosted;
pub mod link;
pub mod lnurl;
pub(crate) mod login_events;
pub mod lookup;
pub mod page;
pub mod page_answers;
pub(crate) mod passkey;
pub(crate) mod passkey_log;
pub mod refusals;
pub mod removal;
pub mod sign_in;
pub mod sign_ins;
pub mod submit;
pub mod user_changes;
