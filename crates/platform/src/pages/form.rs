//! Forms that change state: each carries a CSRF token bound to its cookie, and is accepted from this origin's pages
//! only.

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

/// Maximum size of a form, in bytes.
pub const MAX_FORM_BYTES: usize = 16 * 1024;
/// The field with the token.
const TOKEN_FIELD: &str = "token";
/// The header in which browsers report the relation of the sending page to this origin (W3C Fetch Metadata).
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// A CSRF token, bound to a browser's cookie and to a purpose. Rendered, it is the form's hidden field.
#[derive(Clone, Debug)]
pub struct CsrfToken(String);

/// The fields of a form that a page of this origin posted.
#[derive(Debug)]
pub struct PostedForm(BTreeMap<String, String>);

/// The reason a form was rejected. Nothing was changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostedFormError {
    /// It was not posted from a page of this origin.
    CrossOrigin,
    /// Its token is missing, or belongs to another browser or purpose: the page is old, or the cookie is gone.
    Stale,
    /// It is larger than [`MAX_FORM_BYTES`].
    TooLarge,
    /// It is not URL-encoded, has a field twice, or ended early.
    Malformed,
}

impl CsrfToken {
    /// Creates the token of a browser's forms for a purpose, which names the object of the change.
    #[must_use]
    pub fn new(secret: &CookieSecret, purpose: &str) -> Self {
        Self(BASE64URL_NOPAD.encode(&secret.derive("signpost form ", purpose)))
    }

    /// Returns true if a submitted token equals this token, compared in constant time.
    #[must_use]
    pub fn matches(&self, sent: &str) -> bool {
        self.0.as_bytes().ct_eq(sent.as_bytes()).into()
    }

    /// Returns the text for a field of the form.
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
    /// Reads a form that a page of `origin` posted.
    ///
    /// # Errors
    /// Returns [`PostedFormError::CrossOrigin`] if another page posted it, [`PostedFormError::TooLarge`] or
    /// [`PostedFormError::Malformed`] if it cannot be read.
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

    /// Returns the value of a field.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Checks in constant time that the form's token belongs to this browser and purpose.
    ///
    /// # Errors
    /// Returns [`PostedFormError::Stale`] if the cookie or the token is missing, or they do not belong together.
    pub fn check(&self, cookie: Option<&CookieSecret>, purpose: &str) -> Result<(), PostedFormError> {
        let Some(cookie) = cookie else { return Err(PostedFormError::Stale) };
        let Some(token) = self.text(TOKEN_FIELD) else { return Err(PostedFormError::Stale) };
        if CsrfToken::new(cookie, purpose).matches(token) { Ok(()) } else { Err(PostedFormError::Stale) }
    }
}

/// Returns true if a page of `origin` sent the request. Pages of this server suppress the referrer, and browsers then
/// send the origin `null` (Fetch standard, "append a request `Origin` header"); `Sec-Fetch-Site` decides in that case.
#[must_use]
pub fn is_from(origin: &PublicOrigin, headers: &HeaderMap) -> bool {
    let Ok(sent) = single_header(headers, &header::ORIGIN) else { return false };
    let Ok(site) = single_header(headers, &SEC_FETCH_SITE) else { return false };
    match (sent.map(HeaderValue::as_bytes), site.map(HeaderValue::as_bytes)) {
        // Browsers send `Sec-Fetch-Site` to trustworthy origins only: for others, only the token decides.
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
    const OURS: (&str, &str) = ("origin", "https://login.test");

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
            (&[OURS][..], true),
            (&[OURS, site("same-origin")], true),
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
            (&[OURS, site("cross-site")], false),
            (&[OURS, site("same-site")], false),
            (&[OURS, site("none")], false),
            (&[("origin", "null"), site("cross-site")], false),
            (&[("origin", "null"), site("same-site")], false),
            (&[site("none")], false),
            (&[OURS, ("origin", "https://evil.test")], false),
            (&[site("same-origin"), site("cross-site")], false),
        ] {
            let headers = [headers, &[FORM]].concat();
            let refusal = receive(&headers, "a=b").await.err();
            assert_eq!(refusal, (!is_ours).then_some(PostedFormError::CrossOrigin), "{headers:?}");
        }
    }

    #[tokio::test]
    async fn invalid_forms_are_rejected() {
        let read = receive(&[OURS, FORM], "mode=log+in&name=%E2%9C%93").await.unwrap();
        assert_eq!((read.text("mode"), read.text("name"), read.text("x")), (Some("log in"), Some("✓"), None));
        let utf8 = ("content-type", "Application/x-www-form-urlencoded; charset=utf-8");
        assert!(receive(&[OURS, utf8], "a=b").await.is_ok());
        assert!(receive(&[OURS, FORM], &format!("a={}", "b".repeat(MAX_FORM_BYTES - 2))).await.is_ok());
        for (headers, body, refusal) in [
            (&[OURS, FORM][..], format!("a={}", "b".repeat(MAX_FORM_BYTES - 1)), PostedFormError::TooLarge),
            (&[OURS, FORM], "a=b&a=c".to_owned(), PostedFormError::Malformed),
            (&[OURS], "a=b".to_owned(), PostedFormError::Malformed),
            (&[OURS, ("content-type", "text/plain")], "a=b".to_owned(), PostedFormError::Malformed),
            (&[OURS, ("content-type", "multipart/form-data; boundary=x")], String::new(), PostedFormError::Malformed),
        ] {
            assert_eq!(receive(headers, &body).await.err(), Some(refusal), "{headers:?}");
        }
    }

    #[tokio::test]
    async fn a_token_is_for_one_browser_and_one_purpose() {
        let token = CsrfToken::new(&secret(1), "cancel ses_1");
        let form = receive(&[OURS, FORM], &format!("token={}", token.reveal())).await.unwrap();
        assert_eq!(form.check(Some(&secret(1)), "cancel ses_1"), Ok(()));
        for (cookie, purpose) in
            [(Some(secret(2)), "cancel ses_1"), (Some(secret(1)), "cancel ses_2"), (None, "cancel ses_1")]
        {
            assert_eq!(form.check(cookie.as_ref(), purpose), Err(PostedFormError::Stale), "{purpose}");
        }
        for body in ["", "token=", "a=b", &format!("token={}x", token.reveal()), &format!("tok%65n={}", "a".repeat(43))]
        {
            let form = receive(&[OURS, FORM], body).await.unwrap();
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
