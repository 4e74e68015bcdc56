//! The data of events about changes of users, which a domain receives if it has selected their kinds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The data of an event about a change of a user: the user, and the members of its kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserEventData {
    /// The user ID, `usr_…`.
    pub user_id: String,
    /// The ID that the integrator has given to the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// The changed members of the user, with the old and the new value. Only present in
    /// `user.updated`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub changes: BTreeMap<String, ValueChange>,
    /// The credential ID, `cred_…`. Only present in `credential.added` and `credential.removed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential_id: Option<String>,
    /// The kind of the credential: `wallet`, `lightning`, `passkey`, or a kind of a later version.
    /// Only present in `credential.added` and `credential.removed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The public key of the credential in hex. Only present in `credential.added` and
    /// `credential.removed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
    /// Whether the user was signed out in all browsers and applications. Only present in
    /// `user.signed_out`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub everywhere: Option<bool>,
    /// The ID, `sgn_…`, of the sign-in that ended. Only present in `user.signed_out`, if the user
    /// was signed out in a single browser or application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sign_in_id: Option<String>,
    /// The client ID, `cli_…`, of the application in which the sign-in ended. Only present in
    /// `user.signed_out`, if the user was signed out in a single application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
}

/// The old and the new value of a member of a user; `null` if there is no value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueChange {
    /// The value before the change.
    #[serde(default)]
    pub old: Value,
    /// The value after the change.
    #[serde(default)]
    pub new: Value,
}
