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
pub(crate) enum Weather {
    /// No failure.
    Fair,
    /// Nothing gets through in either direction, and no connection is closed.
    Silent,
    /// Every connection is closed, including new ones.
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
    weather: Arc<watch::Sender<Weather>>,
}

impl Proxy {
    /// Starts a proxy in front of an address like `127.0.0.1:5432`.
    pub(crate) async fn before(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let weather = Arc::new(watch::channel(Weather::Fair).0);
        let (target, changes) = (target.to_owned(), weather.subscribe());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, target.clone(), changes.clone()));
            }
        });
        Self { address, weather }
    }

    /// Returns the URL with this proxy as host and port.
    pub(crate) fn instead_of(&self, url: &str) -> String {
        url.replace(&authority(url), &self.address)
    }

    pub(crate) fn has(&self, weather: Weather) {
        self.weather.send_replace(weather);
    }
}

/// Returns host and port of a URL.
pub(crate) fn authority(url: &str) -> String {
    let behind = url.split("//").nth(1).unwrap_or_else(|| panic!("{url} has a host"));
    let whole = behind.split(['/', '?']).next().expect("split gives one");
    whole.rsplit('@').next().expect("split gives one").to_owned()
}

async fn carry(client: TcpStream, target: String, mut weather: watch::Receiver<Weather>) {
    if *weather.borrow() == Weather::Cut {
        return;
    }
    let Ok(server) = TcpStream::connect(target).await else { return };
    for stream in [&client, &server] {
        drop(stream.set_nodelay(true));
    }
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    let unheard = AtomicBool::new(false);
    let asked = pass(from_client, to_server, weather.clone(), true, &unheard);
    let answered = pass(from_server, to_client, weather.clone(), false, &unheard);
    tokio::select! {
        () = asked => {}
        () = answered => {}
        _ = weather.wait_for(|weather| *weather == Weather::Cut) => {}
    }
}

/// Forwards data, subject to the failure, until one side closes.
async fn pass(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut weather: watch::Receiver<Weather>,
    is_asked: bool,
    unheard: &AtomicBool,
) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        if weather.wait_for(|weather| *weather != Weather::Silent).await.is_err() {
            return;
        }
        let now = *weather.borrow();
        if let (Weather::Slow(by), true) = (now, is_asked) {
            tokio::time::sleep(by).await;
        }
        let commits = is_asked && bytes[..read].windows(7).any(|word| word == b"COMMIT\0");
        let cuts = now == Weather::CutAtCommit && commits;
        unheard.fetch_or(cuts, Ordering::SeqCst);
        if !is_asked && unheard.load(Ordering::SeqCst) {
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
