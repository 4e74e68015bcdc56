//! HTML forms that change state. Each form contains a CSRF token that is bound to the browser's
//! cookie, and is accepted only from pages of this origin.

use std::collections::BTreeMap;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use data_encoding::BASE64URL_NOPAD;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use maud::{Markup, Render, html};
use subtle::ConstantTimeEq;
use url::form_urlencoded;

use super::cookie::CookieSecret;
use crate::origin::PublicOrigin;
use crate::web::{has_media_type, single_header};

/// Maximum size of a posted form, in bytes.
pub const MAX_FORM_BYTES: usize = 16 * 1024;
/// Name of the form field that contains the CSRF token.
const TOKEN_FIELD: &str = "token";
/// Header in which browsers report how the origin of the sending page relates to this origin (W3C
/// Fetch Metadata).
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// A CSRF token, bound to a browser's cookie and to a purpose. It is rendered as a hidden form
/// field.
#[derive(Clone, Debug)]
pub struct CsrfToken(String);

/// The fields of a form that was posted from a page of this origin.
#[derive(Debug)]
pub struct PostedForm(BTreeMap<String, String>);

/// Reason a form was rejected. A rejected form changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostedFormError {
    /// It was not posted from a page of this origin.
    CrossOrigin,
    /// Its token is missing, or belongs to another browser or purpose, because the page is outdated
    /// or the cookie was deleted.
    Stale,
    /// It is larger than [`MAX_FORM_BYTES`].
    TooLarge,
    /// It is not URL-encoded, repeats a field, or is incomplete.
    Malformed,
}

impl CsrfToken {
    /// Creates the token for a browser's forms with a purpose, which identifies the object that is
    /// changed.
    #[must_use]
    pub fn new(secret: &CookieSecret, purpose: &str) -> Self {
        Self(BASE64URL_NOPAD.encode(&secret.derive("signpost form ", purpose)))
    }

    /// Returns `true` if a submitted token equals this token. Compares in constant time.
    #[must_use]
    pub fn matches(&self, sent: &str) -> bool {
        self.0.as_bytes().ct_eq(sent.as_bytes()).into()
    }

    /// Returns the value of the form field.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl PostedFormError {
    /// Returns the status of the page that explains the rejection.
    #[must_use]
    pub fn status(self) -> StatusCode {
        match self {
            Self::CrossOrigin | Self::Stale => StatusCode::FORBIDDEN,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Malformed => StatusCode::BAD_REQUEST,
        }
    }
}

impl Render for CsrfToken {
    fn render(&self) -> Markup {
        html! { input type="hidden" name=(TOKEN_FIELD) value=(self.0); }
    }
}

impl PostedForm {
    /// Reads a form that was posted from a page of `origin`.
    ///
    /// # Errors
    /// Returns [`PostedFormError::CrossOrigin`] if it was posted from another page, or
    /// [`PostedFormError::TooLarge`] or [`PostedFormError::Malformed`] if it cannot be read.
    pub async fn receive(origin: &PublicOrigin, request: Request) -> Result<Self, PostedFormError> {
        let (parts, body) = request.into_parts();
        if !is_from(origin, &parts.headers) {
            return Err(PostedFormError::CrossOrigin);
        }
        if !has_media_type(&parts.headers, "application/x-www-form-urlencoded") {
            return Err(PostedFormError::Malformed);
        }
        let body = Limited::new(body, MAX_FORM_BYTES).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() { PostedFormError::TooLarge } else { PostedFormError::Malformed }
        })?;
        let mut fields = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(&body.to_bytes()).into_owned() {
            if fields.insert(name, value).is_some() {
                return Err(PostedFormError::Malformed);
            }
        }
        Ok(Self(fields))
    }

    /// Returns the value of a form field.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Checks that the token of the form belongs to this browser and purpose. Compares in constant
    /// time.
    ///
    /// # Errors
    /// Returns [`PostedFormError::Stale`] if the cookie or the token is missing, or if they do not
    /// match.
    pub fn check(&self, cookie: Option<&CookieSecret>, purpose: &str) -> Result<(), PostedFormError> {
        let Some(cookie) = cookie else { return Err(PostedFormError::Stale) };
        let Some(token) = self.text(TOKEN_FIELD) else { return Err(PostedFormError::Stale) };
        if CsrfToken::new(cookie, purpose).matches(token) { Ok(()) } else { Err(PostedFormError::Stale) }
    }
}

/// Returns `true` if the request was sent from a page of `origin`. Pages of this server suppress
/// the referrer, so browsers send the origin `null` (Fetch standard, "append a request `Origin`
/// header"). In that case, `Sec-Fetch-Site` decides.
#[must_use]
pub fn is_from(origin: &PublicOrigin, headers: &HeaderMap) -> bool {
    let Ok(sent) = single_header(headers, &header::ORIGIN) else { return false };
    let Ok(site) = single_header(headers, &SEC_FETCH_SITE) else { return false };
    match (sent.map(HeaderValue::as_bytes), site.map(HeaderValue::as_bytes)) {
        // Browsers send `Sec-Fetch-Site` only to trustworthy origins. For other origins, only the
        // token decides.
        (Some(b"null"), None) => !origin.is_trustworthy(),
        (None | Some(b"null"), Some(b"same-origin")) => true,
        (Some(sent), None | Some(b"same-origin")) => sent == origin.as_str().as_bytes(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
    const SAME_ORIGIN: (&str, &str) = ("origin", "https://login.test");

    async fn receive(headers: &[(&str, &str)], body: &str) -> Result<PostedForm, PostedFormError> {
        let request = headers.iter().fold(Request::post("/"), |request, (name, value)| request.header(*name, *value));
        let origin = PublicOrigin::new("https://login.test");
        PostedForm::receive(&origin, request.body(Body::from(body.to_owned())).unwrap()).await
    }

    #[tokio::test]
    async fn without_fetch_metadata_the_token_decides() {
        for (origin, is_taken) in [
            ("http://login.lan:8080", true),
            ("http://192.0.2.7", true),
            ("https://login.lan", false),
            ("http://localhost:8080", false),
            ("http://127.0.0.1:8080", false),
            ("http://[::1]:8080", false),
        ] {
            let request = Request::post("/").header(FORM.0, FORM.1).header("origin", "null").body(Body::empty());
            let form = PostedForm::receive(&PublicOrigin::new(origin), request.unwrap()).await;
            assert_eq!(form.is_ok(), is_taken, "{origin}");
            let refused = form.map(|form| form.check(Some(&secret(1)), "x"));
            assert!(!matches!(refused, Ok(Ok(()))), "{origin}");
        }
    }

    fn secret(number: u8) -> CookieSecret {
        CookieSecret::from_bytes([number; 32])
    }

    #[tokio::test]
    async fn forms_of_other_origins_are_rejected() {
        let site = |value| ("sec-fetch-site", value);
        for (headers, is_ours) in [
            (&[SAME_ORIGIN][..], true),
            (&[SAME_ORIGIN, site("same-origin")], true),
            (&[("origin", "null"), site("same-origin")], true),
            (&[site("same-origin")], true),
            (&[], false),
            (&[("origin", "null")], false),
            (&[("origin", "")], false),
            (&[("origin", "https://evil.test")], false),
            (&[("origin", "http://login.test")], false),
            (&[("origin", "https://login.test:8443")], false),
            (&[("origin", "https://login.test.evil.test")], false),
            (&[("origin", "https://evil.test"), site("same-origin")], false),
            (&[SAME_ORIGIN, site("cross-site")], false),
            (&[SAME_ORIGIN, site("same-site")], false),
            (&[SAME_ORIGIN, site("none")], false),
            (&[("origin", "null"), site("cross-site")], false),
            (&[("origin", "null"), site("same-site")], false),
            (&[site("none")], false),
            (&[SAME_ORIGIN, ("origin", "https://evil.test")], false),
            (&[site("same-origin"), site("cross-site")], false),
        ] {
            let headers = [headers, &[FORM]].concat();
            let refusal = receive(&headers, "a=b").await.err();
            assert_eq!(refusal, (!is_ours).then_some(PostedFormError::CrossOrigin), "{headers:?}");
        }
    }

    #[tokio::test]
    async fn invalid_forms_are_rejected() {
        let read = receive(&[SAME_ORIGIN, FORM], "mode=log+in&name=%E2%9C%93").await.unwrap();
        assert_eq!((read.text("mode"), read.text("name"), read.text("x")), (Some("log in"), Some("✓"), None));
        let utf8 = ("content-type", "Application/x-www-form-urlencoded; charset=utf-8");
        assert!(receive(&[SAME_ORIGIN, utf8], "a=b").await.is_ok());
        assert!(receive(&[SAME_ORIGIN, FORM], &format!("a={}", "b".repeat(MAX_FORM_BYTES - 2))).await.is_ok());
        for (headers, body, refusal) in [
            (&[SAME_ORIGIN, FORM][..], format!("a={}", "b".repeat(MAX_FORM_BYTES - 1)), PostedFormError::TooLarge),
            (&[SAME_ORIGIN, FORM], "a=b&a=c".to_owned(), PostedFormError::Malformed),
            (&[SAME_ORIGIN], "a=b".to_owned(), PostedFormError::Malformed),
            (&[SAME_ORIGIN, ("content-type", "text/plain")], "a=b".to_owned(), PostedFormError::Malformed),
            (
                &[SAME_ORIGIN, ("content-type", "multipart/form-data; boundary=x")],
                String::new(),
                PostedFormError::Malformed,
            ),
        ] {
            assert_eq!(receive(headers, &body).await.err(), Some(refusal), "{headers:?}");
        }
    }

    #[tokio::test]
    async fn a_token_is_for_one_browser_and_one_purpose() {
        let token = CsrfToken::new(&secret(1), "cancel ses_1");
        let form = receive(&[SAME_ORIGIN, FORM], &format!("token={}", token.reveal())).await.unwrap();
        assert_eq!(form.check(Some(&secret(1)), "cancel ses_1"), Ok(()));
        for (cookie, purpose) in
            [(Some(secret(2)), "cancel ses_1"), (Some(secret(1)), "cancel ses_2"), (None, "cancel ses_1")]
        {
            assert_eq!(form.check(cookie.as_ref(), purpose), Err(PostedFormError::Stale), "{purpose}");
        }
        for body in ["", "token=", "a=b", &format!("token={}x", token.reveal()), &format!("tok%65n={}", "a".repeat(43))]
        {
            let form = receive(&[SAME_ORIGIN, FORM], body).await.unwrap();
            assert_eq!(form.check(Some(&secret(1)), "cancel ses_1"), Err(PostedFormError::Stale), "{body}");
        }
    }

    #[test]
    fn a_token_is_the_forms_hidden_field() {
        let token = CsrfToken::new(&secret(1), "cancel ses_1");
        let field = format!("<input type=\"hidden\" name=\"token\" value=\"{}\">", token.reveal());
        assert_eq!(token.render().into_string(), field);
    }
}
