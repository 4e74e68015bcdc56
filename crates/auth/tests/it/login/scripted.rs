//! A service that plays a script: exact calls in an exact order, with replies, or lost connections.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A call that the service expects, and its reply.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ScriptedCall {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) body: Option<Value>,
    reply: ScriptedReply,
}

#[derive(Clone, Debug, Deserialize)]
struct ScriptedReply {
    status: Option<u16>,
    json: Option<Value>,
    text: Option<String>,
    request_id: Option<String>,
    #[serde(default)]
    lost: bool,
}

/// A call that the service received: the method, the path and the body.
pub(super) type ReceivedCall = (String, String, Option<Value>);

/// A service that replies with its script. A call without a script is a lost connection.
#[derive(Clone, Default)]
pub(super) struct ScriptedService {
    port: u16,
    script: Arc<Mutex<VecDeque<ScriptedCall>>>,
    received: Arc<Mutex<Vec<ReceivedCall>>>,
}

impl ScriptedService {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let service = Self { port: listener.local_addr().unwrap().port(), ..Self::default() };
        let server = service.clone();
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                server.reply(connection).await;
            }
        });
        service
    }

    pub(super) fn base(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub(super) fn expect(&self, calls: &[ScriptedCall]) {
        self.script.lock().unwrap().extend(calls.iter().cloned());
    }

    /// Returns the calls since the last call of this function, and the calls that were expected and
    /// not made.
    pub(super) fn take(&self) -> (Vec<ReceivedCall>, Vec<ScriptedCall>) {
        let received = std::mem::take(&mut *self.received.lock().unwrap());
        (received, self.script.lock().unwrap().drain(..).collect())
    }

    /// Serves one request of a connection.
    async fn reply(&self, mut connection: TcpStream) {
        let (head, body) = read_request(&mut connection).await;
        let mut words = head.split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let path = path.strip_prefix("/v1").unwrap_or(path);
        let received = (method.to_owned(), path.to_owned(), serde_json::from_slice(&body).ok());
        self.received.lock().unwrap().push(received);
        let reply = self.script.lock().unwrap().pop_front().map(|call| call.reply);
        if let Some(reply) = reply.filter(|reply| !reply.lost) {
            connection.write_all(reply.to_http().as_bytes()).await.unwrap();
            connection.shutdown().await.unwrap();
        }
    }
}

impl ScriptedReply {
    /// Returns the response of HTTP/1.1, after which the connection is closed.
    fn to_http(&self) -> String {
        let (kind, body) = match (&self.json, &self.text) {
            (Some(json), _) => ("application/json", json.to_string()),
            (None, text) => ("text/html", text.clone().unwrap_or_default()),
        };
        let request_id = self.request_id.as_ref().map(|id| format!("x-request-id: {id}\r\n")).unwrap_or_default();
        format!(
            "HTTP/1.1 {} Scripted\r\nconnection: close\r\ncontent-type: {kind}\r\n{request_id}content-length: {}\r\n\r\n{body}",
            self.status.unwrap(),
            body.len()
        )
    }
}

/// Returns the head and the body of a request.
async fn read_request(connection: &mut TcpStream) -> (String, Vec<u8>) {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|part| part == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                if name.eq_ignore_ascii_case("content-length") { value.trim().parse().ok() } else { None }
            });
            let length: usize = length.unwrap_or(0);
            if bytes.len() >= end + 4 + length {
                return (head, bytes[end + 4..].to_vec());
            }
        }
        if connection.read_buf(&mut bytes).await.unwrap() == 0 {
            return (String::new(), Vec::new());
        }
    }
}
