//! The audit log: changes of keys, domains, secrets and users, and rejected callers. Entries are written in the
//! transaction of the change, and never changed.

pub mod refusals;
pub mod sql;

use std::fmt;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use signpost_store::{Json, rows};

use crate::accounts::{Environment, KeyId};

signpost_store::ids! {
    /// The ID of an entry of the audit log.
    AuditId = "aud";
}

/// The actor of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The holder of this API key.
    Key(KeyId),
    /// The operator, on the command line.
    Operator,
    /// The operator with this ID, in the console.
    Console(String),
    /// The server.
    Server,
    /// The user of a hosted domain with this ID, in their own account.
    User(String),
    /// A caller without a valid key, at this address.
    Address(String),
}

/// The action of an entry. The names are stable, because programs search for them.
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
    /// An entry of the audit log.
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
    /// Returns the name.
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
