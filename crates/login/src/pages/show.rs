//! Handler of `GET /login/{id}`: returns the login page.

use std::sync::Arc;

use axum::http::header;
use axum::response::Result;
use signpost_platform::pages::{DeviceUse, HtmlPage};

use super::context::LoginPageContext;
use super::document::SECONDS_PLACEHOLDER;
use super::render::render;
use super::state::PageState;
use crate::error::Error;
use crate::service::PageKey;

/// `GET /login/{id}`: returns the login page. It is rendered once per version; each response
/// inserts the remaining seconds of the countdown.
pub(crate) async fn show(context: LoginPageContext) -> Result<HtmlPage> {
    let (page, page_cookie) = context.find_or_claim().await?;
    let now = context.service.clock.now();
    let view = context.view(&page, now)?;
    let key: PageKey = (page.session.id.clone(), view.version(), context.language);
    let draw =
        async { Ok(Some(render(&context.document(&page, &view)).split(SECONDS_PLACEHOLDER).map(Box::from).collect())) };
    let parts: Option<Arc<[Box<str>]>> = context.service.pages.find(&key, draw).await.map_err(Error::from)?;
    let document = parts.unwrap_or_default().join(view.seconds_left(now).to_string().as_str());
    let mut reply = HtmlPage::personal(document);
    if view.has_passkeys {
        reply = reply.with_device_use(DeviceUse::Passkeys);
    }
    if let Some(cookie) = page_cookie {
        reply = reply.with_header(header::SET_COOKIE, cookie);
    }
    if matches!(view.state, PageState::Done { .. })
        && let Some(cookie) = context.begin_sign_in(&page).await?
    {
        reply = reply.with_header(header::SET_COOKIE, cookie);
    }
    Ok(reply)
}
