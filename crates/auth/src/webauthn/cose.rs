//! Parses the public keys of authenticators (COSE, RFC 9052 and RFC 9053; Web Authentication,
//! section 5.8.5).

use super::cbor::Map;
use super::key::{PasskeyAlgorithm, PasskeyKey};
use super::refusal::PasskeyRefusal;

/// Label of the key type (`kty`), with its values.
const KEY_TYPE: i64 = 1;
const EC2: i128 = 2;
const RSA: i128 = 3;
const ALGORITHM: i64 = 3;
/// Labels of the parameters: curve and coordinates of an EC2 key, or modulus and exponent of an RSA
/// key.
const FIRST: i64 = -1;
const SECOND: i64 = -2;
const THIRD: i64 = -3;
const P256: i128 = 1;

/// Parses the public key in a `COSE_Key` map.
pub(super) fn key_of(cose: &Map) -> Result<PasskeyKey, PasskeyRefusal> {
    let Some(number) = cose.get_integer(ALGORITHM) else {
        return Err(PasskeyRefusal::Malformed("the public key does not name its algorithm"));
    };
    let Some(key_type) = cose.get_integer(KEY_TYPE) else {
        return Err(PasskeyRefusal::Malformed("the public key does not name its type"));
    };
    let Some(algorithm) = PasskeyAlgorithm::ALL.into_iter().find(|known| i128::from(known.cose()) == number) else {
        return Err(PasskeyRefusal::Algorithm);
    };
    match (algorithm, key_type) {
        (PasskeyAlgorithm::Es256, EC2) => {
            // The COSE algorithm does not determine the curve, but Web Authentication does.
            if cose.get_integer(FIRST) != Some(P256) {
                return Err(PasskeyRefusal::Algorithm);
            }
            match (cose.get_bytes(SECOND), cose.get_bytes(THIRD)) {
                (Some(x), Some(y)) if x.len() == 32 && y.len() == 32 => {
                    Ok(PasskeyKey::from_point(&[&[4], x, y].concat())?)
                }
                _ => Err(PasskeyRefusal::Malformed("a coordinate of the public key does not have 32 bytes")),
            }
        }
        (PasskeyAlgorithm::Rs256, RSA) => match (cose.get_bytes(FIRST), cose.get_bytes(SECOND)) {
            (Some(n), Some(e)) => Ok(PasskeyKey::from_rsa(n, e)?),
            _ => Err(PasskeyRefusal::Malformed("the public key has no modulus or no exponent")),
        },
        _ => Err(PasskeyRefusal::Malformed("the public key's type is not that of its algorithm")),
    }
}
