//! A stub of the service with a configurable response, for tests of the login router.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{Method, StatusCode, Uri};
use axum::response::IntoResponse;
use serde_json::Value;
use tokio::net::TcpListener;

/// A stub of the service that sends its configured response to every request.
pub(super) struct Service {
    port: u16,
    state: Arc<Mutex<Script>>,
}

#[derive(Default)]
struct Script {
    reply: Option<(u16, Value)>,
    requests: Vec<(String, Value)>,
}

impl Service {
    pub(super) async fn start() -> Self {
        let (state, listener) = (Arc::default(), TcpListener::bind("127.0.0.1:0").await.unwrap());
        let port = listener.local_addr().unwrap().port();
        let router = Router::new().fallback(answer).with_state(Arc::clone(&state));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { port, state }
    }

    pub(super) fn base(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub(super) fn reply(&self, status: u16, body: Value) {
        self.state.lock().unwrap().reply = Some((status, body));
    }

    /// Returns the requests since the last call, as the method with the path, and the body.
    pub(super) fn take_requests(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut self.state.lock().unwrap().requests)
    }
}

async fn answer(
    State(state): State<Arc<Mutex<Script>>>,
    method: Method,
    uri: Uri,
    body: Bytes,
) -> impl IntoResponse + use<> {
    let mut script = state.lock().unwrap();
    script.requests.push((format!("{method} {uri}"), serde_json::from_slice(&body).unwrap_or_default()));
    let (status, body) = script.reply.clone().expect("a reply");
    (StatusCode::from_u16(status).unwrap(), axum::Json(body))
}
