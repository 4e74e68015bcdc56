//! Routes of the sample shop and handlers of its pages. Its login is in `login.rs`.

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::form::PostedForm;

use super::pages::{self, Greeting, HomeNotice};
use super::shop::{Shop, ShopError, VISITOR_COOKIE, page, redirect};
use super::{link, login};

const STYLE: &str = include_str!("../../assets/shop.css");

/// Returns the routes of the shop.
pub(super) fn router(shop: Shop) -> Router {
    let style = [(CONTENT_TYPE, "text/css; charset=utf-8"), (CACHE_CONTROL, "no-cache")];
    Router::new()
        .route("/", get(home))
        .route("/login", get(login::begin))
        .route("/return", get(login::complete))
        .route("/account", get(account))
        .route("/keys", post(link::begin))
        .route("/keys/return", get(link::complete))
        .route("/logout", post(log_out))
        .route("/code", get(code))
        .route("/shop.css", get(async move || (style, STYLE)))
        .route("/events", post(async || StatusCode::NO_CONTENT))
        .fallback(async || page(StatusCode::NOT_FOUND, pages::missing()))
        .with_state(shop)
}

async fn home(State(shop): State<Shop>, headers: HeaderMap, request: Request) -> HtmlPage {
    let notice = HomeNotice::from_query(request.uri().query().unwrap_or_default());
    page(StatusCode::OK, pages::home(shop.visitor(&headers).as_ref(), notice))
}

/// Returns the account page of the logged-in visitor. Others are redirected to the front page.
async fn account(State(shop): State<Shop>, headers: HeaderMap, request: Request) -> Result<Response, ShopError> {
    let Some(visitor) = shop.visitor(&headers) else { return Ok(redirect("/", [])) };
    let user = shop.api.find_user(&shop.domain, &visitor.user.id).await?;
    let greeting = Greeting::from_query(request.uri().query().unwrap_or_default());
    let keys_page = format!("{}/account/{}", shop.login_host, shop.domain);
    Ok(page(StatusCode::OK, pages::account(&visitor, user.as_ref(), greeting, &keys_page)).into_response())
}

async fn log_out(State(shop): State<Shop>, request: Request) -> Response {
    let cookie = VISITOR_COOKIE.read(&shop.origin, request.headers());
    let Ok(form) = PostedForm::receive(&shop.origin, request).await else {
        return ShopError::Foreign.into_response();
    };
    if let Some(cookie) = cookie {
        shop.visitors.log_out(&cookie, form.text("everywhere").is_some());
    }
    redirect("/?login=left", [VISITOR_COOKIE.clear(&shop.origin)])
}

async fn code(State(shop): State<Shop>, headers: HeaderMap) -> HtmlPage {
    page(StatusCode::OK, pages::code(shop.visitor(&headers).as_ref()))
}
