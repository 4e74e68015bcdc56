//! Operations across several modules: finding the issuer of a path, answering authorization
//! requests, exchanging codes for tokens, and checking the validity of grants.

pub mod app_sessions;
mod authorization_request;
mod authorize;
mod client_login;
mod error;
mod issuer;
mod issuing;
mod logout;
mod resumption;
mod sign_ins;
mod tokens;
mod validity;

pub use authorization_request::{AuthorizationRequest, ClientFault, read_authorization_request};
pub use authorize::{AuthorizeOutcome, BrowserContext, ConsentQuestion, FlowState, UnavailableIssuer, answer_request};
pub use client_login::{ClientCredentials, ClientRefusal, find_client};
pub use error::FlowError;
pub use issuer::{find_client_and_domain, find_issuer_domain, find_published_domain, issuer, issuer_at};
pub use issuing::IssuedTokens;
pub use logout::{LogoutFault, LogoutParameters, LogoutRequest, end_session, is_own_hint, read_hint, read_logout};
pub use resumption::{LoginPageResult, continue_authorization, deny, handle_login_callback, restart};
pub use sign_ins::OpenidSignIns;
pub use tokens::{CodeExchange, TokenRefusal, exchange_code, refresh, revoke_token};
pub use validity::{find_access_token, find_grant_facts, find_token};
