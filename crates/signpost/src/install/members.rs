//! The members of an entry, whoever's file it is in.

use serde_json::Value;

/// The name of the entry, in every client.
pub const ENTRY_NAME: &str = "signpost";

/// Members that say how the server is reached. Whatever else stands in an entry is the reader's own, and stays.
pub(super) const OWN_MEMBERS: [&str; 7] = ["type", "source", "command", "args", "url", "serverUrl", "httpUrl"];

/// The members of an entry, in the order that they are written in.
pub(super) type Members = Vec<(&'static str, Value)>;
