use bytes::Bytes;
use futures_util::future::BoxFuture;

/// Other servers behind the same address. A client of the 2024-11-05 transport may post to any of them, but its stream
/// is open at one: a message that is posted elsewhere has to be brought there.
///
/// Sessions are named as the client names them. A name is a secret: whoever knows it can speak on the session.
pub trait Relay: Send + Sync {
    /// Called once, with what hands a message to a stream that is open here.
    fn start(&self, post: PostToStream);

    /// A stream was opened here. Ends once messages for it can arrive, or cannot be waited for.
    fn opened<'a>(&'a self, session: &'a str) -> BoxFuture<'a, ()>;

    /// It was closed.
    fn closed(&self, session: &str);

    /// Brings a message to the server where the stream is open.
    fn forward<'a>(
        &'a self,
        session: &'a str,
        message: Bytes,
        request_id: Option<&'a str>,
    ) -> BoxFuture<'a, PostResult>;
}

/// Hands a message (session, text, request id) to a stream that is open here.
pub type PostToStream = Box<dyn Fn(&str, Bytes, Option<&str>) -> PostResult + Send + Sync>;

/// What became of a message to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostResult {
    /// Its response comes on the stream.
    Accepted,
    /// Too many replies wait there; the message was not looked at.
    Full,
    /// No such stream is open.
    Unknown,
}
