//! Log and progress notifications of a running call.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

/// The severity of a log message (RFC 5424), in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are RFC 5424's")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl LogLevel {
    pub(crate) const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// Returns the name in the protocol.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }
}

/// A bounded queue of notifications from a handler to the transport.
#[derive(Debug, Default)]
pub struct Notifications(Mutex<VecDeque<Vec<u8>>>);

impl Notifications {
    /// Maximum number of waiting notifications. Further notifications are dropped.
    const MAX_WAITING: usize = 1000;

    pub(crate) fn push(&self, method: &str, params: &Value) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < Self::MAX_WAITING {
            let notification = json!({ "jsonrpc": "2.0", "method": method, "params": params });
            waiting.push_back(notification.to_string().into_bytes());
        }
    }

    /// Removes and returns the next notification, as JSON without line breaks.
    #[must_use]
    pub fn take(&self) -> Option<Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}
