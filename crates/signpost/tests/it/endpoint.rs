//! An integrator's webhook endpoint, which answers as its test says.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use serde_json::Value;

/// One request that came.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// What the endpoint does with the requests that come from now on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    Status(u16),
    RetryAfter(u16, &'static str),
    Redirect,
    Never,
}

pub(crate) struct Endpoint {
    pub(crate) address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    answer: Arc<Mutex<Answer>>,
}

impl Endpoint {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (received, answer) = (Arc::default(), Arc::new(Mutex::new(Answer::Status(200))));
        let endpoint = Self { address, received: Arc::clone(&received), answer: Arc::clone(&answer) };
        let handle = async move |uri: axum::http::Uri, headers: HeaderMap, body: Bytes| {
            let path = uri.path().to_owned();
            received.lock().unwrap().push(Received { path, headers, body });
            let answer = *answer.lock().unwrap();
            reply(answer).await
        };
        tokio::spawn(async move { axum::serve(listener, Router::new().fallback(any(handle))).await });
        endpoint
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn answer(&self, answer: Answer) {
        *self.answer.lock().unwrap() = answer;
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// The requests, as soon as there are so many; fails after ten seconds.
    pub(crate) async fn wait_for(&self, count: usize) -> Vec<Received> {
        let begun = Instant::now();
        loop {
            let received = self.received();
            if received.len() >= count {
                return received;
            }
            assert!(begun.elapsed() < Duration::from_secs(10), "{} of {count} requests came", received.len());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

impl Received {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

async fn reply(answer: Answer) -> Response {
    match answer {
        Answer::Status(status) => StatusCode::from_u16(status).unwrap().into_response(),
        Answer::RetryAfter(status, wait) => {
            (StatusCode::from_u16(status).unwrap(), [("retry-after", wait)]).into_response()
        }
        Answer::Redirect => (StatusCode::TEMPORARY_REDIRECT, [("location", "/elsewhere")]).into_response(),
        Answer::Never => std::future::pending().await,
    }
}
