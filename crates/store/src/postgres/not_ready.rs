//! Detects connection failures of a PostgreSQL server that is not ready yet, so that a later
//! attempt may succeed.

use std::error::Error as _;
use std::io::{self, ErrorKind};

use anyhow::Error;
use tokio::time::error::Elapsed;
use tokio_postgres::error::SqlState;

/// Error that the database server does not accept connections or writes yet: it is down, starting
/// or recovering, has no free connections, or its name cannot be resolved. A wrong password, a
/// missing database and a failed TLS handshake are other errors, because waiting does not resolve
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not ready")]
pub struct DatabaseNotReady;

/// SQLSTATE codes of a server that is starting, restarting or recovering, of a standby that is not
/// promoted yet, and of a server without free connections, because the old servers of a restarting
/// deployment may still be connected.
const NOT_READY_STATES: [SqlState; 5] = [
    SqlState::CANNOT_CONNECT_NOW,
    SqlState::ADMIN_SHUTDOWN,
    SqlState::CRASH_SHUTDOWN,
    SqlState::READ_ONLY_SQL_TRANSACTION,
    SqlState::TOO_MANY_CONNECTIONS,
];

/// Prefix of the standard library's error message for a name that cannot be resolved. The error has
/// no kind and no code.
const LOOKUP_FAILED: &str = "failed to lookup address information";

/// Adds [`DatabaseNotReady`] to an error if a later attempt may succeed.
pub(super) fn mark_not_ready(error: Error) -> Error {
    if is_not_ready(&error) { error.context(DatabaseNotReady) } else { error }
}

fn is_not_ready(error: &Error) -> bool {
    if error.is::<Elapsed>() {
        return true;
    }
    let Some(failed) = error.chain().find_map(|cause| cause.downcast_ref::<tokio_postgres::Error>()) else {
        return false;
    };
    if let Some(state) = failed.code() {
        return NOT_READY_STATES.contains(state);
    }
    // A proxy may accept connections before its server does, and then close them.
    failed.is_closed() || failed.source().and_then(|cause| cause.downcast_ref()).is_some_and(is_not_ready_io)
}

fn is_not_ready_io(error: &io::Error) -> bool {
    match error.kind() {
        // PostgreSQL creates the file of its Unix socket when it starts.
        ErrorKind::NotFound
        | ErrorKind::ConnectionRefused
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe
        | ErrorKind::UnexpectedEof
        | ErrorKind::TimedOut
        | ErrorKind::HostUnreachable
        | ErrorKind::NetworkUnreachable
        | ErrorKind::NetworkDown => true,
        // The driver returns an error without a code if none of several hosts accepts writes yet.
        ErrorKind::PermissionDenied => error.raw_os_error().is_none(),
        _ => error.to_string().starts_with(LOOKUP_FAILED),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::super::address::PostgresAddress;
    use super::*;

    /// Starts a server that sends `reply` on each connection and closes it. Returns the URL of the
    /// server.
    async fn server_with(reply: Vec<u8>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("postgres://signpost@{}/signpost", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let _read = stream.read(&mut [0; 512]).await;
                drop(stream.write_all(&reply).await);
                // Closing a connection with unread bytes resets it, and the reply may be lost.
                drop(stream.shutdown().await);
                drop(tokio::io::copy(&mut stream, &mut tokio::io::sink()).await);
            }
        });
        url
    }

    /// Returns an `ErrorResponse` message with this SQLSTATE code.
    fn error_response(state: &str) -> Vec<u8> {
        let fields = format!("SFATAL\0VFATAL\0C{state}\0Mthe reason\0\0");
        let length = u32::try_from(4 + fields.len()).unwrap();
        [b"E".as_slice(), &length.to_be_bytes(), fields.as_bytes()].concat()
    }

    async fn is_marked(url: &str) -> bool {
        let address = PostgresAddress::parse(url, &[]).unwrap();
        let Err(failed) = address.connect("SELECT 1").await else { panic!("there is no such server") };
        mark_not_ready(failed).is::<DatabaseNotReady>()
    }

    #[tokio::test]
    async fn only_startup_states_are_retried() {
        for (state, expected) in [
            ("57P03", true),
            ("57P01", true),
            ("57P02", true),
            ("25006", true),
            ("53300", true),
            ("28P01", false),
            ("28000", false),
            ("3D000", false),
            ("42501", false),
        ] {
            assert_eq!(is_marked(&server_with(error_response(state)).await).await, expected, "{state}");
        }
    }

    #[tokio::test]
    async fn unreachable_server_is_retried() {
        let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().to_str().unwrap().replace('/', "%2F");
        for url in [
            format!("postgres://signpost@{closed}/signpost"),
            server_with(Vec::new()).await,
            "postgres://signpost@database.invalid/signpost".to_owned(),
            format!("postgres://signpost@{folder}/signpost"),
        ] {
            assert!(is_marked(&url).await, "{url}");
        }
    }

    #[tokio::test]
    async fn server_without_tls_is_not_retried() {
        // A server without a certificate sends this reply to `SSLRequest`.
        let url = server_with(b"N".to_vec()).await;
        assert!(!is_marked(&format!("{url}?sslmode=verify-full")).await);
        // The server accepts the TLS request but does not complete the handshake.
        let url = server_with(b"SHTTP/1.1 400 Bad Request\r\n\r\n".to_vec()).await;
        assert!(!is_marked(&format!("{url}?sslmode=verify-full")).await);
    }
}
