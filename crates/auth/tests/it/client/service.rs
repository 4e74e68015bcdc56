//! Starts `sdk/replies.py` and returns the requests that it received.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde::Deserialize;
use serde_json::Value;

/// A simulated service that plays one case on each of its ports until it is dropped.
pub(super) struct Service {
    child: Child,
    ports: HashMap<String, u16>,
}

/// A request that the service received.
#[derive(Debug, Deserialize)]
pub(super) struct ReceivedRequest {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: HashMap<String, String>,
    pub(super) body: Value,
}

impl Service {
    pub(super) fn start(vectors: &str) -> Self {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let mut program = Command::new("python3");
        program.arg(format!("{root}/sdk/replies.py")).arg(format!("{root}/vectors/{vectors}.json"));
        let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("python3 is installed");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { ports: serde_json::from_str(&line).unwrap(), child }
    }

    pub(super) fn port(&self, case: &str) -> u16 {
        self.ports[case]
    }

    pub(super) async fn seen(&self, case: &str) -> Vec<ReceivedRequest> {
        let reply = reqwest::get(format!("http://127.0.0.1:{}/seen", self.port(case))).await.unwrap();
        serde_json::from_slice(&reply.bytes().await.unwrap()).unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // The process exits when its standard input is closed.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
