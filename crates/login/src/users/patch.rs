//! Changes of users by the operator or the integrator.

use serde_json::{Map, Value, json};

use super::{ChosenUsername, EmailAddress, ExternalId, HostedUser, UserDisplayName, UserGroups, UserMetadata};

/// A change of a user. `None` leaves a value unchanged, `Some(None)` removes it.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct UserPatch {
    pub name: Option<Option<UserDisplayName>>,
    pub groups: Option<Option<UserGroups>>,
    pub username: Option<Option<ChosenUsername>>,
    pub external_id: Option<Option<ExternalId>>,
    pub email: Option<Option<EmailAddress>>,
    pub metadata: Option<Option<UserMetadata>>,
}

impl UserPatch {
    /// Returns the user after the change.
    #[must_use]
    pub fn apply(&self, user: &HostedUser) -> HostedUser {
        let Self { name, groups, username, external_id, email, metadata } = self.clone();
        let mut changed = user.clone();
        changed.name = name.unwrap_or(changed.name);
        changed.groups = groups.unwrap_or(changed.groups);
        changed.external_id = external_id.unwrap_or(changed.external_id);
        changed.email = email.unwrap_or(changed.email);
        changed.metadata = metadata.unwrap_or(changed.metadata);
        changed.username = username.unwrap_or(changed.username);
        // The generated username is the user's own already.
        changed.username = changed.username.filter(|username| username.as_str() != user.petname.as_str());
        changed
    }

    /// Returns true if no member is set or removed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { name, groups, username, external_id, email, metadata } = self;
        let is_changed = name.is_some() || groups.is_some() || username.is_some() || external_id.is_some();
        !is_changed && email.is_none() && metadata.is_none()
    }

    /// Returns true if the change requires the scope `manage`: applications trust the username and the e-mail address,
    /// and the integrator trusts an external ID that it has set.
    #[must_use]
    pub fn requires_manage(&self, user: &HostedUser) -> bool {
        let is_external_id_replaced = match &self.external_id {
            Some(external_id) => user.external_id.is_some() && user.external_id != *external_id,
            None => false,
        };
        self.username.is_some() || self.email.is_some() || is_external_id_replaced
    }

    /// Returns the details for the audit log. Names, groups and metadata are listed as far as they were before there were
    /// identifiers: the groups, and a flag instead of the name and of the metadata, because entries may outlive the user.
    /// A changed identifier has its old and its new value, because applications find the user by it.
    pub(crate) fn to_details(&self, before: &HostedUser, after: &HostedUser) -> Map<String, Value> {
        let mut details = Map::new();
        if let Some(name) = &self.name {
            details.insert("name".to_owned(), json!(if name.is_some() { "set" } else { "removed" }));
        }
        if let Some(groups) = &self.groups {
            details.insert("groups".to_owned(), json!(groups));
        }
        if let Some(metadata) = &self.metadata {
            details.insert("metadata".to_owned(), json!(if metadata.is_some() { "set" } else { "removed" }));
        }
        for (member, old, new) in [
            ("username", json!(before.username()), json!(after.username())),
            ("external_id", json!(before.external_id), json!(after.external_id)),
            ("email", json!(before.email), json!(after.email)),
        ] {
            if old != new {
                details.insert(member.to_owned(), json!({ "old": old, "new": new }));
            }
        }
        details
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::{ReservedNames, Username};
    use super::*;
    use crate::ids::{DomainId, UserId};

    fn user() -> HostedUser {
        let now = Timestamp::UNIX_EPOCH;
        HostedUser::new(&DomainId::new(now, [1; 16]), UserId::new(now, [2; 16]), Username::draw([3; 8]), now)
    }

    fn username(text: &str) -> ChosenUsername {
        ChosenUsername::parse(text, ReservedNames::Refused).unwrap()
    }

    fn external_id(text: &str) -> ExternalId {
        ExternalId::parse(text).unwrap()
    }

    #[test]
    fn own_petname_restores_the_username() {
        let renamed = UserPatch { username: Some(Some(username("ann"))), ..UserPatch::default() }.apply(&user());
        assert_eq!(renamed.username(), "ann");
        let own = username(user().petname.as_str());
        for change in [Some(own), None] {
            let restored = UserPatch { username: Some(change), ..UserPatch::default() }.apply(&renamed);
            assert_eq!((restored.username(), &restored.username), (user().petname.as_str(), &None));
        }
    }

    #[test]
    fn identifiers_require_the_scope_manage() {
        let set = UserPatch { external_id: Some(Some(external_id("42"))), ..UserPatch::default() };
        let user = user();
        assert!(!set.requires_manage(&user) && !set.requires_manage(&set.apply(&user)));
        for patch in [
            UserPatch { external_id: Some(Some(external_id("43"))), ..UserPatch::default() },
            UserPatch { external_id: Some(None), ..UserPatch::default() },
            UserPatch { email: Some(None), ..UserPatch::default() },
            UserPatch { username: Some(None), ..UserPatch::default() },
        ] {
            assert!(patch.requires_manage(&set.apply(&user)), "{patch:?}");
        }
    }

    #[test]
    fn audit_details_name_old_and_new() {
        let user = user();
        let patch = UserPatch { username: Some(Some(username("ann"))), metadata: Some(None), ..UserPatch::default() };
        let details = Value::Object(patch.to_details(&user, &patch.apply(&user)));
        let expected = json!({ "username": { "old": user.petname, "new": "ann" }, "metadata": "removed" });
        assert_eq!(details, expected);
    }
}
