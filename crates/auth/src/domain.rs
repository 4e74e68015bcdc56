//! Validated host names that users log in to.

use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use serde::{Deserialize, Serialize};

/// Maximum length of the input in bytes, enough for a name of 253 ASCII characters in any script.
const MAX_INPUT_LEN: usize = 1024;

/// A host name that users log in to.
///
/// It is in lower-case ASCII, has at most 253 characters, and consists of at least two labels, or
/// is `localhost`. It has no port, path, wildcard or underscore, and is not an IP address. Names in
/// other scripts are stored in their `xn--` form (UTS-46, RFC 5891). Public suffixes are not
/// rejected here.
///
/// ```
/// use signpost_auth::DomainName;
///
/// let domain = DomainName::parse("Bücher.Example.")?;
/// assert_eq!(domain.as_str(), "xn--bcher-kva.example");
/// assert!(domain.covers("shop.xn--bcher-kva.example"));
/// assert!(!domain.covers("not-xn--bcher-kva.example"));
/// # Ok::<(), signpost_auth::InvalidDomain>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DomainName(String);

/// Reason a text is not a valid host name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDomain {
    /// The text is empty.
    #[error("a domain may not be empty: give a host name such as example.com")]
    Empty,
    /// The text contains a part of a URL or of a pattern, such as a port or a wildcard.
    #[error("a domain is a host name alone, such as example.com: leave out the {0}")]
    Has(&'static str),
    /// The text is an IP address, or browsers would parse it as an IP address.
    #[error("a domain is a host name such as example.com, not an IP address")]
    IpAddress,
    /// The name has a single label and is not `localhost`.
    #[error("a domain has two labels or more, such as example.com; of single labels only localhost is allowed")]
    SingleLabel,
    /// The name is longer than DNS allows.
    #[error("a domain has at most 253 characters, 63 in each label, in its ASCII form")]
    TooLong,
    /// The text contains characters that are not allowed in host names.
    #[error(
        "a domain has labels of letters, digits and inner hyphens with dots between them, such as example.com; \
         letters of other scripts follow UTS-46"
    )]
    NotAHostName,
}

impl DomainName {
    /// Parses a host name in any case and script. Removes a trailing dot.
    ///
    /// # Errors
    /// Returns the reason if the text is not a valid host name.
    pub fn parse(text: &str) -> Result<Self, InvalidDomain> {
        foreign_part(text)?;
        if text.len() > MAX_INPUT_LEN {
            return Err(InvalidDomain::TooLong);
        }
        let ascii = Uts46::new()
            .to_ascii(text.as_bytes(), AsciiDenyList::STD3, Hyphens::CheckFirstLast, DnsLength::Ignore)
            .map_err(|_| InvalidDomain::NotAHostName)?;
        let name = ascii.strip_suffix('.').unwrap_or(&ascii);
        if name.is_empty() {
            return Err(InvalidDomain::Empty);
        }
        if name.split('.').any(str::is_empty) {
            return Err(InvalidDomain::NotAHostName);
        }
        if name.len() > 253 || name.split('.').any(|label| label.len() > 63) {
            return Err(InvalidDomain::TooLong);
        }
        match name.rsplit_once('.') {
            _ if ends_in_a_number(name) => Err(InvalidDomain::IpAddress),
            None if name != "localhost" => Err(InvalidDomain::SingleLabel),
            _ => Ok(Self(name.to_owned())),
        }
    }

    /// Returns the canonical name, which is used for comparisons, DNS and signatures.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns `true` if `host` is this name or a subdomain of it, ignoring case and a trailing
    /// dot.
    ///
    /// `host` must be in ASCII, as in a URL.
    #[must_use]
    pub fn covers(&self, host: &str) -> bool {
        let mut labels = host.strip_suffix('.').unwrap_or(host).rsplit('.');
        self.0.rsplit('.').all(|own| labels.next().is_some_and(|label| label.eq_ignore_ascii_case(own)))
            && labels.all(|label| !label.is_empty())
    }
}

/// Returns a specific error for parts of URLs and patterns, which UTS-46 would only report as
/// invalid.
fn foreign_part(text: &str) -> Result<(), InvalidDomain> {
    if text.is_empty() {
        return Err(InvalidDomain::Empty);
    }
    if text.starts_with('[') || text.matches(':').count() > 1 && !text.contains("//") {
        return Err(InvalidDomain::IpAddress);
    }
    let parts = [
        ("//", "scheme"),
        ("@", "user name"),
        ("/", "path"),
        ("\\", "path"),
        ("?", "query"),
        ("#", "fragment"),
        (":", "port"),
        ("*", "wildcard"),
        ("_", "underscore"),
    ];
    match parts.iter().find(|(sign, _)| text.contains(sign)) {
        Some((_, part)) => Err(InvalidDomain::Has(part)),
        None => Ok(()),
    }
}

/// Returns `true` if browsers treat the host as an IPv4 address because its last label is a number
/// (WHATWG URL, "ends in a number checker").
fn ends_in_a_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    let hexadecimal = last.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
    hexadecimal || last.bytes().all(|b| b.is_ascii_digit()) || name.parse::<Ipv4Addr>().is_ok()
}

impl fmt::Display for DomainName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for DomainName {
    type Err = InvalidDomain;

    fn from_str(text: &str) -> Result<Self, InvalidDomain> {
        Self::parse(text)
    }
}

impl TryFrom<String> for DomainName {
    type Error = InvalidDomain;

    fn try_from(text: String) -> Result<Self, InvalidDomain> {
        Self::parse(&text)
    }
}

impl From<DomainName> for String {
    fn from(domain: DomainName) -> Self {
        domain.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn host_name_parses_in_any_case_and_script() {
        for (text, name) in [
            ("example.com", "example.com"),
            ("EXAMPLE.com.", "example.com"),
            ("a-b.c1.example", "a-b.c1.example"),
            ("1.example.com", "1.example.com"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("例え。テスト", "xn--r8jz45g.xn--zckzah"),
            ("example.com。", "example.com"),
            ("localhost", "localhost"),
            ("LocalHost.", "localhost"),
            ("r3---sn-apo3qvuoxuxbt-j5pe.example.com", "r3---sn-apo3qvuoxuxbt-j5pe.example.com"),
        ] {
            assert_eq!(DomainName::parse(text).map(String::from), Ok(name.to_owned()), "{text}");
        }
    }

    #[test]
    fn invalid_host_name_has_a_reason() {
        use InvalidDomain::{Empty, Has, IpAddress, NotAHostName, SingleLabel, TooLong};
        let label = "a".repeat(63);
        let longest = format!("{label}.{label}.{label}.{}", "a".repeat(61));
        assert!(DomainName::parse(&longest).is_ok());
        let too_long = format!("{longest}a");
        let long_label = format!("{label}a.com");
        let endless = "ü".repeat(100_000);
        for (text, reason) in [
            ("", Empty),
            (".", Empty),
            ("https://example.com", Has("scheme")),
            ("//example.com", Has("scheme")),
            ("example.com:443", Has("port")),
            ("example.com/login", Has("path")),
            ("example.com\\login", Has("path")),
            ("me@example.com", Has("user name")),
            ("example.com?a", Has("query")),
            ("example.com#a", Has("fragment")),
            ("*.example.com", Has("wildcard")),
            ("my_host.example.com", Has("underscore")),
            ("127.0.0.1", IpAddress),
            ("127.1", IpAddress),
            ("2130706433", IpAddress),
            ("0x7f.1.0x0", IpAddress),
            ("example.0x", IpAddress),
            ("１２７.０.０.１", IpAddress),
            ("::1", IpAddress),
            ("[::1]", IpAddress),
            ("com", SingleLabel),
            ("localhost2", SingleLabel),
            ("a..example.com", NotAHostName),
            (".example.com", NotAHostName),
            ("example.com..", NotAHostName),
            ("-a.example.com", NotAHostName),
            ("a-.example.com", NotAHostName),
            ("exam ple.com", NotAHostName),
            (" example.com", NotAHostName),
            ("example.com\n", NotAHostName),
            ("exa\u{0}mple.com", NotAHostName),
            ("xn--a.example", NotAHostName),
            ("a％2fb.example", NotAHostName),
            (&too_long, TooLong),
            (&long_label, TooLong),
            (&endless, TooLong),
        ] {
            assert_eq!(DomainName::parse(text), Err(reason), "{text:.80}");
        }
    }

    #[test]
    fn domain_covers_itself_and_subdomains() {
        let domain = DomainName::parse("example.com").unwrap();
        for host in ["example.com", "EXAMPLE.com", "example.com.", "a.example.com", "a.b.example.com"] {
            assert!(domain.covers(host), "{host}");
        }
        for host in
            ["", "com", "badexample.com", "example.com.evil.org", ".example.com", "a..example.com", "example.com.."]
        {
            assert!(!domain.covers(host), "{host}");
        }
    }

    #[test]
    fn domain_serializes_as_text() {
        let domain: DomainName = serde_json::from_str("\"Example.COM\"").unwrap();
        assert_eq!(serde_json::to_string(&domain).unwrap(), "\"example.com\"");
        assert!(serde_json::from_str::<DomainName>("\"127.0.0.1\"").unwrap_err().to_string().contains("IP address"));
    }

    proptest! {
        #[test]
        fn parsed_name_round_trips(text in "\\PC{0,24}(\\.\\PC{1,8}){0,3}") {
            if let Ok(domain) = DomainName::parse(&text) {
                prop_assert_eq!(DomainName::parse(domain.as_str()), Ok(domain.clone()));
                prop_assert!(domain.covers(domain.as_str()));
                let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-.".contains(&b);
                prop_assert!(domain.as_str().bytes().all(plain));
            }
        }

        #[test]
        fn arbitrary_text_never_panics(text in any::<String>(), host in any::<String>()) {
            if let Ok(domain) = DomainName::parse(&text) {
                let _ = domain.covers(&host);
            }
        }
    }
}
