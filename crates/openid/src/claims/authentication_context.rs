//! Returns the claims `acr` and `amr`for the login method in an ID token.

use signpost_login::domains::LoginMethod;

/// Returns `acr`, the strength of a login. A wallet that scans the page is bound to it by the confirmation number, a
/// wallet in the browser by the page's own browser, and a Lightning wallet by nothing. A passkey resists phishing
/// (`phr` of the `OpenID` Extended Authentication Profile).
#[must_use]
pub fn acr(method: LoginMethod) -> &'static str {
    match method {
        LoginMethod::Scan | LoginMethod::Browser => "urn:signpost:wallet+match",
        LoginMethod::Lightning => "urn:signpost:wallet",
        LoginMethod::Passkey => "phr",
    }
}

/// Returns `amr`, the methods that were used (RFC 8176). A passkey is accepted only if its authenticator verified the
/// user: these are two factors.
#[must_use]
pub fn amr(method: LoginMethod) -> &'static [&'static str] {
    match method {
        LoginMethod::Scan | LoginMethod::Browser | LoginMethod::Lightning => &["pop", "swk"],
        LoginMethod::Passkey => &["pop", "hwk", "user", "mfa"],
    }
}
