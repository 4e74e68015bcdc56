//! A client of the API, with or without an API key.

use std::borrow::Borrow;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use super::{Reply, text};

/// A webhook URL without a listener: events to it are refused immediately and never leave this host.
pub(crate) const UNREACHABLE_URL: &str = "http://127.0.0.1:1/hook";

#[derive(Clone, Debug)]
pub(crate) struct Integrator {
    pub(crate) http: Client,
    /// The base URL of the API, including `/v1` or `/sandbox/v1`.
    pub(crate) api: String,
    pub(crate) key: Option<String>,
}

impl Integrator {
    /// Returns a copy of this client with another API key, or without a key.
    pub(crate) fn with_key(&self, key: Option<&str>) -> Self {
        Self { key: key.map(str::to_owned), ..self.clone() }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.api));
        match &self.key {
            Some(key) => request.header(AUTHORIZATION, format!("Bearer {key}")),
            None => request,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        send(self.request(Method::GET, path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: impl Borrow<Value>) -> Reply {
        self.post_raw(path, &body.borrow().to_string()).await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Reply {
        let request = self.request(Method::PATCH, path).header(CONTENT_TYPE, "application/json");
        send(request.body(body.to_string())).await
    }

    /// Posts a text that may be invalid JSON.
    pub(crate) async fn post_raw(&self, path: &str, body: &str) -> Reply {
        let request = self.request(Method::POST, path).header(CONTENT_TYPE, "application/json");
        send(request.body(body.to_owned())).await
    }

    /// Creates a session with an idempotency key.
    pub(crate) async fn create_idempotently(&self, key: &str, body: &Value) -> Reply {
        let request = self.request(Method::POST, "/sessions").header(CONTENT_TYPE, "application/json");
        send(request.header("idempotency-key", key).body(body.to_string())).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        send(self.request(Method::DELETE, path)).await
    }

    /// Cancels a session.
    pub(crate) async fn cancel(&self, session: &Value) -> Reply {
        send(self.request(Method::DELETE, &format!("/sessions/{}", text(session, "id")))).await
    }

    /// Posts an empty body.
    pub(crate) async fn post_nothing(&self, path: &str) -> Reply {
        send(self.request(Method::POST, path)).await
    }

    /// Registers a domain whose webhooks have no listener.
    pub(crate) async fn register_domain(&self, domain: &str) -> Value {
        self.register_domain_at(domain, UNREACHABLE_URL).await
    }

    pub(crate) async fn register_domain_at(&self, domain: &str, webhook_url: &str) -> Value {
        self.post("/domains", &json!({ "domain": domain, "webhook_url": webhook_url })).await.with(201)
    }

    /// Creates a session with only the required members.
    pub(crate) async fn create_session(&self, domain: &str) -> Value {
        self.post("/sessions", &json!({ "domain": domain })).await.with(201)
    }

    pub(crate) async fn get_session(&self, session: &Value) -> Reply {
        self.get(&format!("/sessions/{}", text(session, "id"))).await
    }

    pub(crate) async fn refresh(&self, session: &Value) -> Reply {
        self.post_nothing(&format!("/sessions/{}/refresh", text(session, "id"))).await
    }

    /// Submits a wallet's answer to a session.
    pub(crate) async fn authenticate(&self, session: &Value, answer: &Value) -> Reply {
        self.post(&format!("/sessions/{}/authenticate", text(session, "id")), answer).await
    }
}

pub(crate) async fn send(request: RequestBuilder) -> Reply {
    let (client, request) = request.build_split();
    let request = request.expect("a request");
    let method = request.method().clone();
    Reply::read(&method, client.execute(request).await.expect("an answer")).await
}
