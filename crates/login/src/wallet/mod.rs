//! Where wallets post to hosted handlers: without a key, so each address has a tenth of what an account has.

mod cross_origin;
pub mod lnurl;

use axum::Router;
use axum::extract::Request;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{MethodRouter, post};
use signpost_auth::Mode;
use signpost_platform::accounts::Environment;
use signpost_platform::limits::{Caller, Limit};
use signpost_platform::web::Payload;
use signpost_platform::web::problem::Problem;
use url::form_urlencoded;

use crate::flows::asker::Asker;
use crate::flows::hosted;
use crate::service::LoginService;

pub(crate) fn router(service: &LoginService, environment: Environment) -> Router<LoginService> {
    let route = |mode| -> MethodRouter<LoginService> {
        post(move |service, request| handle_answer(service, environment, mode, request))
            .get(move |service, request| show_context(service, environment, mode, request))
            .fallback(async || Problem::MethodNotAllowed)
    };
    let at = |path: &str| format!("{}{path}", environment.path());
    Router::new()
        .route(&at("/hosted/login"), route(Mode::Login))
        .route(&at("/hosted/register"), route(Mode::Register))
        .route(&at("/hosted/link"), route(Mode::Link))
        .layer(from_fn_with_state(service.clone(), cross_origin::let_wallet_ask))
}

type Extract = axum::extract::State<LoginService>;

async fn handle_answer(service: Extract, environment: Environment, mode: Mode, request: Request) -> Response {
    if let Err(error) = count_request(&service, signpost_platform::web::peer::client_address(&service, &request)).await
    {
        return hosted::to_response(&error);
    }
    let asker = Asker::of(&service, request.headers());
    // As in the handler contract: what is no JSON at all is a body that lacks its fields.
    let body = Payload::bytes(request.into_body()).await;
    hosted::handle_post(service.0, environment, mode, asker, body).await
}

async fn show_context(service: Extract, environment: Environment, mode: Mode, request: Request) -> Response {
    if let Err(error) = count_request(&service, signpost_platform::web::peer::client_address(&service, &request)).await
    {
        return hosted::to_response(&error);
    }
    let query = request.uri().query().unwrap_or_default().to_owned();
    let challenge = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "challenge");
    let asker = Asker::of(&service, request.headers());
    hosted::show_context(&service, environment, mode, asker, challenge.as_ref().map(|(_, text)| &**text)).await
}

async fn count_request(service: &LoginService, address: Caller) -> Result<(), Problem> {
    service.limits.check_tenth(Limit::Answer, &address, service.clock.elapsed()).await.map_err(Problem::RateLimited)
}
