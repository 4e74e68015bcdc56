//! Ids that say what they name (`sess_…`, `dom_…`), one type each, so that one is never taken for another;
//! and the one place where random bytes are drawn.

use std::fmt;
use std::sync::LazyLock;

use data_encoding::{Encoding, Specification};
use jiff::Timestamp;
use serde::{Serialize, Serializer};

/// `N` random bytes from the operating system.
///
/// # Panics
/// Where the operating system has none to give.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the place that all others are sent to")]
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("a machine without randomness cannot keep a secret");
    bytes
}

/// Lower-case base32 without padding, in an alphabet whose order is the bytes' order: newer ids sort behind older
/// ones, so a table's index grows at its end.
static BASE32: LazyLock<Encoding> = LazyLock::new(|| {
    let mut specification = Specification::new();
    specification.symbols.push_str("0123456789abcdefghjkmnpqrstvwxyz");
    specification.encoding().expect("32 different symbols are an alphabet")
});

/// 48 bits of Unix milliseconds, then 128 random bits: 36 characters.
fn spell(prefix: &str, now: Timestamp, random: [u8; 16]) -> String {
    let mut bytes = [0; 22];
    bytes[..6].copy_from_slice(&now.as_millisecond().to_be_bytes()[2..]);
    bytes[6..].copy_from_slice(&random);
    format!("{prefix}_{}", BASE32.encode(&bytes))
}

/// The text behind the prefix is one that [`spell`] could have written.
fn is_spelled(prefix: &str, text: &str) -> bool {
    let rest = text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_'));
    rest.is_some_and(|rest| rest.len() == 36 && BASE32.decode(rest.as_bytes()).is_ok())
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// A new one, from the time and 128 random bits.
            #[must_use]
            pub fn new(now: Timestamp, random: [u8; 16]) -> Self {
                Self(spell($prefix, now, random))
            }

            /// Reads one; `None` where the text cannot be one of ours.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                is_spelled($prefix, text).then(|| Self(text.to_owned()))
            }

            /// When it was made, to the millisecond.
            #[must_use]
            pub fn time(&self) -> Timestamp {
                let bytes = self.0.rsplit('_').next().and_then(|rest| BASE32.decode(rest.as_bytes()).ok());
                let millis = bytes.unwrap_or_default().iter().take(6).fold(0_i64, |sum, byte| sum << 8 | i64::from(*byte));
                Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
            }

            /// Its text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl From<&$name> for crate::store::Value {
            fn from(id: &$name) -> Self {
                Self::Text(id.0.clone())
            }
        }
    )*};
}

ids! {
    /// Names a session.
    SessionId = "sess";
    /// Names a domain.
    DomainId = "dom";
    /// Names an event, the same on every attempt to deliver it.
    EventId = "evt";
    /// Names an entry of the audit log.
    AuditId = "aud";
    /// Names a request, in its reply and in the log.
    RequestId = "req";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_and_sorts_by_time() {
        let early = SessionId::new(Timestamp::from_second(1_700_000_000).unwrap(), [255; 16]);
        let late = SessionId::new(Timestamp::from_second(1_700_000_001).unwrap(), [0; 16]);
        assert_eq!(SessionId::parse(early.as_str()), Some(early.clone()));
        assert_eq!(early.time(), Timestamp::from_second(1_700_000_000).unwrap());
        assert!(early < late);
    }

    #[test]
    fn what_is_not_an_id_is_refused() {
        let id = SessionId::new(Timestamp::UNIX_EPOCH, [7; 16]);
        let other = id.as_str().replace("sess", "dom");
        for text in ["", "sess_", "sess_x", &id.as_str().to_uppercase(), &other, &format!("{id}0")] {
            assert_eq!(SessionId::parse(text), None, "{text}");
        }
    }
}
