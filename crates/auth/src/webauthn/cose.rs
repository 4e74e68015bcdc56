//! Public keys as authenticators write them (COSE, RFC 9052 and RFC 9053; Web Authentication, 5.8.5).

use super::cbor::Map;
use super::key::{PasskeyAlgorithm, PasskeyKey};
use super::refusal::PasskeyRefusal;

/// `kty` and its values.
const KEY_TYPE: i64 = 1;
const EC2: i128 = 2;
const RSA: i128 = 3;
const ALGORITHM: i64 = 3;
/// Parameters: curve and coordinates of an EC2 key, modulus and exponent of an RSA key.
const FIRST: i64 = -1;
const SECOND: i64 = -2;
const THIRD: i64 = -3;
const P256: i128 = 1;

/// Returns the public key of a `COSE_Key`.
pub(super) fn key_of(cose: &Map) -> Result<PasskeyKey, PasskeyRefusal> {
    let Some(number) = cose.number_at(ALGORITHM) else {
        return Err(PasskeyRefusal::Malformed("the public key does not name its algorithm"));
    };
    let Some(key_type) = cose.number_at(KEY_TYPE) else {
        return Err(PasskeyRefusal::Malformed("the public key does not name its type"));
    };
    let Some(algorithm) = PasskeyAlgorithm::ALL.into_iter().find(|known| i128::from(known.cose()) == number) else {
        return Err(PasskeyRefusal::Algorithm);
    };
    match (algorithm, key_type) {
        (PasskeyAlgorithm::Es256, EC2) => {
            // The algorithm leaves the curve open, Web Authentication does not.
            if cose.number_at(FIRST) != Some(P256) {
                return Err(PasskeyRefusal::Algorithm);
            }
            match (cose.bytes_at(SECOND), cose.bytes_at(THIRD)) {
                (Some(x), Some(y)) if x.len() == 32 && y.len() == 32 => {
                    Ok(PasskeyKey::from_point(&[&[4], x, y].concat())?)
                }
                _ => Err(PasskeyRefusal::Malformed("a coordinate of the public key does not have 32 bytes")),
            }
        }
        (PasskeyAlgorithm::Rs256, RSA) => match (cose.bytes_at(FIRST), cose.bytes_at(SECOND)) {
            (Some(n), Some(e)) => Ok(PasskeyKey::from_rsa(n, e)?),
            _ => Err(PasskeyRefusal::Malformed("the public key has no modulus or no exponent")),
        },
        _ => Err(PasskeyRefusal::Malformed("the public key's type is not that of its algorithm")),
    }
}
