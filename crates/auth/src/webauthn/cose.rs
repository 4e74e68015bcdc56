//! Public keys as authenticators write them (COSE, RFC 9052 and RFC 9053; Web Authentication, 5.8.5).

use super::cbor::Map;
use super::key::{PasskeyAlgorithm, PasskeyKey};
use super::refusal::PasskeyRefusal;

/// `kty`: of two coordinates, and RSA.
const KEY_TYPE: i64 = 1;
const EC2: i128 = 2;
const RSA: i128 = 3;
const ALGORITHM: i64 = 3;
/// Of an EC2 key the curve and the coordinates, of an RSA key modulus and exponent.
const FIRST: i64 = -1;
const SECOND: i64 = -2;
const THIRD: i64 = -3;
const P256: i128 = 1;

/// The key in a `COSE_Key`.
pub(super) fn key_of(cose: &Map) -> Result<PasskeyKey, PasskeyRefusal> {
    let malformed = |what| move || PasskeyRefusal::Malformed(what);
    let number = cose.number_at(ALGORITHM).ok_or_else(malformed("the public key does not name its algorithm"))?;
    let algorithm = PasskeyAlgorithm::ALL.into_iter().find(|algorithm| i128::from(algorithm.cose()) == number);
    let key_type = cose.number_at(KEY_TYPE).ok_or_else(malformed("the public key does not name its type"))?;
    match (algorithm.ok_or(PasskeyRefusal::Algorithm)?, key_type) {
        (PasskeyAlgorithm::Es256, EC2) => {
            // The algorithm leaves the curve open, Web Authentication does not.
            if cose.number_at(FIRST) != Some(P256) {
                return Err(PasskeyRefusal::Algorithm);
            }
            let coordinate = |at| cose.bytes_at(at).filter(|bytes| bytes.len() == 32);
            let missing = malformed("a coordinate of the public key does not have 32 bytes");
            let (x, y) = coordinate(SECOND).zip(coordinate(THIRD)).ok_or_else(missing)?;
            Ok(PasskeyKey::from_point(&[&[4], x, y].concat())?)
        }
        (PasskeyAlgorithm::Rs256, RSA) => {
            let missing = malformed("the public key has no modulus or no exponent");
            let (n, e) = cose.bytes_at(FIRST).zip(cose.bytes_at(SECOND)).ok_or_else(missing)?;
            Ok(PasskeyKey::from_rsa(n, e)?)
        }
        _ => Err(PasskeyRefusal::Malformed("the public key's type is not that of its algorithm")),
    }
}
