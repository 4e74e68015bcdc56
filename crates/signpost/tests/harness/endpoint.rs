//! An integrator's webhook endpoint: it records deliveries and sends configured responses.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body_util::BodyExt;
use reqwest::header::HeaderMap;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};

use super::{WAIT_TIMEOUT, documented};

#[derive(Debug)]
pub(crate) struct Endpoint {
    address: String,
    answers: Answers,
    arrived: mpsc::UnboundedReceiver<Received>,
}

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// The next responses; 200 if the list is empty, and no response while the endpoint hangs.
#[derive(Clone, Debug)]
struct Answers {
    next: Arc<Mutex<VecDeque<Response>>>,
    hangs: Arc<watch::Sender<bool>>,
}

type Shared = (Answers, mpsc::UnboundedSender<Received>);

impl Endpoint {
    /// Starts an endpoint that responds with 200.
    pub(crate) async fn start() -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").await.expect("a free port"), false)
    }

    /// Starts an endpoint that accepts every request and never responds.
    pub(crate) async fn hanging() -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").await.expect("a free port"), true)
    }

    pub(crate) fn on(listener: TcpListener, hangs: bool) -> Self {
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let (arrivals, arrived) = mpsc::unbounded_channel();
        let answers = Answers { next: Arc::default(), hangs: Arc::new(watch::channel(hangs).0) };
        let router = Router::new().fallback(receive).with_state((answers.clone(), arrivals));
        tokio::spawn(async { axum::serve(listener, router).await });
        Self { address, answers, arrived }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    /// Adds a response for a later request; requests get the responses in order.
    pub(crate) fn respond_with(&self, answer: impl IntoResponse) {
        self.answers.next.lock().unwrap().push_back(answer.into_response());
    }

    /// Sets whether requests get no response from now on.
    pub(crate) fn set_hanging(&self, hangs: bool) {
        self.answers.hangs.send_replace(hangs);
    }

    /// Waits for the next request that the test has not read.
    pub(crate) async fn next_request(&mut self) -> Received {
        let arrived = tokio::time::timeout(WAIT_TIMEOUT, self.arrived.recv()).await;
        arrived.expect("a request arrives").expect("a server").checked()
    }

    /// Returns the next request if it has already arrived.
    pub(crate) fn try_next_request(&mut self) -> Option<Received> {
        self.arrived.try_recv().ok().map(Received::checked)
    }
}

async fn receive(State((answers, arrivals)): State<Shared>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.expect("a whole body").to_bytes();
    // After the test ends, nothing receives the requests.
    drop(arrivals.send(Received { path: parts.uri.to_string(), headers: parts.headers, body }));
    answers.hangs.subscribe().wait_for(|hangs| !hangs).await.expect("the sender is alive");
    let answer = answers.next.lock().unwrap().pop_front();
    answer.unwrap_or_else(|| "taken".into_response())
}

impl Received {
    /// Checks the event against its documented schema.
    fn checked(self) -> Self {
        if self.headers.contains_key(signpost_auth::WEBHOOK_ID) {
            documented::fits("Event", &self.json()).unwrap_or_else(|error| panic!("{error}"));
        }
        self
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).unwrap_or_else(|| panic!("no {name} among {:?}", self.headers));
        value.to_str().expect("a text")
    }
}
