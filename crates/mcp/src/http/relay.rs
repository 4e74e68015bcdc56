//! The interface for forwarding messages between several server processes behind one address.

use bytes::Bytes;
use futures_util::future::BoxFuture;

/// A relay to the other server processes behind this address. A client of the 2024-11-05 transport may post to any of
/// them, so the message must be forwarded to the process with the client's stream.
///
/// Sessions are identified by the ID that the client uses. The ID is a secret that grants access to the session.
pub trait Relay: Send + Sync {
    /// Called once at startup with the function that handles a message for a stream of this process.
    fn start(&self, post: PostToStream);

    /// Called when a stream is opened on this process. The future completes when forwarded messages for it can be
    /// received, or when that has failed.
    fn opened<'a>(&'a self, session: &'a str) -> BoxFuture<'a, ()>;

    /// Called when a stream is closed.
    fn closed(&self, session: &str);

    /// Forwards a message to the process with the session's stream.
    fn forward<'a>(
        &'a self,
        session: &'a str,
        message: Bytes,
        request_id: Option<&'a str>,
    ) -> BoxFuture<'a, PostResult>;
}

/// A function that handles a message (session, body, request ID) for a stream of this process.
pub type PostToStream = Box<dyn Fn(&str, Bytes, Option<&str>) -> PostResult + Send + Sync>;

/// The result of posting a message to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostResult {
    /// The message is accepted. Its response is sent on the stream.
    Accepted,
    /// The message is rejected, because too many replies of the session are waiting.
    Full,
    /// The message is rejected, because the session has no open stream.
    Unknown,
}
