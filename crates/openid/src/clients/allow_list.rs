//! Allow lists: the users who may log in at a client.

use std::fmt;

use serde::{Deserialize, Serialize};
use signpost_login::ids::UserId;
use signpost_login::users::{Credential, CredentialKey, HostedUser, UserGroups};

/// Maximum number of entries.
const MAX_ENTRIES: usize = 100;

/// A list of entries. A user must match at least one entry to log in at the client. The list is
/// never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct AllowList(Vec<Allowed>);

/// An entry of an allow list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// `*`: all users of the domain.
    Everyone,
    /// `usr_…`: a user.
    User(UserId),
    /// `group:NAME`: the users in a group that the operator or the integrator manages.
    Group(String),
    /// The user with this key, in its canonical form.
    Key(String),
}

impl AllowList {
    /// Parses the entries of a request.
    ///
    /// # Errors
    /// Returns the violated rule, as a text such as "must have …".
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut entries = Vec::new();
        for text in texts {
            let entry = Allowed::parse(text)?;
            if entries.contains(&entry) {
                return Err("must name each user, key or group once".to_owned());
            }
            entries.push(entry);
        }
        match entries.len() {
            1..=MAX_ENTRIES => Ok(Self(entries)),
            _ => Err(format!("must have 1 to {MAX_ENTRIES} entries")),
        }
    }

    /// Returns true if the list admits a user with these credentials.
    #[must_use]
    pub fn admits(&self, user: &HostedUser, credentials: &[Credential]) -> bool {
        self.0.iter().any(|entry| match entry {
            Allowed::Everyone => true,
            Allowed::User(id) => *id == user.id,
            Allowed::Group(name) => user.groups.as_ref().is_some_and(|groups| groups.names().contains(name)),
            // Credentials of other users or domains are ignored.
            Allowed::Key(key) => credentials.iter().any(|credential| {
                credential.public_key == *key && credential.user_id == user.id && credential.domain_id == user.domain_id
            }),
        })
    }

    /// Returns true if the list admits all users of the domain.
    #[must_use]
    pub fn admits_everyone(&self) -> bool {
        self.0.contains(&Allowed::Everyone)
    }
}

impl Allowed {
    fn parse(text: &str) -> Result<Self, String> {
        if text == "*" {
            return Ok(Self::Everyone);
        }
        if let Some(name) = text.strip_prefix("group:") {
            return match UserGroups::try_from(vec![name.to_owned()]) {
                Ok(group) => Ok(Self::Group(group.to_string())),
                Err(_) => {
                    Err("must name a group as users have it: group: and 1 to 60 characters without commas".to_owned())
                }
            };
        }
        if text.starts_with("usr_") {
            let id = UserId::parse(text).ok_or("must name a user by a whole ID, usr_ and 36 characters")?;
            return Ok(Self::User(id));
        }
        match CredentialKey::parse(text) {
            Ok(key) => Ok(Self::Key(key.canonical())),
            Err(_) => Err("must be usr_…, a public key in hex, group:NAME or *".to_owned()),
        }
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everyone => f.write_str("*"),
            Self::User(id) => f.write_str(id.as_str()),
            Self::Group(name) => write!(f, "group:{name}"),
            Self::Key(key) => f.write_str(key),
        }
    }
}

impl TryFrom<Vec<String>> for AllowList {
    type Error = String;

    fn try_from(texts: Vec<String>) -> Result<Self, String> {
        Self::parse(texts.iter().map(String::as_str))
    }
}

impl From<AllowList> for Vec<String> {
    fn from(list: AllowList) -> Self {
        list.0.iter().map(ToString::to_string).collect()
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use signpost_login::ids::DomainId;
    use signpost_login::users::{CredentialKind, NewCredential, NewUser, UserEntropy};

    use super::*;

    const KEY: &str = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";

    fn user_with_credential() -> (HostedUser, Credential) {
        let (now, domain) = (Timestamp::UNIX_EPOCH, DomainId::new(Timestamp::UNIX_EPOCH, [1; 16]));
        let key =
            NewCredential { key: CredentialKey::parse(KEY).unwrap(), kind: CredentialKind::Wallet, passkey: None };
        let random = UserEntropy { user: [2; 16], credential: [3; 16], username: [4; 8] };
        let NewUser { mut user, credential } = NewUser::register(&domain, key, None, now, random);
        user.groups = Some(UserGroups::try_from(vec!["admins".to_owned(), "shop staff".to_owned()]).unwrap());
        (user, credential)
    }

    fn admits(entry: &str) -> bool {
        let (user, credential) = user_with_credential();
        AllowList::parse([entry]).unwrap().admits(&user, &[credential])
    }

    #[test]
    fn only_listed_users_are_admitted() {
        let (user, _) = user_with_credential();
        let other = UserId::new(Timestamp::UNIX_EPOCH, [9; 16]);
        let other_key = "02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5";
        for entry in ["*", user.id.as_str(), "group:admins", "group: shop staff ", &KEY.to_uppercase()] {
            assert!(admits(entry), "{entry}");
        }
        for entry in [other.as_str(), "group:admin", "group:Admins", "group:shop", other_key] {
            assert!(!admits(entry), "{entry}");
        }
    }

    #[test]
    fn key_admits_only_its_current_user() {
        let (user, credential) = user_with_credential();
        let list = AllowList::parse([KEY]).unwrap();
        assert!(!list.admits(&user, &[]));
        let somebody_elses = Credential { user_id: UserId::new(Timestamp::UNIX_EPOCH, [9; 16]), ..credential.clone() };
        let elsewhere = Credential { domain_id: DomainId::new(Timestamp::UNIX_EPOCH, [9; 16]), ..credential };
        assert!(!list.admits(&user, &[somebody_elses, elsewhere]));
    }

    #[test]
    fn user_without_groups_matches_no_group() {
        let (user, credential) = user_with_credential();
        let user = HostedUser { groups: None, ..user };
        assert!(!AllowList::parse(["group:admins"]).unwrap().admits(&user, &[credential]));
    }

    #[test]
    fn entries_are_unique_and_unambiguous() {
        for texts in [
            &[][..],
            &[""],
            &["ann"],
            &["usr_1"],
            &["usr_*"],
            &["**"],
            &["group:"],
            &["group:a,b"],
            &["group:\u{200b}"],
            &["02"],
            &["*", "*"],
            &["group:a", "group:a "],
        ] {
            assert!(AllowList::parse(texts.iter().copied()).is_err(), "{texts:?}");
        }
        let many: Vec<_> = (0..101).map(|number| format!("group:{number}")).collect();
        assert!(AllowList::try_from(many[..100].to_vec()).is_ok() && AllowList::try_from(many).is_err());
    }

    #[test]
    fn allow_list_preserves_its_text() {
        let list = AllowList::parse(["group:admins", "*", KEY]).unwrap();
        let json = serde_json::to_string(&list).unwrap();
        assert_eq!(json, format!(r#"["group:admins","*","{KEY}"]"#));
        assert_eq!(serde_json::from_str::<AllowList>(&json).unwrap(), list);
        assert!(list.admits_everyone() && serde_json::from_str::<AllowList>("[]").is_err());
    }
}
