//! `POST /login/{id}/claim`: a browser brings the secret of a link that an operator handed over, and owns its page from then
//! on.

use axum::extract::Request;
use axum::http::header;
use axum::response::Response;
use signpost_platform::pages::accept::names_html;
use signpost_platform::pages::cookie::CookieSecret;
use signpost_platform::pages::form::PostedForm;

use super::forms::{to_page, to_stale};
use super::visit::PageVisit;

/// `POST /login/{id}/claim`: `link`, the secret or the whole link. The secret guards the page, and no other page knows it; the
/// form must still come from a page of this server.
pub(crate) async fn claim(visit: PageVisit, request: Request) -> Result<Response, Response> {
    let asks_for_page = names_html(request.headers());
    let form = PostedForm::receive(&visit.service.origin, request).await;
    let form = form.map_err(|refusal| to_stale(&visit, refusal))?;
    let typed = form.text("link").unwrap_or_default().trim();
    let secret = CookieSecret::parse(typed.rsplit('#').next().unwrap_or_default()).filter(|_| asks_for_page);
    let (_, cookie) = visit.claim_by_secret(secret.as_ref()).await?;
    let mut reply = to_page(&visit);
    if let Some(cookie) = cookie {
        reply.headers_mut().append(header::SET_COOKIE, cookie);
    }
    Ok(reply)
}
