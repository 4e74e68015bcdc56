//! Generates and parses prefixed IDs such as `sess_…` and `dom_…`, with a distinct Rust type for
//! each prefix.

use std::sync::LazyLock;

use data_encoding::{Encoding, Specification};
use jiff::Timestamp;

/// Lower-case base32 without padding. The alphabet is in ASCII order, so newer IDs sort after older
/// IDs and table indexes grow at the end.
static BASE32: LazyLock<Encoding> = LazyLock::new(|| {
    let mut specification = Specification::new();
    specification.symbols.push_str("0123456789abcdefghjkmnpqrstvwxyz");
    specification.encoding().expect("32 different symbols are an alphabet")
});

/// Formats an ID: the prefix, then 36 characters that encode 48 bits of Unix milliseconds and 128
/// random bits.
#[must_use]
pub fn encode(prefix: &str, now: Timestamp, random: [u8; 16]) -> String {
    let mut bytes = [0; 22];
    bytes[..6].copy_from_slice(&now.as_millisecond().to_be_bytes()[2..]);
    bytes[6..].copy_from_slice(&random);
    let mut text = String::with_capacity(prefix.len() + 1 + BASE32.encode_len(bytes.len()));
    text.push_str(prefix);
    text.push('_');
    BASE32.encode_append(&bytes, &mut text);
    text
}

/// Returns `true` if a text is an ID that [`encode`] may return for this prefix.
#[must_use]
pub fn is_valid(prefix: &str, text: &str) -> bool {
    let rest = text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_'));
    rest.is_some_and(|rest| rest.len() == 36 && BASE32.decode(rest.as_bytes()).is_ok())
}

/// Returns the creation time of an ID with millisecond precision.
#[must_use]
pub fn time(id: &str) -> Timestamp {
    let bytes = id.rsplit('_').next().and_then(|rest| BASE32.decode(rest.as_bytes()).ok());
    let millis = bytes.unwrap_or_default().iter().take(6).fold(0_i64, |sum, byte| sum << 8 | i64::from(*byte));
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Defines ID types with their prefixes: `ids! { /// Identifies a session. SessionId = "sess"; }`.
#[macro_export]
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// Creates an ID from the current time and 128 random bits.
            #[must_use]
            pub fn new(now: ::jiff::Timestamp, random: [u8; 16]) -> Self {
                Self($crate::id::encode($prefix, now, random))
            }

            /// Parses an ID. Returns `None` if the text is not an ID of this type.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                $crate::id::is_valid($prefix, text).then(|| Self(text.to_owned()))
            }

            /// Returns the creation time of the ID with millisecond precision.
            #[must_use]
            pub fn time(&self) -> ::jiff::Timestamp {
                $crate::id::time(&self.0)
            }

            /// Returns the ID as a string slice.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as ::serde::Deserialize>::deserialize(deserializer)?;
                Self::parse(&text).ok_or_else(|| {
                    ::serde::de::Error::custom(concat!("is not an id that begins with ", $prefix, "_"))
                })
            }
        }

        impl From<$name> for $crate::row::Value {
            fn from(id: $name) -> Self {
                Self::Text(id.0)
            }
        }

        impl $crate::column::ColumnType for $name {
            const KIND: $crate::schema::ColumnKind = $crate::schema::ColumnKind::Text;

            fn from_value(value: $crate::row::Value) -> ::anyhow::Result<Self> {
                let text = <String as $crate::column::ColumnType>::from_value(value)?;
                ::anyhow::ensure!($crate::id::is_valid($prefix, &text), "is not an id that begins with {}_", $prefix);
                Ok(Self(text))
            }
        }

        impl From<&$name> for $crate::row::Value {
            fn from(id: &$name) -> Self {
                Self::Text(id.0.clone())
            }
        }
    )*};
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    crate::ids! {
        /// Identifies a thing.
        ThingId = "thing";
    }

    #[test]
    fn ids_are_parsed_and_sort_by_time() {
        let early = ThingId::new(Timestamp::from_second(1_700_000_000).unwrap(), [255; 16]);
        let late = ThingId::new(Timestamp::from_second(1_700_000_001).unwrap(), [0; 16]);
        assert_eq!(ThingId::parse(early.as_str()), Some(early.clone()));
        assert_eq!(early.time(), Timestamp::from_second(1_700_000_000).unwrap());
        assert!(early < late);
    }

    #[test]
    fn other_texts_are_not_ids() {
        let id = ThingId::new(Timestamp::UNIX_EPOCH, [7; 16]);
        let other = id.as_str().replace("thing", "dom");
        for text in ["", "thing_", "thing_x", &id.as_str().to_uppercase(), &other, &format!("{id}0")] {
            assert_eq!(ThingId::parse(text), None, "{text}");
        }
    }
}
