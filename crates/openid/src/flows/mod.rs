//! What crosses rooms: which realm an address names, how a request becomes a code and a code tokens, and whether what was
//! granted still counts.

pub mod app_sessions;
mod asked;
mod authorize;
mod client_login;
mod error;
mod issuing;
mod logout;
mod realm;
mod resumption;
mod standing;
mod tokens;

pub use asked::{AskedAuthorization, ClientFault, read_asked};
pub use authorize::{ConsentQuestion, Progress, RequestOutcome, UnableRealm, VisitingBrowser, answer_request};
pub use client_login::{ClientCredentials, ClientRefusal, find_client};
pub use error::FlowError;
pub use issuing::IssuedTokens;
pub use logout::{AskedLogout, LogoutFault, LogoutParameters, end_session, is_own_hint, read_hint, read_logout};
pub use realm::{find_client_realm, find_published_realm, find_realm, issuer, issuer_at};
pub use resumption::{BroughtBack, come_back, deny, go_on, start_over};
pub use standing::{find_access, find_standing, find_token};
pub use tokens::{Redemption, TokenRefusal, redeem_code, refresh, revoke_token};
