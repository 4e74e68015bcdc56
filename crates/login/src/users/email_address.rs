//! E-mail addresses of users, set by the operator or the integrator and never verified.

use anyhow::{Result, ensure};
use serde::Serialize;
use signpost_auth::DomainName;
use url::Host;

/// Maximum length of an address in characters (RFC 5321, 4.5.3.1.3).
const MAX_LEN: usize = 254;
/// Maximum length of the local part in characters (RFC 5321, 4.5.3.1.1).
const MAX_LOCAL_LEN: usize = 64;
/// Prefix of the local part of synthetic addresses: the prefix of user IDs.
const SYNTHETIC_PREFIX: &str = "usr_";

/// An e-mail address in its canonical form: in lower case, with its host in ASCII. Addresses that differ only in case are
/// equal, because mail servers may deliver them to a single mailbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct EmailAddress(String);

impl EmailAddress {
    /// Parses the address in a request, for a user of `domain`. The synthetic addresses of the domain, `usr_…@<domain>`,
    /// are rejected, because applications receive them for other users.
    ///
    /// # Errors
    /// Returns the violated rule.
    pub fn parse(text: &str, domain: &DomainName) -> Result<Self, &'static str> {
        let Some(address) = canonical(text) else {
            return Err("must be an e-mail address such as ann@example.com, of at most 254 characters");
        };
        let is_synthetic = address
            .split_once('@')
            .is_some_and(|(local, host)| local.starts_with(SYNTHETIC_PREFIX) && host == domain.as_str());
        if is_synthetic {
            return Err("must not be an address usr_…@ of the domain, which stands for a user's ID");
        }
        Ok(Self(address))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn from_stored(text: &str) -> Result<Self> {
        ensure!(canonical(text).as_deref() == Some(text), "is no e-mail address");
        Ok(Self(text.to_owned()))
    }
}

/// Returns the canonical form of an address with a dot-atom as local part (RFC 5322, 3.2.3) and a domain name with a dot
/// as host.
fn canonical(text: &str) -> Option<String> {
    let (local, host) = text.split_once('@')?;
    let is_atom = |part: &str| !part.is_empty() && part.bytes().all(is_atom_character);
    // IDNA would remove invisible characters from the host.
    let is_clean = signpost_text::clean_line(text) == text && !host.contains(['@', '%']);
    if !is_clean || local.len() > MAX_LOCAL_LEN || !local.split('.').all(is_atom) {
        return None;
    }
    let Ok(Host::Domain(host)) = Host::parse(host) else { return None };
    let is_name = host.contains('.') && host.split('.').all(is_host_label);
    let address = format!("{}@{host}", local.to_ascii_lowercase());
    (is_name && address.len() <= MAX_LEN).then_some(address)
}

fn is_host_label(label: &str) -> bool {
    let is_plain = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (1..=63).contains(&label.len()) && is_plain && !label.starts_with('-') && !label.ends_with('-')
}

fn is_atom_character(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<String, &'static str> {
        EmailAddress::parse(text, &DomainName::parse("shop.example").unwrap()).map(|address| address.0)
    }

    #[test]
    fn addresses_have_one_spelling() {
        for (text, canonical) in [
            ("ann@example.com", "ann@example.com"),
            ("Ann.Lee+a@EXAMPLE.com", "ann.lee+a@example.com"),
            ("ann@Bücher.example", "ann@xn--bcher-kva.example"),
            ("usr_1@example.com", "usr_1@example.com"),
            ("o'neil@shop.example", "o'neil@shop.example"),
        ] {
            assert_eq!(parse(text).as_deref(), Ok(canonical));
            assert_eq!(EmailAddress::from_stored(canonical).unwrap().as_str(), canonical);
        }
    }

    #[test]
    fn unsafe_addresses_are_rejected() {
        for text in [
            "",
            "ann",
            "@example.com",
            "ann@",
            "ann@localhost",
            "ann@[127.0.0.1]",
            "ann@127.0.0.1",
            "ann@a@example.com",
            "ann@example.com\n",
            "ann\u{200b}@example.com",
            "ann@exam\u{200b}ple.com",
            "\"ann lee\"@example.com",
            "ann lee@example.com",
            ".ann@example.com",
            "ann..lee@example.com",
            "ann@-a.example",
            "ann@a%2e.example",
            "ánn@example.com",
            "usr_06h0b0avgy59w2hwkb2v9bypdq5zsyfj88vg@shop.example",
            "USR_x@SHOP.example",
            &format!("{}@example.com", "a".repeat(65)),
            &format!("a@{}.com", "a.".repeat(130)),
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(EmailAddress::from_stored("Ann@example.com").is_err());
    }
}
