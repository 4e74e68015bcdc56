//! Baseline server with the official Rust SDK for MCP. Its tool returns the JSON of the command
//! line: `rmcp-baseline '{"atms":[]}'`.

use std::sync::Arc;

use axum::serve::ListenerExt;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ServerCapabilities, ServerConfig};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler};
use serde_json::Value;

#[derive(Clone)]
struct Stub(Arc<Value>);

impl ServerHandler for Stub {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::structured((*self.0).clone()).into())
    }
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let found = std::env::args().nth(1).expect("what to return, as JSON");
    let stub = Stub(Arc::new(serde_json::from_str(&found).expect("JSON")));
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let service =
        StreamableHttpService::new(move || Ok(stub.clone()), Arc::new(LocalSessionManager::default()), config);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    println!("http://{}/mcp", listener.local_addr().expect("an address"));
    let listener = listener.tap_io(|connection| drop(connection.set_nodelay(true)));
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await.expect("to serve");
}
