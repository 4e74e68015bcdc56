//! What stands around routes and decides, with time to think, whether a request reaches them. As axum's `from_fn`, but a
//! request copies the routes behind it once and not three times.

use std::convert::Infallible;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::response::Response;
use axum::routing::Route;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tower::{Layer, Service};

/// What stands around routes.
pub trait Surrounding: Clone + Send + Sync + 'static {
    /// Answers, by the routes or in their place.
    fn answer(self, request: Request, behind: Behind) -> impl Future<Output = Response> + Send;
}

/// The routes behind it.
#[derive(Clone, Debug)]
pub struct Behind(Route);

/// Puts it around routes.
#[derive(Clone, Debug)]
pub struct Surround<A>(pub A);

/// Routes and what stands around them.
#[derive(Clone, Debug)]
pub struct Surrounded<A> {
    around: A,
    behind: Behind,
}

impl Behind {
    /// What the routes answer.
    pub async fn answer(mut self, request: Request) -> Response {
        let Ok(response) = self.0.call(request).await;
        response
    }
}

impl<A: Clone> Layer<Route> for Surround<A> {
    type Service = Surrounded<A>;

    fn layer(&self, route: Route) -> Surrounded<A> {
        Surrounded { around: self.0.clone(), behind: Behind(route) }
    }
}

impl<A: Surrounding> Service<Request> for Surrounded<A> {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        self.around.clone().answer(request, self.behind.clone()).map(Ok).boxed()
    }
}
