//! Parses and writes public keys as `SubjectPublicKeyInfo` in DER (RFC 5280, section 4.1.2.7).

/// The `AlgorithmIdentifier` of a key on P-256 (RFC 5480).
const P256: &[u8] = &[
    0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03,
    0x01, 0x07,
];
/// The `AlgorithmIdentifier` of an RSA key (RFC 3279).
const RSA: &[u8] = &[0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const SEQUENCE: u8 = 0x30;

/// The key in a `SubjectPublicKeyInfo`.
pub(super) enum Spki<'a> {
    /// An uncompressed point on P-256: the byte `04`, then x and y.
    P256(&'a [u8]),
    /// The modulus and the exponent of an RSA key, big-endian without leading zeros.
    Rsa { n: &'a [u8], e: &'a [u8] },
}

impl<'a> Spki<'a> {
    pub(super) fn parse(der: &'a [u8]) -> Option<Self> {
        let (body, []) = element(SEQUENCE, der)? else { return None };
        if let Some(key) = body.strip_prefix(P256) {
            return Some(Self::P256(bits(key)?));
        }
        let (numbers, []) = element(SEQUENCE, bits(body.strip_prefix(RSA)?)?)? else { return None };
        let (n, rest) = element(INTEGER, numbers)?;
        let (e, []) = element(INTEGER, rest)? else { return None };
        Some(Self::Rsa { n: magnitude(n)?, e: magnitude(e)? })
    }

    pub(super) fn to_der(&self) -> Vec<u8> {
        let (algorithm, key) = match self {
            Self::P256(point) => (P256, point.to_vec()),
            Self::Rsa { n, e } => (RSA, encoded(SEQUENCE, &[integer(n), integer(e)].concat())),
        };
        encoded(SEQUENCE, &[algorithm, &encoded(BIT_STRING, &[&[0], &*key].concat())].concat())
    }
}

/// Returns the content of a bit string that has no unused bits and no trailing data.
fn bits(der: &[u8]) -> Option<&[u8]> {
    match element(BIT_STRING, der)? {
        ([0, whole @ ..], []) => Some(whole),
        _ => None,
    }
}

/// Returns the bytes of a positive integer without the leading zero byte of its sign.
fn magnitude(integer: &[u8]) -> Option<&[u8]> {
    match integer {
        [0, rest @ ..] if rest.first().is_some_and(|&first| first >= 0x80) => Some(rest),
        [0x01..=0x7f, ..] => Some(integer),
        _ => None,
    }
}

fn integer(magnitude: &[u8]) -> Vec<u8> {
    let sign: &[u8] = if magnitude.first().is_some_and(|&first| first >= 0x80) { &[0] } else { &[] };
    encoded(INTEGER, &[sign, magnitude].concat())
}

/// Parses an element with this tag. Returns its content and the remaining bytes. The length must be
/// minimal and have at most two bytes.
fn element(tag: u8, der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = match *der.strip_prefix(&[tag])? {
        [length @ 0..=0x7f, ref rest @ ..] | [0x81, length @ 0x80..=0xff, ref rest @ ..] => (usize::from(length), rest),
        [0x82, high @ 1..=0xff, low, ref rest @ ..] => (usize::from(high) << 8 | usize::from(low), rest),
        _ => return None,
    };
    rest.split_at_checked(length)
}

fn encoded(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(body.len()).expect("keys have fewer than 64 KiB");
    let [high, low] = length.to_be_bytes();
    let head: &[u8] = match length {
        0..=0x7f => &[tag, low],
        0x80..=0xff => &[tag, 0x81, low],
        _ => &[tag, 0x82, high, low],
    };
    [head, body].concat()
}
