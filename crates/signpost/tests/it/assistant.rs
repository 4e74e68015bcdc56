//! An assistant that asks a server for machines.

use std::path::Path;

use jiff::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};
use signpost_platform::clock::Clock;

use crate::harness::{Reply, Service, database, send};

/// When every test begins.
const BEGINNING: Timestamp = Timestamp::constant(1_800_000_000, 0);

/// A server of both services with a database of its own, the limits off.
pub(crate) async fn server() -> Service {
    server_with(&[]).await
}

/// The same with other settings.
pub(crate) async fn server_with(settings: &[(&str, &str)]) -> Service {
    let url = database().await;
    open(&[&[("database_url", url.as_str())], settings].concat()).await
}

/// A server whose database is a file, which the next one finds again.
pub(crate) async fn server_in(folder: &Path, settings: &[(&str, &str)]) -> Service {
    open(&[&[("data_dir", folder.to_str().unwrap())], settings].concat()).await
}

async fn open(settings: &[(&str, &str)]) -> Service {
    Service::open(&[&[("services", "atm,auth")], settings].concat(), Clock::manual(BEGINNING)).await
}

impl Service {
    /// A request by nobody in particular.
    pub(crate) async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut request = self.visitor().request(method, path).body(body.to_owned());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let reply = send(request).await;
        crate::schemas::check(body, &reply.text);
        reply
    }

    /// A JSON-RPC message to `/mcp`.
    pub(crate) async fn rpc(&self, message: &Value) -> Reply {
        self.send(Method::POST, "/mcp", &[("content-type", "application/json")], &message.to_string()).await
    }

    /// A tool call, as the simplest client makes it.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Reply {
        let params = json!({ "name": tool, "arguments": arguments });
        self.rpc(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })).await
    }
}
