//! Scopes of OpenID Connect, and the claims that they select.

mod authentication_context;
mod id_token;
mod scopes;
mod user_claims;

pub use authentication_context::{acr, amr};
pub use id_token::{ID_TOKEN_TTL, IdToken, LoginFacts, hash_access_token};
pub use scopes::{COMMA_SEPARATED_SCOPES, OpenidScope, OpenidScopes, has_commas};
pub use user_claims::{UserClaims, address_of};
