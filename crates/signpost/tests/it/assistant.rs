//! An assistant that sends MCP requests to a server.

use std::path::Path;

use jiff::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};
use signpost_platform::clock::Clock;

use crate::harness::{Reply, Service, database, send};

/// Start time of every test.
const START_TIME: Timestamp = Timestamp::constant(1_800_000_000, 0);

/// Starts a server of both services with a separate database and without limits.
pub(crate) async fn server() -> Service {
    server_with(&[]).await
}

/// Starts a server with other settings.
pub(crate) async fn server_with(settings: &[(&str, &str)]) -> Service {
    let url = database().await;
    open(&[&[("database_url", url.as_str())], settings].concat()).await
}

/// Starts a server whose database file persists for the next server.
pub(crate) async fn server_in(folder: &Path, settings: &[(&str, &str)]) -> Service {
    open(&[&[("data_dir", folder.to_str().unwrap())], settings].concat()).await
}

async fn open(settings: &[(&str, &str)]) -> Service {
    Service::open(&[&[("services", "atm,auth")], settings].concat(), Clock::manual(START_TIME)).await
}

impl Service {
    /// Sends a request without credentials.
    pub(crate) async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut request = self.visitor().request(method, path).body(body.to_owned());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let reply = send(request).await;
        crate::schemas::check(body, &reply.text);
        reply
    }

    /// Sends a JSON-RPC message to `/mcp`.
    pub(crate) async fn rpc(&self, message: &Value) -> Reply {
        self.send(Method::POST, "/mcp", &[("content-type", "application/json")], &message.to_string()).await
    }

    /// Calls a tool like the simplest client.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Reply {
        let params = json!({ "name": tool, "arguments": arguments });
        self.rpc(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })).await
    }
}
