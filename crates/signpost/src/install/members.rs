//! The members of an entry, independent of the client's file format.

use serde_json::Value;

/// The name of the entry, in every client.
pub const ENTRY_NAME: &str = "signpost";

/// Names of the members that describe the server. All other members belong to the user and are not
/// changed.
pub(super) const SERVER_MEMBERS: [&str; 7] = ["type", "source", "command", "args", "url", "serverUrl", "httpUrl"];

/// The members of an entry, in their order in the file.
pub(super) type Members = Vec<(&'static str, Value)>;

/// Returns the value of a member.
pub(super) fn find_member<'a>(members: &'a [(&'static str, Value)], name: &str) -> Option<&'a Value> {
    members.iter().find(|(member, _)| *member == name).map(|(_, value)| value)
}
