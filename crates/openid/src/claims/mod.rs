//! Scopes, and their claims.

mod id_token;
mod proof_words;
mod scopes;
mod user_claims;

pub use id_token::{ID_TOKEN_TTL, IdToken, LoginFacts, hash_access_token};
pub use proof_words::{acr, amr};
pub use scopes::{COMMAS, OpenidScope, OpenidScopes, has_commas};
pub use user_claims::{UserClaims, address_of};
