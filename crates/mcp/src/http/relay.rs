use bytes::Bytes;
use futures_util::future::BoxFuture;

/// The other servers behind this address. A client of the 2024-11-05 transport may post to any of them; the message
/// must be forwarded to the server with the client's stream.
///
/// Session names are the names that clients see. A name is a secret that grants access to the session.
pub trait Relay: Send + Sync {
    /// Called once, with the function that handles a message for a stream of this server.
    fn start(&self, post: PostToStream);

    /// Called when a stream is opened on this server. Returns when messages for it can be received, or when this
    /// failed.
    fn opened<'a>(&'a self, session: &'a str) -> BoxFuture<'a, ()>;

    /// Called when the stream is closed.
    fn closed(&self, session: &str);

    /// Forwards a message to the server with the stream.
    fn forward<'a>(
        &'a self,
        session: &'a str,
        message: Bytes,
        request_id: Option<&'a str>,
    ) -> BoxFuture<'a, PostResult>;
}

/// Handles a message (session, text, request id) for a stream of this server.
pub type PostToStream = Box<dyn Fn(&str, Bytes, Option<&str>) -> PostResult + Send + Sync>;

/// The result of a message for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostResult {
    /// The response is sent on the stream.
    Accepted,
    /// Too many replies are waiting; the message was not handled.
    Full,
    /// No such stream is open.
    Unknown,
}
