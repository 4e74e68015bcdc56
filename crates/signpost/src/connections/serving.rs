//! One connection, from its first byte to its last.

use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::ConnectInfo;
use axum::http::header::X_CONTENT_TYPE_OPTIONS;
use axum::http::{HeaderValue, Method, Request};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::ClientLeft;
use super::table::{Connection, Phase, Place};

/// The longest request head, in bytes; a longer one is 431.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// A connection was told to close as a request came.
#[derive(Debug, thiserror::Error)]
#[error("the connection closes")]
struct Closing;

/// Answers the requests of a connection until either side ends it, or the table does.
pub(super) async fn serve<I>(io: I, peer: SocketAddr, router: Router, place: Place)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let connection = place.connection();
    let io = TokioIo::new(Stream { io, connection: Arc::clone(connection), is_over: false });
    let router = TowerToHyperService::new(router);
    let service = service_fn(|mut request: Request<Incoming>| {
        // Here and not in the future: from now on the connection is not idle.
        let running = connection.begin_request().then(|| Running(Arc::clone(connection)));
        let left = connection.left().clone();
        request.extensions_mut().insert(ConnectInfo(peer));
        request.extensions_mut().insert(ClientLeft(left.clone()));
        let is_get = request.method() == Method::GET;
        let answer = router.call(request.map(|body| Body::new(Asked::new(body, left.clone()))));
        async move {
            let running = running.ok_or(Closing)?;
            let Ok(mut response) = answer.await;
            response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
            Ok::<_, Closing>(response.map(|body| {
                // Only who listens asks with GET for what has no length: the stream would never end by itself.
                let listens = is_get && body.size_hint().exact().is_none();
                let left = listens.then(|| Box::pin(left.cancelled_owned()));
                Answer { body, left, _running: running }
            }))
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
            () = connection.told() => match connection.phase() {
                Phase::Closing | Phase::Opening | Phase::Head => return,
                // The server drains: a reply that is on its way is finished, and what has none is closed here.
                Phase::Request | Phase::Idle => http.as_mut().graceful_shutdown(),
            },
        }
    }
}

/// A request that is being answered, until it is dropped.
struct Running(Arc<Connection>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.end_request();
    }
}

/// What a client sends and is sent. One that has said that it sends no more still gets its answer.
struct Stream<I> {
    io: I,
    connection: Arc<Connection>,
    /// Whether the client sends no more.
    is_over: bool,
}

impl<I: AsyncRead + Unpin> AsyncRead for Stream<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.is_over {
            let before = buffer.filled().len();
            ready!(Pin::new(&mut self.io).poll_read(context, buffer))?;
            if buffer.filled().len() > before {
                self.connection.bytes_arrived();
                return Poll::Ready(Ok(()));
            }
            self.is_over = true;
        }
        self.connection.poll_end(context).map(Ok)
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Stream<I> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

/// A client said that it sends no more in the middle of a body.
#[derive(Debug, thiserror::Error)]
#[error("the client sent only a part of it")]
struct BrokenOff;

/// The body of a request.
struct Asked {
    body: Incoming,
    left: CancellationToken,
    leaves: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
}

impl Asked {
    fn new(body: Incoming, left: CancellationToken) -> Self {
        Self { body, left, leaves: None }
    }
}

impl HttpBody for Asked {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { body, left, leaves } = self.get_mut();
        loop {
            // What had come before the client left is here by then.
            let has_left = left.is_cancelled();
            match Pin::new(&mut *body).poll_frame(context) {
                Poll::Pending if has_left => return Poll::Ready(Some(Err(axum::Error::new(BrokenOff)))),
                Poll::Pending => {}
                Poll::Ready(frame) => return Poll::Ready(frame.map(|frame| frame.map_err(axum::Error::new))),
            }
            let leaves = leaves.get_or_insert_with(|| Box::pin(left.clone().cancelled_owned()));
            ready!(leaves.as_mut().poll(context));
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of a reply, with which the request ends.
struct Answer {
    body: Body,
    /// Ends a stream without end with its client.
    left: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    _running: Running,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.left.as_mut().is_some_and(|left| left.as_mut().poll(context).is_ready()) {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
