//! Proof of work for reports. It costs the client about a second of CPU time, so that floods of reports are expensive.
//!
//! A proof is a text such that the SHA-256 hash of `ATM|SEEN|DAY|PROOF` starts with [`PROOF_BITS`] zero bits. `ATM` is
//! the ID of the ATM, `SEEN` the finding as in the API, and `DAY` the date in UTC (`2026-11-23`). Each report needs its
//! own proof. A proof does not change the weight of a report, but the report is shown without moderation even if the
//! server's limit of unmoderated reports is exceeded.

use data_encoding::HEXLOWER;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use signpost_locator::AtmId;

use super::Finding;

/// Required number of zero bits at the start of the hash. A client needs about a million attempts.
pub const PROOF_BITS: u32 = 20;

/// Maximum length of a proof, in bytes.
pub const MAX_PROOF: usize = 64;

/// Checks that a proof is valid for today or yesterday, and returns its hash. The hash is stored, so that each proof
/// can be used only once.
#[must_use]
pub fn check_proof(atm: AtmId, seen: Finding, proof: &str, now: Timestamp) -> Option<String> {
    if !(1..=MAX_PROOF).contains(&proof.len()) {
        return None;
    }
    let hashes = [now, now - SignedDuration::from_hours(24)].map(|day| hash(atm, seen, day, proof));
    let valid = hashes.iter().find(|hash| zero_bits(hash) >= PROOF_BITS)?;
    Some(HEXLOWER.encode(valid))
}

fn hash(atm: AtmId, seen: Finding, day: Timestamp, proof: &str) -> [u8; 32] {
    let day = day.to_zoned_datetime(TimeZone::UTC).date();
    Sha256::digest(format!("{}|{}|{day}|{proof}", atm.get(), seen.as_str())).into()
}

fn zero_bits(hash: &[u8; 32]) -> u32 {
    let first = u64::from_be_bytes(hash[..8].try_into().expect("a hash has 32 bytes"));
    first.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The current time in the tests, 2026-11-23 at midnight UTC.
    const NOW: Timestamp = Timestamp::constant(1_795_392_000, 0);

    fn atm(number: u64) -> AtmId {
        AtmId::new(number).expect("a number")
    }

    #[test]
    fn proof_is_valid_for_its_atm_kind_and_two_days() {
        let proof = "2335626";
        let day = SignedDuration::from_hours(24);
        for (number, seen, now, holds) in [
            (7, Finding::Gone, NOW, true),
            (7, Finding::Gone, NOW + day, true),
            (7, Finding::Gone, NOW + day + day, false),
            (7, Finding::Gone, NOW - day, false),
            (8, Finding::Gone, NOW, false),
            (7, Finding::There, NOW, false),
        ] {
            assert_eq!(check_proof(atm(number), seen, proof, now).is_some(), holds, "{number} {seen:?} {now}");
        }
        assert!(check_proof(atm(7), Finding::Gone, "", NOW).is_none());
    }
}
