//! One connection, from its first byte to its last.

use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::ConnectInfo;
use axum::http::Request;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::io::InspectReader;

use super::table::{ConnectionPlace, OpenConnection, Phase};
use crate::server::front::Front;

/// The longest request head, in bytes; a longer one is 431.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// A connection was told to close as a request came.
#[derive(Debug, thiserror::Error)]
#[error("the connection closes")]
struct Closing;

/// Answers the requests of a connection until either side ends it, or the table does.
pub(crate) async fn serve<I>(io: I, peer: SocketAddr, front: Arc<Front>, place: ConnectionPlace)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let connection = place.connection();
    let reading = Arc::clone(connection);
    let io = TokioIo::new(InspectReader::new(io, move |_: &[u8]| reading.bytes_arrived()));
    let service = service_fn(|mut request: Request<Incoming>| {
        // Here and not in the future: from now on the connection is not idle.
        let running = connection.begin_request().then(|| RunningRequest(Arc::clone(connection)));
        request.extensions_mut().insert(ConnectInfo(peer));
        let front = Arc::clone(&front);
        async move {
            let running = running.ok_or(Closing)?;
            let response = front.answer(request.map(to_body)).await;
            Ok::<_, Closing>(response.map(|body| ReplyBody { body, _running: running }))
        }
    });
    let mut builder = http1::Builder::new();
    // The table's sweep does what hyper's own time-out does, which cannot tell a slow head from an idle connection.
    builder.header_read_timeout(None).max_header_size(MAX_HEAD_BYTES);
    let mut http = pin!(builder.serve_connection(io, service));
    loop {
        tokio::select! {
            biased;
            // How it failed is the client's affair.
            _ = http.as_mut() => return,
            () = connection.until_closed() => match connection.phase() {
                Phase::Closing | Phase::Opening | Phase::Head => return,
                // The server drains: a reply that is on its way is finished, and what has none is closed here.
                Phase::Request | Phase::Idle => http.as_mut().graceful_shutdown(),
            },
        }
    }
}

fn to_body(sent: Incoming) -> Body {
    if sent.is_end_stream() { Body::empty() } else { Body::new(sent) }
}

/// A request that is being answered, until it is dropped.
struct RunningRequest(Arc<OpenConnection>);

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.0.end_request();
    }
}

/// The body of a reply, with which the request ends.
struct ReplyBody {
    body: Body,
    _running: RunningRequest,
}

impl HttpBody for ReplyBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
