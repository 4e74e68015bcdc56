//! Logins by Lightning wallets (LNURL-auth: LUD-01, LUD-04, LUD-05 and LUD-17 of `github.com/lnurl/luds`).
//!
//! A wallet signs 32 bytes, `k1`, with a key that it derives for the host. In this protocol, `k1`
//! is the SHA-256 hash of the `svc:` rendering of a challenge, so the signature is an ordinary
//! ECDSA signature of that text.

mod auth_url;
mod callback;
mod encoding;
mod k1;
mod linking;
mod reply;

pub use auth_url::{AuthUrl, InvalidAuthUrl, LnurlAction, is_loopback_url};
pub use callback::{AuthCallback, InvalidAuthCallback};
pub use encoding::{InvalidLnurl, Lnurl};
pub use k1::{InvalidK1, K1};
pub use reply::{InvalidLnurlReply, LnurlReply};
