//! Logins by Lightning wallets (LNURL-auth: LUD-01, LUD-04, LUD-05 and LUD-17 of `github.com/lnurl/luds`).
//!
//! A wallet signs 32 bytes, `k1`, with a host-specific key. Here `k1` is the SHA-256 of a challenge's `svc:` text, so
//! the wallet's signature is an ordinary ECDSA signature of that text.

mod auth_url;
mod callback;
mod k1;
mod linking;
mod reply;
mod spelling;

pub use auth_url::{AuthUrl, InvalidAuthUrl, LnurlAction, is_loopback_url};
pub use callback::{AuthCallback, InvalidAuthCallback};
pub use k1::{InvalidK1, K1};
pub use reply::{InvalidLnurlReply, LnurlReply};
pub use spelling::{InvalidLnurl, Lnurl};
