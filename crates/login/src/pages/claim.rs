//! Handler of `POST /login/{id}/claim`: makes a browser the owner of a login page if it posts the
//! secret of a link from an operator.

use axum::extract::Request;
use axum::http::header;
use axum::response::{IntoResponse, Response, Result};
use signpost_platform::pages::accept::accepts_html_by_name;
use signpost_platform::pages::cookie::CookieSecret;

use super::context::LoginPageContext;
use super::forms::{receive_form, to_page};

/// `POST /login/{id}/claim`: accepts `link`, the secret or the whole link. The secret replaces the
/// CSRF token, because no other page has it; the form must still come from a page of this server.
pub(crate) async fn claim(context: LoginPageContext, request: Request) -> Result<Response> {
    let accepts_html = accepts_html_by_name(request.headers());
    let form = receive_form(&context, request).await?;
    let link = form.text("link").unwrap_or_default().trim();
    let secret = if accepts_html { CookieSecret::parse(link.rsplit('#').next().unwrap_or_default()) } else { None };
    let (_, cookie) = context.claim_by_secret(secret.as_ref()).await?;
    let mut reply = to_page(&context).into_response();
    if let Some(cookie) = cookie {
        reply.headers_mut().append(header::SET_COOKIE, cookie);
    }
    Ok(reply)
}
