//! Forms that change something: each carries a token of its cookie, and comes from a page of ours.

use std::collections::BTreeMap;

use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use maud::{Markup, Render, html};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use url::form_urlencoded;

use super::cookie::CookieSecret;
use crate::origin::PublicOrigin;

/// The most that a form may hold, in bytes.
pub const MOST_FORM_BYTES: usize = 16 * 1024;
/// The field with the token.
const TOKEN_FIELD: &str = "token";

/// What a form carries to show that it was made for the browser with a cookie, and for one purpose. Rendered, it is the
/// form's hidden field.
#[derive(Clone, Debug)]
pub struct FormToken(String);

/// The fields of a form that came from a page of ours.
#[derive(Debug)]
pub struct PostedForm(BTreeMap<String, String>);

/// Why a form was refused. Nothing was done then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormRefusal {
    /// It was not posted from a page of this origin.
    Foreign,
    /// Its token is missing, or was made for another browser or purpose: the page is an old one, or the cookie is gone.
    Stale,
    /// It is larger than [`MOST_FORM_BYTES`].
    TooLarge,
    /// It is not URL-encoded, has a field twice, or ended early.
    Unreadable,
}

impl FormToken {
    /// The token of a browser's forms for a purpose, which names what the form acts on.
    ///
    /// # Panics
    /// Never: HMAC takes keys of any length.
    #[must_use]
    pub fn new(secret: &CookieSecret, purpose: &str) -> Self {
        let mac = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes()).expect("HMAC takes keys of any length");
        let mac = mac.chain_update("signpost form ").chain_update(purpose);
        Self(BASE64URL_NOPAD.encode(&mac.finalize().into_bytes()))
    }

    /// Whether a form carries this one; takes the same time wherever they differ.
    #[must_use]
    pub fn is(&self, sent: &str) -> bool {
        self.0.as_bytes().ct_eq(sent.as_bytes()).into()
    }

    /// For a field of the form.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl FormRefusal {
    /// What a browser is told with the page that says it in words.
    #[must_use]
    pub fn status(self) -> StatusCode {
        match self {
            Self::Foreign | Self::Stale => StatusCode::FORBIDDEN,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Unreadable => StatusCode::BAD_REQUEST,
        }
    }
}

impl Render for FormToken {
    fn render(&self) -> Markup {
        html! { input type="hidden" name=(TOKEN_FIELD) value=(self.0); }
    }
}

impl PostedForm {
    /// Reads a form that a page of `origin` posted.
    ///
    /// # Errors
    /// Where another page posted it, or it cannot be read.
    pub async fn receive(origin: &PublicOrigin, request: Request) -> Result<Self, FormRefusal> {
        let (parts, body) = request.into_parts();
        if !is_from(origin, &parts.headers) {
            return Err(FormRefusal::Foreign);
        }
        let media_type = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media_type = media_type.and_then(|text| text.split(';').next()).map(str::trim);
        if !media_type.is_some_and(|name| name.eq_ignore_ascii_case("application/x-www-form-urlencoded")) {
            return Err(FormRefusal::Unreadable);
        }
        let body = Limited::new(body, MOST_FORM_BYTES).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() { FormRefusal::TooLarge } else { FormRefusal::Unreadable }
        })?;
        let mut fields = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(&body.to_bytes()).into_owned() {
            if fields.insert(name, value).is_some() {
                return Err(FormRefusal::Unreadable);
            }
        }
        Ok(Self(fields))
    }

    /// What a field holds.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Refuses a form that was not made for this browser and purpose; takes the same time wherever tokens differ.
    ///
    /// # Errors
    /// Where the cookie or the token is missing, or they do not belong together.
    pub fn check(&self, cookie: Option<&CookieSecret>, purpose: &str) -> Result<(), FormRefusal> {
        let (Some(cookie), Some(token)) = (cookie, self.text(TOKEN_FIELD)) else { return Err(FormRefusal::Stale) };
        FormToken::new(cookie, purpose).is(token).then_some(()).ok_or(FormRefusal::Stale)
    }
}

/// Whether a page of `origin` sent the request. Pages of ours send no referrer, and with it no origin but `null` (Fetch
/// standard, "append a request `Origin` header"); then `Sec-Fetch-Site` says what it would have said.
#[must_use]
pub fn is_from(origin: &PublicOrigin, headers: &HeaderMap) -> bool {
    let only = |name: header::HeaderName| {
        let mut values = headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (None, _) => Ok(None),
            (Some(value), None) => value.to_str().map(Some).map_err(drop),
            _ => Err(()),
        }
    };
    let (Ok(sent), Ok(site)) = (only(header::ORIGIN), only(header::HeaderName::from_static("sec-fetch-site"))) else {
        return false;
    };
    match (sent, site) {
        // Browsers send `Sec-Fetch-Site` to trustworthy addresses alone: elsewhere the token decides by itself.
        (Some("null"), None) => !origin.is_trustworthy(),
        (None | Some("null"), site) => site == Some("same-origin"),
        (Some(sent), None | Some("same-origin")) => sent == origin.as_str(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
    const OURS: (&str, &str) = ("origin", "https://login.test");

    async fn receive(headers: &[(&str, &str)], body: &str) -> Result<PostedForm, FormRefusal> {
        let request = headers.iter().fold(Request::post("/"), |request, (name, value)| request.header(*name, *value));
        let origin = PublicOrigin::of("https://login.test");
        PostedForm::receive(&origin, request.body(Body::from(body.to_owned())).unwrap()).await
    }

    #[tokio::test]
    async fn where_browsers_say_nothing_of_the_site_the_token_decides() {
        for (origin, is_taken) in [
            ("http://login.lan:8080", true),
            ("http://192.0.2.7", true),
            ("https://login.lan", false),
            ("http://localhost:8080", false),
            ("http://127.0.0.1:8080", false),
            ("http://[::1]:8080", false),
        ] {
            let request = Request::post("/").header(FORM.0, FORM.1).header("origin", "null").body(Body::empty());
            let form = PostedForm::receive(&PublicOrigin::of(origin), request.unwrap()).await;
            assert_eq!(form.is_ok(), is_taken, "{origin}");
            let refused = form.map(|form| form.check(Some(&secret(1)), "x"));
            assert!(!matches!(refused, Ok(Ok(()))), "{origin}");
        }
    }

    fn secret(number: u8) -> CookieSecret {
        CookieSecret::from_bytes([number; 32])
    }

    #[tokio::test]
    async fn a_form_comes_from_a_page_of_ours() {
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
            assert_eq!(refusal, (!is_ours).then_some(FormRefusal::Foreign), "{headers:?}");
        }
    }

    #[tokio::test]
    async fn a_form_is_read_whole_or_not_at_all() {
        let read = receive(&[OURS, FORM], "mode=log+in&name=%E2%9C%93").await.unwrap();
        assert_eq!((read.text("mode"), read.text("name"), read.text("x")), (Some("log in"), Some("✓"), None));
        let utf8 = ("content-type", "Application/x-www-form-urlencoded; charset=utf-8");
        assert!(receive(&[OURS, utf8], "a=b").await.is_ok());
        assert!(receive(&[OURS, FORM], &format!("a={}", "b".repeat(MOST_FORM_BYTES - 2))).await.is_ok());
        for (headers, body, refusal) in [
            (&[OURS, FORM][..], format!("a={}", "b".repeat(MOST_FORM_BYTES - 1)), FormRefusal::TooLarge),
            (&[OURS, FORM], "a=b&a=c".to_owned(), FormRefusal::Unreadable),
            (&[OURS], "a=b".to_owned(), FormRefusal::Unreadable),
            (&[OURS, ("content-type", "text/plain")], "a=b".to_owned(), FormRefusal::Unreadable),
            (&[OURS, ("content-type", "multipart/form-data; boundary=x")], String::new(), FormRefusal::Unreadable),
        ] {
            assert_eq!(receive(headers, &body).await.err(), Some(refusal), "{headers:?}");
        }
    }

    #[tokio::test]
    async fn a_token_is_for_one_browser_and_one_purpose() {
        let token = FormToken::new(&secret(1), "cancel ses_1");
        let form = receive(&[OURS, FORM], &format!("token={}", token.reveal())).await.unwrap();
        assert_eq!(form.check(Some(&secret(1)), "cancel ses_1"), Ok(()));
        for (cookie, purpose) in
            [(Some(secret(2)), "cancel ses_1"), (Some(secret(1)), "cancel ses_2"), (None, "cancel ses_1")]
        {
            assert_eq!(form.check(cookie.as_ref(), purpose), Err(FormRefusal::Stale), "{purpose}");
        }
        for body in ["", "token=", "a=b", &format!("token={}x", token.reveal()), &format!("tok%65n={}", "a".repeat(43))]
        {
            let form = receive(&[OURS, FORM], body).await.unwrap();
            assert_eq!(form.check(Some(&secret(1)), "cancel ses_1"), Err(FormRefusal::Stale), "{body}");
        }
    }

    #[test]
    fn a_token_is_the_forms_hidden_field() {
        let token = FormToken::new(&secret(1), "cancel ses_1");
        let field = format!("<input type=\"hidden\" name=\"token\" value=\"{}\">", token.reveal());
        assert_eq!(token.render().into_string(), field);
    }
}
