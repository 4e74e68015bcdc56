//! The error type for configuration files that cannot be edited.

/// The reason why a configuration file cannot be edited, with line and column if they are known.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct EditError(pub(super) String);

impl EditError {
    pub(super) fn at(line: usize, column: usize, reason: &str) -> Self {
        Self(format!("line {line}, column {column}: {reason}"))
    }

    pub(super) fn duplicate(name: &str) -> Self {
        Self(format!("\"{name}\" is there twice: remove one of them"))
    }

    pub(super) fn not_an_object(name: &str) -> Self {
        Self(format!("\"{name}\" is no object with members"))
    }
}
