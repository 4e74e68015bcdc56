//! The response to the request of a Lightning wallet.

use serde::Deserialize;
use serde_json::Value;

/// Maximum number of characters of an error reason. The wallet Phoenix displays this many.
const MAX_REASON_CHARS: usize = 90;

/// The response to a Lightning wallet. Its HTTP status is always 200, because wallets ignore the
/// body of other responses.
///
/// ```
/// use signpost_auth::LnurlReply;
///
/// assert_eq!(LnurlReply::Ok.to_json(), r#"{"status":"OK"}"#);
/// assert_eq!(LnurlReply::error("try <again>").to_json(), r#"{"status":"ERROR","reason":"try again>"}"#);
/// assert_eq!(LnurlReply::parse(br#"{"status":"OK","event":"LOGGEDIN"}"#), Ok(LnurlReply::Ok));
/// # Ok::<(), signpost_auth::InvalidLnurlReply>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "status")]
pub enum LnurlReply {
    /// The service accepted the login.
    #[serde(rename = "OK")]
    Ok,
    /// The service rejected the login.
    #[serde(rename = "ERROR")]
    Error {
        /// The reason, which wallets display.
        reason: String,
    },
}

/// Error that a body is not a [`LnurlReply`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the reply of a login by Lightning wallet: it is JSON with the status OK, or ERROR and a reason")]
pub struct InvalidLnurlReply;

impl LnurlReply {
    /// Creates an error with a reason of at most 90 characters. Removes `<`, which some wallets
    /// treat as markup.
    #[must_use]
    pub fn error(reason: &str) -> Self {
        Self::Error { reason: reason.chars().filter(|&letter| letter != '<').take(MAX_REASON_CHARS).collect() }
    }

    /// Parses a response body. Ignores other members.
    ///
    /// # Errors
    /// Returns [`InvalidLnurlReply`] for any other text.
    pub fn parse(body: &[u8]) -> Result<Self, InvalidLnurlReply> {
        serde_json::from_slice(body).map_err(|_| InvalidLnurlReply)
    }

    /// Returns the response body.
    #[must_use]
    pub fn to_json(&self) -> String {
        match self {
            Self::Ok => r#"{"status":"OK"}"#.to_owned(),
            Self::Error { reason } => format!(r#"{{"status":"ERROR","reason":{}}}"#, Value::from(reason.as_str())),
        }
    }
}
