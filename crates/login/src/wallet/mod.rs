//! Routes of the hosted handlers. Wallets post without an API key, so each client IP has a tenth of
//! an account's rate limit.

mod cross_origin;
pub mod lnurl;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use signpost_auth::Mode;
use signpost_platform::accounts::Environment;
use signpost_platform::limits::{Caller, Limit};
use signpost_platform::web::json::read_body;
use signpost_platform::web::peer::client_address;
use signpost_platform::web::problem::Problem;
use url::form_urlencoded;

use crate::flows::answer_context::AnswerContext;
use crate::flows::hosted;
use crate::service::LoginService;

/// Returns the routes of the hosted handlers in an environment.
pub(crate) fn router(service: &LoginService, environment: Environment) -> Router<LoginService> {
    let hosted = format!("{}/hosted", environment.path());
    Router::new()
        .route(&format!("{hosted}/login"), handler(environment, Mode::Login))
        .route(&format!("{hosted}/register"), handler(environment, Mode::Register))
        .route(&format!("{hosted}/link"), handler(environment, Mode::Link))
        .layer(from_fn_with_state(service.clone(), cross_origin::allow_wallet_origin))
}

fn handler(environment: Environment, mode: Mode) -> MethodRouter<LoginService> {
    post(move |service, request| handle_answer(service, environment, mode, request))
        .get(move |service, request| show_context(service, environment, mode, request))
        .fallback(async || Problem::MethodNotAllowed)
}

async fn handle_answer(
    State(service): State<LoginService>,
    environment: Environment,
    mode: Mode,
    request: Request,
) -> Response {
    if let Err(error) = count_request(&service, client_address(&service, &request)).await {
        return hosted::to_response(&error);
    }
    let context = AnswerContext::new(&service, request.headers());
    // The handler contract treats a body that is not JSON as an object without fields.
    match read_body(request.into_body()).await {
        Ok(body) => hosted::handle_answer(&service, environment, mode, context, &body).await.into_response(),
        Err(error) => hosted::to_response(&error),
    }
}

async fn show_context(
    State(service): State<LoginService>,
    environment: Environment,
    mode: Mode,
    request: Request,
) -> Response {
    if let Err(error) = count_request(&service, client_address(&service, &request)).await {
        return hosted::to_response(&error);
    }
    let query = request.uri().query().unwrap_or_default().to_owned();
    let challenge = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "challenge");
    let context = AnswerContext::new(&service, request.headers());
    hosted::show_context(&service, environment, mode, context, challenge.as_ref().map(|(_, text)| &**text)).await
}

async fn count_request(service: &LoginService, address: Caller) -> Result<(), Problem> {
    service.limits.check_tenth(Limit::Answer, &address, service.clock.elapsed()).await.map_err(Problem::RateLimited)
}
