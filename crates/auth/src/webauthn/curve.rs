//! Checks that a point is on the curve P-256. Signature verification would also reject other
//! points, but only at the first login, after the key was stored. No input is secret, so the
//! functions need not run in constant time.

/// An integer of 256 bits, least significant word first.
type FieldElement = [u32; 8];

/// The prime of the field: 2²⁵⁶ − 2²²⁴ + 2¹⁹² + 2⁹⁶ − 1 (FIPS 186-4, section D.1.2.3).
const PRIME: FieldElement = [0xffff_ffff, 0xffff_ffff, 0xffff_ffff, 0, 0, 0, 1, 0xffff_ffff];
/// The constant `b` of the curve.
const B: FieldElement =
    [0x27d2_604b, 0x3bce_3c3e, 0xcc53_b0f6, 0x651d_06b0, 0x7698_86bc, 0xb3eb_bd55, 0xaa3a_93e7, 0x5ac6_35d8];

/// Returns `true` if `y² = x³ − 3x + b`, and if both big-endian numbers are below the prime.
pub(super) fn is_on_p256(x: &[u8; 32], y: &[u8; 32]) -> bool {
    let x = number(x);
    let y = number(y);
    if !is_below_prime(&x) || !is_below_prime(&y) {
        return false;
    }
    let cube = product(&product(&x, &x), &x);
    let right = (0..3).fold(sum(&cube, &B), |right, _| difference(&right, &x));
    product(&y, &y) == right
}

fn number(bytes: &[u8; 32]) -> FieldElement {
    std::array::from_fn(|index| u32::from_be_bytes(std::array::from_fn(|byte| bytes[28 - 4 * index + byte])))
}

fn is_below_prime(number: &FieldElement) -> bool {
    number.iter().rev().lt(PRIME.iter().rev())
}

fn sum(a: &FieldElement, b: &FieldElement) -> FieldElement {
    reduced(std::array::from_fn(|index| i64::from(a[index]) + i64::from(b[index])))
}

fn difference(a: &FieldElement, b: &FieldElement) -> FieldElement {
    reduced(std::array::from_fn(|index| i64::from(a[index]) - i64::from(b[index])))
}

fn product(a: &FieldElement, b: &FieldElement) -> FieldElement {
    let mut words = [0_u32; 16];
    for (i, &left) in a.iter().enumerate() {
        let mut carry = 0_u64;
        for (j, &right) in b.iter().enumerate() {
            let total = u64::from(left) * u64::from(right) + u64::from(words[i + j]) + carry;
            words[i + j] = low(total);
            carry = total >> 32;
        }
        words[i + 8] = low(carry);
    }
    let c = |index: usize| i64::from(words[index]);
    // FIPS 186-4, section D.2.3: the words above 2²⁵⁶ are added to and subtracted from the lower
    // words.
    reduced([
        c(0) + c(8) + c(9) - c(11) - c(12) - c(13) - c(14),
        c(1) + c(9) + c(10) - c(12) - c(13) - c(14) - c(15),
        c(2) + c(10) + c(11) - c(13) - c(14) - c(15),
        c(3) + 2 * c(11) + 2 * c(12) + c(13) - c(15) - c(8) - c(9),
        c(4) + 2 * c(12) + 2 * c(13) + c(14) - c(9) - c(10),
        c(5) + 2 * c(13) + 2 * c(14) + c(15) - c(10) - c(11),
        c(6) + 3 * c(14) + 2 * c(15) + c(13) - c(8) - c(9),
        c(7) + 3 * c(15) + c(8) - c(10) - c(11) - c(12) - c(13),
    ])
}

/// Reduces words that may be negative or too large modulo the prime.
fn reduced(mut words: [i64; 8]) -> FieldElement {
    loop {
        let mut carry = 0_i64;
        let digits: FieldElement = std::array::from_fn(|index| {
            let total = words[index] + carry;
            carry = total >> 32;
            low(total.cast_unsigned())
        });
        if carry == 0 && is_below_prime(&digits) {
            return digits;
        }
        // Without a carry, subtract the prime once if the digits are not below it.
        let times = if carry == 0 { 1 } else { carry };
        words = std::array::from_fn(|index| i64::from(digits[index]) - times * i64::from(PRIME[index]));
        // The carry belongs above the most significant digit.
        words[7] += carry << 32;
    }
}

fn low(number: u64) -> u32 {
    (number & 0xffff_ffff).try_into().expect("32 bits")
}

#[cfg(test)]
mod tests {
    use data_encoding::HEXLOWER;
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};

    use super::*;

    fn coordinates(point: &[u8]) -> ([u8; 32], [u8; 32]) {
        (point[1..33].try_into().unwrap(), point[33..65].try_into().unwrap())
    }

    fn bytes(hex: &str) -> [u8; 32] {
        HEXLOWER.decode(hex.as_bytes()).unwrap().try_into().unwrap()
    }

    #[test]
    fn changed_points_are_rejected() {
        let random = SystemRandom::new();
        for _ in 0..8 {
            let secret = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random).unwrap();
            let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, secret.as_ref(), &random).unwrap();
            let (x, y) = coordinates(pair.public_key().as_ref());
            assert!(is_on_p256(&x, &y));
            for bit in 0..256 {
                let mut other = y;
                other[bit / 8] ^= 1 << (bit % 8);
                assert!(!is_on_p256(&x, &other), "{bit}");
            }
        }
    }

    #[test]
    fn field_boundaries_are_checked() {
        let zero = [0; 32];
        // The two square roots of `b`.
        let root = bytes("66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4");
        assert!(is_on_p256(&zero, &root));
        assert!(!is_on_p256(&zero, &zero));
        let prime = bytes("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff");
        assert!(!is_on_p256(&prime, &root), "x = p spells 0 a second time");
        assert!(!is_on_p256(&[0xff; 32], &[0xff; 32]));
        let generator = (
            bytes("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"),
            bytes("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"),
        );
        assert!(is_on_p256(&generator.0, &generator.1));
        assert!(!is_on_p256(&generator.1, &generator.0));
    }
}
