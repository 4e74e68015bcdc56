//! How a person proved to be who they are, in the words of ID tokens.

use signpost_login::domains::LoginMethod;

/// `acr`: how much a login withstands. A wallet that scans the page, or stands in a browser, is bound to the page by the
/// number on it, or by the page's own browser; a Lightning wallet by nothing. A passkey withstands relay (`phr` of the
/// `OpenID` Extended Authentication Profile).
#[must_use]
pub fn acr(method: LoginMethod) -> &'static str {
    match method {
        LoginMethod::Scan | LoginMethod::Browser => "urn:signpost:wallet+match",
        LoginMethod::Lightning => "urn:signpost:wallet",
        LoginMethod::Passkey => "phr",
    }
}

/// `amr`: what was used (RFC 8176). A passkey is made and used here only where its authenticator verified the person:
/// that is two factors.
#[must_use]
pub fn amr(method: LoginMethod) -> &'static [&'static str] {
    match method {
        LoginMethod::Scan | LoginMethod::Browser | LoginMethod::Lightning => &["pop", "swk"],
        LoginMethod::Passkey => &["pop", "hwk", "user", "mfa"],
    }
}
