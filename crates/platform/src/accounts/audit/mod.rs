//! The audit log of administrative changes and rejected callers. An entry is written in the
//! transaction of the change that it describes, and is never modified.

pub mod refusals;
pub mod sql;

use std::fmt;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use signpost_store::{Json, rows};

use crate::accounts::{Environment, KeyId};

signpost_store::ids! {
    /// Identifies an entry of the audit log.
    AuditId = "aud";
}

/// The person or program that caused an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The owner of an API key.
    Key(KeyId),
    /// The operator, by a command on the command line.
    Operator,
    /// The operator with this user ID, in the console.
    Console(String),
    /// The server itself, such as in a background job.
    Server,
    /// The user of a hosted domain with this ID, on their account page.
    User(String),
    /// A caller without a valid API key, with this client address.
    Address(String),
}

/// The kind of change or event that an entry records. The names are stable, because programs search
/// for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Action {
    KeyCreated,
    KeyRotated,
    KeyRevoked,
    DomainRegistered,
    DomainChanged,
    DomainVerified,
    ProofMissing,
    DomainUnverified,
    DomainDeleted,
    SecretRotated,
    SecretActivated,
    SecretsSealed,
    SigningKeyCreated,
    UserCreated,
    UserChanged,
    UserDeleted,
    UsersDeleted,
    UserSignedOut,
    CredentialAdded,
    CredentialRenamed,
    CredentialDeleted,
    PasskeyRefused,
    ClientCreated,
    ClientChanged,
    ClientRotated,
    ClientDeleted,
    DeliveryRetried,
    DeliveryCompared,
    TestEventSent,
    EndpointDisabled,
    EndpointEnabled,
    ReportAccepted,
    ReportReleased,
    ReportRejected,
    ReportUndone,
    ReporterBanned,
    ReporterUnbanned,
    ConsoleLinkCreated,
    OperatorAdded,
    OperatorRemoved,
    AtmsImported,
    AtmsForgotten,
    AtmSplit,
    AtmJoined,
    AccessRefused,
}

rows! {
    /// An entry of the audit log, as stored.
    #[derive(Clone, Debug, Serialize)]
    #[expect(missing_docs, reason = "the names are self-explanatory")]
    pub struct AuditEntry in "audit" by [id] {
        pub id: AuditId,
        pub at: Timestamp,
        #[serde(skip_serializing_if = "String::is_empty")]
        pub account: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub environment: Option<Environment> as sql::AnyEnvironment,
        pub actor: String,
        pub action: String,
        pub object: String,
        pub details: Value as Json<Value>,
    }
}

impl Action {
    /// Returns the stable name of the action.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::KeyCreated => "key.created",
            Self::KeyRotated => "key.rotated",
            Self::KeyRevoked => "key.revoked",
            Self::DomainRegistered => "domain.registered",
            Self::DomainChanged => "domain.changed",
            Self::DomainVerified => "domain.verified",
            Self::ProofMissing => "domain.proof_missing",
            Self::DomainUnverified => "domain.unverified",
            Self::DomainDeleted => "domain.deleted",
            Self::SecretRotated => "secret.rotated",
            Self::SecretActivated => "secret.activated",
            Self::SecretsSealed => "secrets.sealed",
            Self::SigningKeyCreated => "signing_key.created",
            Self::UserCreated => "user.created",
            Self::UserChanged => "user.changed",
            Self::UserDeleted => "user.deleted",
            Self::UsersDeleted => "users.deleted",
            Self::CredentialAdded => "credential.added",
            Self::CredentialRenamed => "credential.renamed",
            Self::CredentialDeleted => "credential.deleted",
            Self::PasskeyRefused => "passkey.refused",
            Self::ClientCreated => "client.created",
            Self::ClientChanged => "client.changed",
            Self::ClientRotated => "client.rotated",
            Self::ClientDeleted => "client.deleted",
            Self::UserSignedOut => "user.signed_out",
            Self::DeliveryRetried => "delivery.retried",
            Self::DeliveryCompared => "delivery.compared",
            Self::TestEventSent => "test_event.sent",
            Self::EndpointDisabled => "endpoint.disabled",
            Self::EndpointEnabled => "endpoint.enabled",
            Self::ReportAccepted => "report.accepted",
            Self::ReportReleased => "report.released",
            Self::ReportRejected => "report.rejected",
            Self::ReportUndone => "report.undone",
            Self::ReporterBanned => "reporter.banned",
            Self::ReporterUnbanned => "reporter.unbanned",
            Self::ConsoleLinkCreated => "console_link.created",
            Self::OperatorAdded => "operator.added",
            Self::OperatorRemoved => "operator.removed",
            Self::AtmsImported => "atms.imported",
            Self::AtmsForgotten => "atms.forgotten",
            Self::AtmSplit => "atm.split",
            Self::AtmJoined => "atm.joined",
            Self::AccessRefused => "access.refused",
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(id) => write!(f, "{id}"),
            Self::Operator => f.write_str("operator"),
            Self::Console(user) => write!(f, "operator:{user}"),
            Self::Server => f.write_str("server"),
            Self::User(text) | Self::Address(text) => f.write_str(text),
        }
    }
}
