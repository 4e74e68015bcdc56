//! The stream of a session's states: server-sent events.

use std::time::Duration;

use reqwest::Response;
use reqwest::header::CONTENT_TYPE;

use super::error::SignpostError;
use super::error_code::ErrorCode;
use super::session_types::Session;

/// Maximum length of an event in bytes.
const MAX_EVENT_LEN: usize = 64 * 1024;

/// The states of a session, from [`super::Sessions::follow`].
#[derive(Debug)]
pub struct SessionStream {
    response: Response,
    /// Maximum time between two parts of the stream. The service sends a comment more often.
    timeout: Duration,
    /// The received bytes that were not returned as an event yet.
    received: Vec<u8>,
}

impl SessionStream {
    /// Creates the stream of a successful response.
    ///
    /// # Errors
    /// Returns `invalid_response` if the response is no stream of events.
    pub(super) fn new(response: Response, timeout: Duration) -> Result<Self, SignpostError> {
        let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if !kind.unwrap_or_default().starts_with("text/event-stream") {
            return Err(SignpostError::invalid_response(response.status(), "it is no stream of events"));
        }
        Ok(Self { response, timeout, received: Vec::new() })
    }

    /// Returns the next state, or `None` after the final state.
    ///
    /// # Errors
    /// Returns `connection_failed` or `timeout` if the stream was interrupted, or
    /// `invalid_response` if it is not of the service.
    pub async fn next(&mut self) -> Result<Option<Session>, SignpostError> {
        loop {
            while let Some(event) = take_event(&mut self.received) {
                if let Some(data) = data_of(&event) {
                    return serde_json::from_str(&data).map(Some).map_err(|error| self.unexpected(error));
                }
            }
            if self.received.len() > MAX_EVENT_LEN {
                return Err(self.unexpected("it has an event that is too long"));
            }
            let Ok(part) = tokio::time::timeout(self.timeout, self.response.chunk()).await else {
                return Err(SignpostError::new(ErrorCode::Timeout, "the stream paused for too long"));
            };
            match part.map_err(SignpostError::no_reply)? {
                Some(part) => self.received.extend(part.iter().filter(|byte| **byte != b'\r')),
                None => return Ok(None),
            }
        }
    }

    fn unexpected(&self, message: impl std::fmt::Display) -> SignpostError {
        SignpostError::invalid_response(self.response.status(), message)
    }
}

/// Removes the first complete event, which ends with an empty line.
fn take_event(received: &mut Vec<u8>) -> Option<String> {
    let end = received.windows(2).position(|pair| pair == b"\n\n")?;
    let event: Vec<u8> = received.drain(..end + 2).collect();
    Some(String::from_utf8_lossy(&event).into_owned())
}

/// Returns the data of an event, or `None` for a comment, which keeps the connection open.
fn data_of(event: &str) -> Option<String> {
    let lines = event.lines().filter_map(|line| line.strip_prefix("data:"));
    let lines: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    if lines.is_empty() { None } else { Some(lines.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_taken_in_order() {
        let mut received = b": keep-alive\n\nevent: status\ndata: {\ndata:}\n\ndata: cut".to_vec();
        assert_eq!(take_event(&mut received).as_deref().and_then(data_of), None);
        assert_eq!(take_event(&mut received).as_deref().and_then(data_of).as_deref(), Some("{\n}"));
        assert_eq!((take_event(&mut received), &*received), (None, &b"data: cut"[..]));
    }
}
