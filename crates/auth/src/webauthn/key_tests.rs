//! Tests of the public keys of passkeys.

use data_encoding::HEXLOWER;
use proptest::prelude::*;

use super::*;

const POINT: &str = "3059301306072a8648ce3d020106082a8648ce3d03010703420004\
                     6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296\
                     4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";

fn rsa(bits: usize, e: &[u8]) -> Result<PasskeyKey, MalformedPasskeyKey> {
    let mut n = vec![0xff; bits.div_ceil(8)];
    n[0] = if bits.is_multiple_of(8) { 0x80 } else { 1 << (bits % 8 - 1) };
    PasskeyKey::from_rsa(&n, e)
}

#[test]
fn passkey_key_has_one_spelling() {
    for key in [PasskeyKey::parse_hex(POINT), rsa(2048, &[3]), rsa(4096, &[1, 0, 1]), rsa(2049, &[0xff])] {
        let key = key.unwrap();
        let hex = key.canonical();
        assert_eq!(PasskeyKey::parse_hex(&hex), Ok(key.clone()));
        assert_eq!(PasskeyKey::parse_hex(&hex.to_uppercase()), Ok(key));
        for bad in [format!("{hex}00"), hex[2..].to_owned(), hex[..hex.len() - 2].to_owned(), format!(" {hex}")] {
            assert_eq!(PasskeyKey::parse_hex(&bad), Err(MalformedPasskeyKey::NotSpki), "{bad}");
        }
    }
    let usual = rsa(2048, &[1, 0, 1]).unwrap().canonical();
    assert!(usual.starts_with("30820122300d06092a864886f70d01010105000382010f003082010a0282010100"), "{usual}");
}

#[test]
fn other_key_types_are_rejected() {
    use MalformedPasskeyKey::{NotOnCurve, NotSpki};
    let compressed = format!("3039301306072a8648ce3d020106082a8648ce3d030107032200{}", "02".repeat(33));
    let p384 = format!("3076301006072a8648ce3d020106052b81040022036200{}", "04".repeat(97));
    let secp256k1 = POINT.replace("06082a8648ce3d030107", "06052b8104000a");
    let ed25519 = format!("302a300506032b6570032100{}", "11".repeat(32));
    for (name, hex, error) in [
        ("nothing", String::new(), NotSpki),
        ("compressed", compressed, NotOnCurve),
        ("off the curve", format!("{}f6", &POINT[..POINT.len() - 2]), NotOnCurve),
        ("P-384", p384, NotSpki),
        ("secp256k1", secp256k1, NotSpki),
        ("Ed25519", ed25519, NotSpki),
        ("too long to be read", "30".repeat(601), NotSpki),
    ] {
        assert_eq!(PasskeyKey::parse_hex(&hex), Err(error), "{name}");
    }
}

#[test]
fn rsa_limits_match_the_verifier() {
    use MalformedPasskeyKey::{Exponent, Modulus};
    for (bits, e, result) in [
        (2047, &[1, 0, 1][..], Err(Modulus)),
        (2048, &[1, 0, 1], Ok(())),
        (4096, &[1, 0, 1], Ok(())),
        (4097, &[1, 0, 1], Err(Modulus)),
        (2048, &[], Err(Exponent)),
        (2048, &[1], Err(Exponent)),
        (2048, &[2], Err(Exponent)),
        (2048, &[3], Ok(())),
        (2048, &[1, 0, 0], Err(Exponent)),
        (2048, &[0, 3], Err(Exponent)),
        (2048, &[1, 0xff, 0xff, 0xff, 0xff], Ok(())),
        (2048, &[2, 0, 0, 0, 1], Err(Exponent)),
        (2048, &[1; 9], Err(Exponent)),
    ] {
        assert_eq!(rsa(bits, e).map(drop), result, "{bits} {e:?}");
    }
    let mut even = vec![0xff; 256];
    even[255] = 2;
    assert_eq!(PasskeyKey::from_rsa(&even, &[3]), Err(Modulus));
    assert_eq!(PasskeyKey::from_rsa(&[], &[3]), Err(Modulus));
    assert_eq!(PasskeyKey::from_rsa(&[&[0; 2][..], &[0xff; 256]].concat(), &[3]), Err(Modulus));
}

proptest! {
    #[test]
    fn changed_spelling_never_parses(index: prop::sample::Index, with: u8, large: bool) {
        let key = if large { rsa(2048, &[1, 0, 1]).unwrap() } else { PasskeyKey::parse_hex(POINT).unwrap() };
        let mut der = HEXLOWER.decode(key.canonical().as_bytes()).unwrap();
        let index = index.index(der.len());
        der[index] = with;
        if let Ok(read) = PasskeyKey::parse_hex(&HEXLOWER.encode(&der)) {
            prop_assert_eq!(read.canonical(), HEXLOWER.encode(&der));
        }
    }
}
