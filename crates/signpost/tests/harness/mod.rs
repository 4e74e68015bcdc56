//! The actors of both test binaries: a running [`Service`], an [`Integrator`] that calls it, a [`Phone`] that answers,
//! an [`Endpoint`] that receives events, a [`NameServer`] with DNS records, and the [`Program`] at a command line.

mod browser;
mod database;
pub(crate) mod documented;
mod endpoint;
mod fleet;
mod integrator;
mod name_server;
mod phone;
mod program;
mod proxy;
mod relying_party;
mod reply;
mod service;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use signpost_login::sessions::SessionWriteError;
use signpost_store::WriteError;

pub(crate) use browser::{Browser, ShownPage, page_path};
pub(crate) use database::{database, embedded_database, open_separately};
pub(crate) use endpoint::{Endpoint, Received};
pub(crate) use fleet::Fleet;
pub(crate) use integrator::{Integrator, UNREACHABLE_URL, send};
pub(crate) use name_server::NameServer;
pub(crate) use phone::{Phone, scan};
pub(crate) use program::{CommandOutput, Program, RunningProgram, StreamingCommand};
pub(crate) use proxy::{NetworkFault, Proxy, authority};
pub(crate) use relying_party::{RelyingParty, VERIFIER};
pub(crate) use reply::Reply;
pub(crate) use service::{QueuedEvent, Service, config, http, redis};

/// Timeout for events that must happen. It is long because the machine may be busy; no test measures a duration with
/// it.
pub(crate) const WAIT_TIMEOUT: Duration = Duration::from_mins(1);

/// Polls until `look` returns a value.
pub(crate) async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + WAIT_TIMEOUT;
    loop {
        if let Some(seen) = look().await {
            return seen;
        }
        assert!(Instant::now() < deadline, "{what} did not happen within {WAIT_TIMEOUT:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Returns true if a write was committed, `false` for a conflict.
pub(crate) fn is_written(result: Result<(), WriteError>) -> bool {
    match result {
        Ok(()) => true,
        Err(WriteError::Conflict) => false,
        Err(WriteError::Internal(error)) => panic!("a database: {error:#}"),
    }
}

/// Returns true if a write of a session was committed, `false` if the session has changed.
pub(crate) fn is_session_written<T>(result: Result<T, SessionWriteError>) -> bool {
    match result {
        Ok(_) => true,
        Err(SessionWriteError::Changed(_) | SessionWriteError::StatementRefused) => false,
        Err(SessionWriteError::Internal(error)) => panic!("a database: {error:#}"),
    }
}

/// Copies a file of a server that runs in this process. Another process does it, because the locks of a process on a
/// file end when it closes any descriptor of that file (POSIX): without the lock on `-shm`, the next program that opens
/// the database truncates that file, which the server has mapped into memory.
pub(crate) fn copy_file(from: &Path, to: &Path) {
    let status = Command::new("cp").arg(from).arg(to).status().expect("cp is installed");
    assert!(status.success(), "{} is not copied", from.display());
}

/// Returns the names of an object's members.
pub(crate) fn members(object: &Value) -> BTreeSet<&str> {
    let object = object.as_object().unwrap_or_else(|| panic!("{object} is no object"));
    object.keys().map(String::as_str).collect()
}

/// Returns a text member.
pub(crate) fn text<'a>(object: &'a Value, member: &str) -> &'a str {
    object[member].as_str().unwrap_or_else(|| panic!("{member} is no text in {object}"))
}

/// Returns a member in RFC 3339 with `Z` as Unix milliseconds.
pub(crate) fn time(object: &Value, member: &str) -> i64 {
    let text = text(object, member);
    assert!(text.ends_with('Z') && text.as_bytes()[10] == b'T', "{member}: {text}");
    text.parse::<jiff::Timestamp>().unwrap_or_else(|error| panic!("{member}: {text}: {error}")).as_millisecond()
}
