//! Serves a connection.

use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, HeaderValue, Request, header};
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use signpost_platform::clock::Clock;
use signpost_platform::limits::{InProgress, Proxies, RequestPermit, find_caller};
use signpost_platform::observe::untrusted_proxies::UntrustedProxies;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_util::io::InspectReader;

use super::connection::{OpenConnection, Phase};
use super::table::ConnectionPlace;
use crate::HostRouter;

/// Maximum size of a request head, in bytes. Larger heads get 431.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// Maximum size of the parser's read buffer, in bytes. It lives as long as the connection.
const MAX_BUFFER_BYTES: usize = MAX_HEAD_BYTES;

/// Maximum size of a part of a response that is passed to the parser at once, in bytes. A passed part counts as sent.
const MAX_RESPONSE_PART: usize = 64 * 1024;

/// Maximum size of a request body that is read only to reuse the connection, in bytes.
const MAX_DISCARDED_BYTES: u64 = 64 * 1024;

/// Maximum time to wait for a request body that is read only to reuse the connection. A body usually arrives with its
/// head.
const MAX_DISCARD_TIME: Duration = Duration::from_millis(100);

/// Dispatches the requests of all connections of a listener.
pub(crate) struct Dispatcher {
    /// Answers the requests.
    host_router: HostRouter,
    /// The proxies that name the clients behind them.
    proxies: Proxies,
    /// Counts the requests in progress per client address.
    in_progress: InProgress,
    untrusted_proxies: UntrustedProxies,
}

impl Dispatcher {
    pub(crate) fn new(host_router: HostRouter, proxies: Proxies) -> Self {
        Self {
            host_router,
            proxies,
            in_progress: InProgress::default(),
            untrusted_proxies: UntrustedProxies::default(),
        }
    }

    /// Counts a request after its head, before its body is read.
    fn admit(&self, peer: SocketAddr, headers: &HeaderMap) -> RequestPermit {
        if let Some(address) = self.untrusted_proxies.observe(peer, headers, &self.proxies, &Clock::System) {
            self.host_router.record_untrusted_proxy(address);
        }
        self.in_progress.enter(find_caller(peer, headers, &self.proxies))
    }
}

/// The connection is closing.
#[derive(Debug, thiserror::Error)]
#[error("the connection closes")]
struct Closing;

/// Answers the requests of a connection until either side or the table closes it.
pub(crate) async fn serve<I>(io: I, peer: SocketAddr, dispatcher: Arc<Dispatcher>, place: ConnectionPlace)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let connection = place.connection();
    let io = TokioIo::new(InspectReader::new(io, place.recorder()));
    let service = service_fn(|request: Request<Incoming>| {
        let (mut head, incoming) = request.into_parts();
        // The request begins before the future runs, so that the connection does not count as idle.
        let running = place.begin_request(incoming.size_hint().exact());
        let running = running.then(|| RunningRequest(Arc::clone(connection)));
        let permit = dispatcher.admit(peer, &head.headers);
        head.extensions.insert(ConnectInfo(peer));
        head.extensions.insert(permit.clone());
        // A client that waits for "100 Continue" sends no body after an error.
        let sends_body = !head.headers.contains_key(header::EXPECT);
        let (body, unread) = to_body(incoming, connection);
        let request = Request::from_parts(head, body);
        let dispatcher = Arc::clone(&dispatcher);
        async move {
            let running = running.ok_or(Closing)?;
            let mut response = dispatcher.host_router.answer(request).await;
            if !discard_rest(unread, sends_body).await {
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Closing>(response.map(|body| ReplyBody {
                body,
                rest: Bytes::new(),
                _running: running,
                _permit: permit,
            }))
        }
    });
    let mut builder = http1::Builder::new();
    // The table's sweep replaces hyper's own timeout, which does not distinguish a slow head from an idle connection.
    builder.header_read_timeout(None).max_header_size(MAX_HEAD_BYTES).max_buf_size(MAX_BUFFER_BYTES);
    let mut http = pin!(builder.serve_connection(io, service));
    loop {
        tokio::select! {
            biased;
            // Connection errors are caused by the client.
            _ = http.as_mut() => return,
            () = connection.until_closed() => match connection.phase() {
                Phase::Closing | Phase::Opening | Phase::Head => return,
                // The server drains: responses in progress are finished, and idle connections are closed.
                Phase::Request | Phase::Body | Phase::Idle => http.as_mut().graceful_shutdown(),
            },
        }
    }
}

/// Returns the body of a request for its handler, and a shared handle to it for [`discard_rest`].
fn to_body(incoming: Incoming, connection: &Arc<OpenConnection>) -> (Body, Option<Arc<Mutex<Incoming>>>) {
    if incoming.is_end_stream() {
        return (Body::empty(), None);
    }
    let incoming = Arc::new(Mutex::new(incoming));
    let body = RequestBody { incoming: Arc::clone(&incoming), connection: Arc::clone(connection) };
    (Body::new(body), Some(incoming))
}

/// Reads the part of a request body that its handler did not read, if the client sends it. Returns true if the body has
/// ended.
///
/// hyper closes the connection after a response if the body of the request has not arrived. Without `Connection: close`
/// (RFC 9112, 9.6) in the response, the client can send its next request at that moment and lose it.
async fn discard_rest(body: Option<Arc<Mutex<Incoming>>>, sends_body: bool) -> bool {
    let Some(body) = body else { return true };
    let Some(body) = Arc::into_inner(body) else { return false };
    let mut body = body.into_inner().unwrap_or_else(PoisonError::into_inner);
    if body.is_end_stream() {
        return true;
    }
    if !sends_body || body.size_hint().lower() > MAX_DISCARDED_BYTES {
        return false;
    }
    let read_to_end = async {
        let mut length = 0;
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return false };
            length += frame.data_ref().map_or(0, Bytes::len) as u64;
            if length > MAX_DISCARDED_BYTES {
                return false;
            }
        }
        true
    };
    timeout(MAX_DISCARD_TIME, read_to_end).await.unwrap_or(false)
}

/// The body of a request, which records on its connection that the handler waits for it.
struct RequestBody {
    incoming: Arc<Mutex<Incoming>>,
    connection: Arc<OpenConnection>,
}

impl RequestBody {
    fn incoming(&self) -> MutexGuard<'_, Incoming> {
        self.incoming.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut *self.incoming()).poll_frame(context);
        match &polled {
            Poll::Pending => self.connection.body_awaited(),
            Poll::Ready(Some(Ok(frame))) => self.connection.body_arrived(frame.data_ref().map_or(0, Bytes::len)),
            Poll::Ready(_) => self.connection.body_arrived(0),
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.incoming().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming().size_hint()
    }
}

/// A request in progress, until this is dropped.
struct RunningRequest(Arc<OpenConnection>);

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.0.end_request();
    }
}

/// The body of a response; the request ends with it.
struct ReplyBody {
    body: Body,
    /// The rest of a part that is larger than [`MAX_RESPONSE_PART`].
    rest: Bytes,
    _running: RunningRequest,
    _permit: RequestPermit,
}

impl HttpBody for ReplyBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            let polled = Pin::new(&mut self.body).poll_frame(context);
            let Poll::Ready(Some(Ok(frame))) = polled else { return polled };
            match frame.into_data() {
                Ok(data) => self.rest = data,
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
        let length = self.rest.len().min(MAX_RESPONSE_PART);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        let inner = self.body.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + rest);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}
