//! Builds the five headers with the identity of a user that a proxy forwards to the application.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// Maximum length of a header value, in bytes: the default limit of common web servers.
const MAX_VALUE_LEN: usize = 4096;

/// The identity of a user for an application. Unknown values are sent as empty headers: a missing header could be set
/// by the client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RemoteIdentity {
    pub(super) user: String,
    pub(super) name: String,
    pub(super) email: String,
    pub(super) groups: Vec<String>,
    pub(super) sub: String,
}

impl RemoteIdentity {
    /// Returns the five headers.
    pub(super) fn to_headers(&self) -> HeaderMap {
        let groups = self.groups.iter().map(|group| group.replace(',', " ")).collect::<Vec<_>>().join(",");
        let pairs = [
            ("remote-user", &self.user),
            ("remote-name", &self.name),
            ("remote-email", &self.email),
            ("remote-groups", &groups),
            ("remote-sub", &self.sub),
        ];
        pairs.into_iter().map(|(name, text)| (HeaderName::from_static(name), value(text))).collect()
    }
}

/// Returns a text as a header value: a line of UTF-8 without invisible characters. A text that is too long becomes
/// empty, because its start could have another meaning.
fn value(text: &str) -> HeaderValue {
    let line = signpost_text::clean_line(text);
    let line = line.trim();
    let line = if line.len() <= MAX_VALUE_LEN { line } else { "" };
    HeaderValue::from_bytes(line.as_bytes()).unwrap_or(HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(identity: &RemoteIdentity, name: &str) -> Vec<u8> {
        identity.to_headers()[name].as_bytes().to_vec()
    }

    #[test]
    fn all_five_headers_are_always_sent() {
        let headers = RemoteIdentity::default().to_headers();
        let mut names: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        names.sort_unstable();
        let expected =
            [("remote-email", ""), ("remote-groups", ""), ("remote-name", ""), ("remote-sub", ""), ("remote-user", "")];
        assert_eq!(names, expected.map(|(name, value)| (name, value.as_bytes())));
    }

    #[test]
    fn name_header_is_one_line_of_utf8() {
        let named = |name: &str| RemoteIdentity { name: name.to_owned(), ..RemoteIdentity::default() };
        assert_eq!(sent(&named("Zoë Łukasz"), "remote-name"), "Zoë Łukasz".as_bytes());
        let split = named("a\r\nRemote-Groups: admin\u{85}b\u{0}\u{202e}c\t");
        assert_eq!(sent(&split, "remote-name"), b"a  Remote-Groups: admin b c");
        assert_eq!(sent(&named(&"é".repeat(2049)), "remote-name"), b"");
    }

    #[test]
    fn groups_are_joined_by_commas() {
        let groups = vec!["admins".to_owned(), "night shift".to_owned(), "a,b".to_owned()];
        assert_eq!(
            sent(&RemoteIdentity { groups, ..RemoteIdentity::default() }, "remote-groups"),
            b"admins,night shift,a b"
        );
    }
}
