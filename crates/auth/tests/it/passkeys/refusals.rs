//! Tests responses of authenticators that have a valid signature but a single fault.

use serde_json::json;
use signpost_auth::PasskeyRefusal;

use super::{log_in, register};
use crate::passkey::{BACKED_UP, Lie, USER_PRESENT, USER_VERIFIED, bytes, cose_of_point, cose_of_rsa};

#[test]
fn foreign_client_data_is_rejected() {
    use PasskeyRefusal as No;
    type Row = (fn() -> Lie, PasskeyRefusal);
    let rows: [Row; 21] = [
        (|| Lie::Type("payment.get"), No::Type),
        (|| Lie::Challenge([8; 32]), No::Challenge),
        (|| Lie::Origin("https://login.test:8443"), No::Origin),
        (|| Lie::Origin("http://login.test"), No::Origin),
        (|| Lie::Origin("https://evil.login.test"), No::Origin),
        (|| Lie::Origin("https://login.test/"), No::Origin),
        (|| Lie::Origin("https://LOGIN.test"), No::Origin),
        (|| Lie::Origin("android:apk-key-hash:AAAA"), No::Origin),
        (|| Lie::CrossOrigin, No::CrossOrigin),
        (|| Lie::TopOrigin(json!("https://shop.test")), No::CrossOrigin),
        (|| Lie::TopOrigin(json!(null)), No::CrossOrigin),
        (|| Lie::RpId("test"), No::RelyingParty),
        (|| Lie::RpId("login.test."), No::RelyingParty),
        (|| Lie::Flags(USER_PRESENT), No::UserPresence),
        (|| Lie::Flags(USER_VERIFIED), No::UserVerification),
        (|| Lie::Flags(USER_PRESENT | USER_VERIFIED), No::UserPresence),
        (|| Lie::Flags(BACKED_UP), No::Backup),
        (|| Lie::AuthenticatorData(|data| data[..36].to_vec()), TOO_SHORT),
        (|| Lie::AuthenticatorData(|_| Vec::new()), TOO_SHORT),
        (|| Lie::AuthenticatorData(|data| [data, vec![0]].concat()), No::Malformed(TRAILING_BYTES)),
        // An extension that claims to be as long as the whole memory.
        (
            || Lie::AuthenticatorData(|data| with_extensions(data, &[0xbb, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0])),
            TOO_SHORT,
        ),
    ];
    for (at, (lie, refusal)) in rows.into_iter().enumerate() {
        assert_eq!(register(&[lie()]), Err(refusal), "{at}");
        assert_eq!(log_in(&[lie()]), Err(refusal), "{at}");
    }
    // The type of each ceremony is invalid for the other ceremony.
    assert_eq!(register(&[Lie::Type("webauthn.get")]), Err(No::Type));
    assert_eq!(log_in(&[Lie::Type("webauthn.create")]), Err(No::Type));
}

const TOO_SHORT: PasskeyRefusal = PasskeyRefusal::Malformed("authenticator data has 37 bytes and what its flags say");
const TRAILING_BYTES: &str = "something follows the authenticator data";
const INVALID_CLIENT_DATA: &str = "client data is JSON with one type, challenge and origin, crossOrigin a boolean";

fn with_extensions(mut data: Vec<u8>, map: &[u8]) -> Vec<u8> {
    data[32] |= 1 << 7;
    [data, map.to_vec()].concat()
}

#[test]
fn ambiguous_client_data_is_rejected() {
    type Row = (fn(String) -> Vec<u8>, Result<(), PasskeyRefusal>);
    let odd = PasskeyRefusal::Malformed(INVALID_CLIENT_DATA);
    let rows: [Row; 13] = [
        // Browsers decode it without the byte order mark.
        (|text| format!("\u{feff}{text}").into_bytes(), Ok(())),
        (|text| text.replacen('{', r#"{"later":{"type":"x"},"#, 1).into_bytes(), Ok(())),
        (|text| text.replace(r#","crossOrigin":false"#, "").into_bytes(), Ok(())),
        (|text| text.replace("https:", r"https\u003a").into_bytes(), Ok(())),
        (|text| format!("\u{feff}\u{feff}{text}").into_bytes(), Err(odd)),
        (|text| text.replacen('{', r#"{"origin":"https://evil.test","#, 1).into_bytes(), Err(odd)),
        (|text| text.replacen('{', r#"{"challenge":"","#, 1).into_bytes(), Err(odd)),
        (|text| text.replacen('{', r#"{"type":"webauthn.get","#, 1).into_bytes(), Err(odd)),
        (|text| text.replacen('{', r#"{"crossOrigin":false,"#, 1).into_bytes(), Err(odd)),
        (|text| text.replace("false", "null").into_bytes(), Err(odd)),
        (|text| format!("{text} {{}}").into_bytes(), Err(odd)),
        (|text| text.replace("https", "ht\\ud800tps").into_bytes(), Err(odd)),
        (|text| [text.as_bytes(), &[0xff]].concat(), Err(PasskeyRefusal::Malformed("client data is UTF-8"))),
    ];
    for (at, (change, result)) in rows.into_iter().enumerate() {
        assert_eq!(register(&[Lie::ClientData(change)]).map(drop), result, "{at}");
        assert_eq!(log_in(&[Lie::ClientData(change)]).map(drop), result, "{at}");
    }
}

#[test]
fn extensions_are_skipped_and_bounded() {
    let ok = |data| with_extensions(data, b"\xa1\x63prf\xa1\x01\x81\x00");
    assert_eq!(log_in(&[Lie::AuthenticatorData(ok)]), Ok(1));
    let twice = |data| with_extensions(data, b"\xa2\x61a\x00\x61a\x00");
    assert_eq!(log_in(&[Lie::AuthenticatorData(twice)]), Err(TOO_SHORT));
    let deep = |data| with_extensions(data, &[vec![0xa1, 0x01], vec![0x81; 5_000], vec![0]].concat());
    assert_eq!(log_in(&[Lie::AuthenticatorData(deep)]), Err(TOO_SHORT));
    let behind = |data| with_extensions(data, &[0xa0, 0xa0]);
    assert_eq!(log_in(&[Lie::AuthenticatorData(behind)]), Err(PasskeyRefusal::Malformed(TRAILING_BYTES)));
}

#[test]
fn unsupported_or_invalid_keys_are_rejected() {
    use PasskeyRefusal::{Algorithm, Malformed};
    use signpost_auth::MalformedPasskeyKey::{Exponent, Modulus, NotOnCurve};
    let (x, y) = ([0x11; 32], [0x22; 32]);
    let odd = [0xff; 256];
    let point = cose_of_point(-7, 1, &x, &y);
    let short = Malformed("a coordinate of the public key does not have 32 bytes");
    for (name, cose, refusal) in [
        ("EdDSA", [&[0xa4, 1, 1, 3, 0x27, 0x20, 6, 0x21][..], &bytes(&x)].concat(), Algorithm),
        ("ES384", cose_of_point(-35, 2, &[1; 48], &[2; 48]), Algorithm),
        ("ES256K", cose_of_point(-47, 8, &x, &y), Algorithm),
        ("ES256 on secp256k1", cose_of_point(-7, 8, &x, &y), Algorithm),
        ("ES256 on P-384", cose_of_point(-7, 2, &[1; 48], &[2; 48]), Algorithm),
        ("PS256", [&[0xa2, 1, 3, 3, 0x38, 36][..]].concat(), Algorithm),
        ("no point", point.clone(), NotOnCurve.into()),
        ("short coordinate", cose_of_point(-7, 1, &x[1..], &y), short),
        ("compressed", [&point[..point.len() - 35], &[0xf5]].concat(), short),
        ("RSA of 1024 bits", cose_of_rsa(&odd[..128], &[1, 0, 1]), Modulus.into()),
        ("RSA of 8192 bits", cose_of_rsa(&[0xff; 1024], &[1, 0, 1]), Modulus.into()),
        ("even RSA", cose_of_rsa(&[0xfe; 256], &[1, 0, 1]), Modulus.into()),
        ("RSA with exponent 1", cose_of_rsa(&odd, &[1]), Exponent.into()),
        (
            "RSA that says ES256",
            [&[0xa2, 1, 3, 3, 0x26][..]].concat(),
            Malformed("the public key's type is not that of its algorithm"),
        ),
        ("no algorithm", vec![0xa1, 1, 2], Malformed("the public key does not name its algorithm")),
        ("no type", vec![0xa1, 3, 0x26], Malformed("the public key does not name its type")),
        ("a member twice", [&[0xa6, 3, 0x27][..], &point[1..]].concat(), TOO_SHORT),
        ("no map", vec![0x80], TOO_SHORT),
        ("nothing", vec![], TOO_SHORT),
        ("something behind it", [cose_of_rsa(&odd, &[3]), vec![0]].concat(), Malformed(TRAILING_BYTES)),
    ] {
        assert_eq!(register(&[Lie::Key(cose)]), Err(refusal), "{name}");
    }
    assert!(register(&[Lie::Key(cose_of_rsa(&odd, &[3]))]).is_ok());
}

#[test]
fn attestation_statement_is_ignored() {
    use PasskeyRefusal::{Attestation, Malformed};
    type Row = (fn(Vec<u8>) -> Vec<u8>, PasskeyRefusal);
    let packed = || Lie::Statement("packed", b"\xa2\x63alg\x26\x63sig\x41\x00".to_vec());
    assert!(register(&[packed()]).is_ok());
    assert!(register(&[Lie::Statement("none", vec![0xa0])]).is_ok());
    assert_eq!(register(&[Lie::Statement("none", vec![0xa1, 1, 1])]), Err(Attestation));
    let behind = Malformed("something follows the attestation");
    let no_map = Malformed("the attestation is not a map in CBOR");
    let lacks = Malformed("the attestation lacks fmt, attStmt or authData");
    let rows: [Row; 6] = [
        (|object| [object, vec![0xff]].concat(), behind),
        (|object| object[..object.len() - 1].to_vec(), no_map),
        (|_| vec![], no_map),
        (|object| [&[0xa4, 0x63][..], b"fmt", &[0], &object[1..]].concat(), no_map),
        (|_| vec![0xa0], lacks),
        (|object| [vec![0xa3, 0x63], b"fmu".to_vec(), object[5..].to_vec()].concat(), lacks),
    ];
    for (at, (change, refusal)) in rows.into_iter().enumerate() {
        assert_eq!(register(&[Lie::Attestation(change)]), Err(refusal), "{at}");
    }
    assert_eq!(register(&[Lie::Statement("none", vec![0x80])]), Err(lacks));
    assert_eq!(register(&[Lie::Flags(1 << 6)]), Err(Malformed(TRAILING_BYTES)));
    let without = |mut data: Vec<u8>| {
        data.truncate(37);
        data[32] ^= 1 << 6;
        data
    };
    let refusal = Malformed("the authenticator data has no passkey");
    assert_eq!(register(&[Lie::AuthenticatorData(without)]), Err(refusal));
}

#[test]
fn client_and_authenticator_ids_match() {
    assert_eq!(register(&[Lie::Id(vec![1; 16])]), Err(PasskeyRefusal::CredentialId));
    // The caller stores passkeys, so it detects duplicate credential IDs.
    assert!(register(&[Lie::NamedAs(vec![1; 16])]).is_ok());
    let longest = |data: Vec<u8>| [&data[..53], &1023_u16.to_be_bytes(), &[5; 1023], &data[71..]].concat();
    assert!(register(&[Lie::AuthenticatorData(longest), Lie::Id(vec![5; 1023])]).is_ok());
    let too_long = |data: Vec<u8>| [&data[..53], &1024_u16.to_be_bytes(), &[5; 1024], &data[71..]].concat();
    assert_eq!(register(&[Lie::AuthenticatorData(too_long), Lie::Id(vec![5; 1023])]), Err(TOO_SHORT));
    let none = |data: Vec<u8>| [&data[..53], &[0, 0], &data[71..]].concat();
    assert_eq!(register(&[Lie::AuthenticatorData(none)]), Err(TOO_SHORT));
}
