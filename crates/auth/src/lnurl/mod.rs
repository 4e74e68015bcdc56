//! Logins by Lightning wallets (LNURL-auth: LUD-01, LUD-04, LUD-05 and LUD-17 of `github.com/lnurl/luds`).
//!
//! A wallet signs 32 bytes, `k1`, with a key that it has for one host alone. Here `k1` is the SHA-256 of a challenge's
//! `svc:` text, so what the wallet signs is a signature of that text, which everybody checks as any other.

mod auth_url;
mod callback;
mod k1;
mod linking;
mod reply;
mod spelling;

pub use auth_url::{AuthUrl, InvalidAuthUrl, LnurlAction, is_this_machine};
pub use callback::{AuthCallback, InvalidAuthCallback};
pub use k1::{K1, NotAK1};
pub use reply::{LnurlReply, NotAReply};
pub use spelling::{InvalidLnurl, Lnurl};
