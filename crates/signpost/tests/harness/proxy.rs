//! A proxy between a server and its database that simulates network failures.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NetworkFault {
    /// No failure.
    None,
    /// Nothing gets through in either direction, and no connection is closed.
    Silent,
    /// Existing and new connections are closed.
    Cut,
    /// Requests of the server are delivered after this delay.
    Slow(Duration),
    /// A commit is delivered, and the connection is closed before the response.
    CutAtCommit,
}

#[derive(Clone, Debug)]
pub(crate) struct Proxy {
    /// The listening address: `127.0.0.1` and a port.
    pub(crate) address: String,
    fault: Arc<watch::Sender<NetworkFault>>,
}

impl Proxy {
    /// Starts a proxy in front of an address like `127.0.0.1:5432`.
    pub(crate) async fn start(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let fault = Arc::new(watch::channel(NetworkFault::None).0);
        let (target, changes) = (target.to_owned(), fault.subscribe());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(forward(client, target.clone(), changes.clone()));
            }
        });
        Self { address, fault }
    }

    /// Returns the URL with this proxy as host and port.
    pub(crate) fn replace_authority(&self, url: &str) -> String {
        url.replace(&authority(url), &self.address)
    }

    pub(crate) fn set_fault(&self, fault: NetworkFault) {
        self.fault.send_replace(fault);
    }
}

/// Returns host and port of a URL.
pub(crate) fn authority(url: &str) -> String {
    let rest = url.split("//").nth(1).unwrap_or_else(|| panic!("{url} has a host"));
    let whole = rest.split(['/', '?']).next().expect("split returns an item");
    whole.rsplit('@').next().expect("split returns an item").to_owned()
}

async fn forward(client: TcpStream, target: String, mut fault: watch::Receiver<NetworkFault>) {
    if *fault.borrow() == NetworkFault::Cut {
        return;
    }
    let Ok(server) = TcpStream::connect(target).await else { return };
    for stream in [&client, &server] {
        drop(stream.set_nodelay(true));
    }
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    let drops_replies = AtomicBool::new(false);
    let requests = forward_one_way(from_client, to_server, fault.clone(), true, &drops_replies);
    let replies = forward_one_way(from_server, to_client, fault.clone(), false, &drops_replies);
    tokio::select! {
        () = requests => {}
        () = replies => {}
        _ = fault.wait_for(|fault| *fault == NetworkFault::Cut) => {}
    }
}

/// Forwards data, subject to the failure, until either side closes.
async fn forward_one_way(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut fault: watch::Receiver<NetworkFault>,
    is_request: bool,
    drops_replies: &AtomicBool,
) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        if fault.wait_for(|fault| *fault != NetworkFault::Silent).await.is_err() {
            return;
        }
        let now = *fault.borrow();
        if let (NetworkFault::Slow(by), true) = (now, is_request) {
            tokio::time::sleep(by).await;
        }
        let commits = is_request && bytes[..read].windows(7).any(|word| word == b"COMMIT\0");
        let cuts = now == NetworkFault::CutAtCommit && commits;
        drops_replies.fetch_or(cuts, Ordering::SeqCst);
        if !is_request && drops_replies.load(Ordering::SeqCst) {
            continue;
        }
        if to.write_all(&bytes[..read]).await.is_err() {
            return;
        }
        if cuts {
            // The database has the commit by now; the client never gets the response.
            tokio::time::sleep(Duration::from_millis(200)).await;
            return;
        }
    }
}
