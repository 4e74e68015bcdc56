//! The members of an entry, in any client's file.

use serde_json::Value;

/// The name of the entry, in every client.
pub const ENTRY_NAME: &str = "signpost";

/// The members that describe the server. All others belong to the user, and do not change.
pub(super) const OWN_MEMBERS: [&str; 7] = ["type", "source", "command", "args", "url", "serverUrl", "httpUrl"];

/// The members of an entry, in their order in the file.
pub(super) type Members = Vec<(&'static str, Value)>;

/// Returns the value of a member.
pub(super) fn find_member<'a>(members: &'a [(&'static str, Value)], name: &str) -> Option<&'a Value> {
    members.iter().find(|(member, _)| *member == name).map(|(_, value)| value)
}
