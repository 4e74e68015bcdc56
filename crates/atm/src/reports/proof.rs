//! Proof of work: who spends a second of a processor on a report is no flood of them.
//!
//! A proof is a text for which SHA-256 of `ATM|SEEN|DAY|PROOF` begins with [`PROOF_BITS`] zero bits: the machine's number,
//! what was seen in the word of the API, the day in UTC (`2026-11-23`). The reports of a flood each need another one. A
//! proof makes nothing truer, so that a report with one weighs as much as without; it only passes the limit of all
//! reports of a server, behind which the others wait for the moderator.

use data_encoding::HEXLOWER;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use signpost_locator::AtmId;

use super::Seen;

/// How many zero bits the hash begins with: about a million tries.
pub const PROOF_BITS: u32 = 20;

/// The longest proof, in bytes.
pub const MAX_PROOF: usize = 64;

/// The hash of a proof that is good today or was yesterday; it is stored, so that a proof is used once.
#[must_use]
pub fn check_proof(atm: AtmId, seen: Seen, proof: &str, now: Timestamp) -> Option<String> {
    let days = [now, now - SignedDuration::from_hours(24)];
    let is_short = (1..=MAX_PROOF).contains(&proof.len());
    let hashes = days.into_iter().map(|day| hash(atm, seen, day, proof));
    hashes.filter(|hash| is_short && zero_bits(hash) >= PROOF_BITS).map(|hash| HEXLOWER.encode(&hash)).next()
}

fn hash(atm: AtmId, seen: Seen, day: Timestamp, proof: &str) -> [u8; 32] {
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

    /// 2026-11-23
    const NOW: Timestamp = Timestamp::constant(1_795_392_000, 0);

    fn atm(number: u64) -> AtmId {
        AtmId::new(number).expect("a number")
    }

    #[test]
    fn a_proof_holds_for_its_machine_its_kind_and_two_days() {
        let proof = "2335626";
        let day = SignedDuration::from_hours(24);
        for (number, seen, now, holds) in [
            (7, Seen::Gone, NOW, true),
            (7, Seen::Gone, NOW + day, true),
            (7, Seen::Gone, NOW + day + day, false),
            (7, Seen::Gone, NOW - day, false),
            (8, Seen::Gone, NOW, false),
            (7, Seen::There, NOW, false),
        ] {
            assert_eq!(check_proof(atm(number), seen, proof, now).is_some(), holds, "{number} {seen:?} {now}");
        }
        assert!(check_proof(atm(7), Seen::Gone, "", NOW).is_none());
    }
}
