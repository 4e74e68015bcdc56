//! `GET /login/{id}`: the page.

use std::sync::Arc;

use axum::http::header;
use axum::response::{IntoResponse, Response};
use signpost_platform::pages::{DeviceUse, HtmlPage};

use super::document::SECONDS_MARK;
use super::render::render;
use super::state::PageState;
use super::visit::PageVisit;
use crate::service::PageKey;

/// `GET /login/{id}`: drawn once for each version, with the seconds that are left now.
pub(crate) async fn show(visit: PageVisit) -> Result<Response, Response> {
    let (page, cookie) = visit.find_or_claim().await?;
    let now = visit.service.clock.now();
    let view = visit.view(&page, now).map_err(IntoResponse::into_response)?;
    let key: PageKey = (page.session.id.clone(), view.version(), visit.language);
    let draw = async { Ok(Some(render(&visit.document(&page, &view)).split(SECONDS_MARK).map(Box::from).collect())) };
    let drawn: Option<Arc<[Box<str>]>> =
        visit.service.pages.find(&key, draw).await.map_err(|error| crate::error::Error::from(error).into_response())?;
    let document = drawn.unwrap_or_default().join(view.seconds_left(now).to_string().as_str());
    let signed_in = match view.state {
        PageState::Done { .. } => visit.begin_sign_in(&page).await.map_err(IntoResponse::into_response)?,
        _ => None,
    };
    let cookies = cookie.into_iter().chain(signed_in);
    let reply = HtmlPage::personal(document);
    let reply = if view.has_passkeys { reply.with_device_use(DeviceUse::Passkeys) } else { reply };
    Ok(cookies.fold(reply, |reply, cookie| reply.with_header(header::SET_COOKIE, cookie)).into_response())
}
