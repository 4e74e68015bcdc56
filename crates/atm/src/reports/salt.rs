//! Salted hashes of client addresses. They recognize reports from an address without storing it. The salt changes
//! daily. Hashes are deleted after a day, and salts a little later.

use std::net::IpAddr;

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use jiff::{SignedDuration, Timestamp};
use sha2::Sha256;
use signpost_platform::limits::customer_network;
use signpost_store::rows;

/// Retention of an address hash. It is less than a day, so that the hash is deleted within a day despite the sweep
/// interval.
pub const ADDRESS_HASH_RETENTION: SignedDuration = SignedDuration::from_hours(23);

const SECONDS_A_DAY: i64 = 24 * 3600;

rows! {
    /// The salt for the address hashes of a day.
    #[derive(Clone)]
    #[expect(missing_docs, reason = "the names are self-explanatory")]
    pub struct ReportSalt in "atm_report_salts" by [day] {
        /// The number of days since 1970 in UTC.
        pub day: i64,
        pub salt: String,
    }
}

/// Returns the number of the day since 1970 in UTC.
#[must_use]
pub fn day_of(now: Timestamp) -> i64 {
    now.as_second().div_euclid(SECONDS_A_DAY)
}

impl ReportSalt {
    /// Creates a salt from 32 random bytes.
    #[must_use]
    pub fn new(day: i64, random: [u8; 32]) -> Self {
        Self { day, salt: HEXLOWER.encode(&random) }
    }

    /// Returns the hashes of an address and of its network, a prefix of 24 bits for IPv4 or 64 bits for IPv6.
    #[must_use]
    pub fn hash(&self, address: IpAddr) -> HashedAddress {
        HashedAddress {
            address: self.keyed_hash("address", address),
            network: self.keyed_hash("network", customer_network(address)),
        }
    }

    fn keyed_hash(&self, purpose: &str, address: IpAddr) -> String {
        let mac = Hmac::<Sha256>::new_from_slice(self.salt.as_bytes()).expect("HMAC takes keys of any length");
        let mac = mac.chain_update(purpose).chain_update(address.to_string());
        HEXLOWER.encode(&mac.finalize().into_bytes()[..16])
    }
}

/// The salted hashes of a client address and of its network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct HashedAddress {
    pub address: String,
    pub network: String,
}

impl std::fmt::Debug for ReportSalt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ReportSalt of day {}", self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_only_a_network_each_day() {
        let [one, other] = [1, 2].map(|day| ReportSalt::new(day, [u8::try_from(day).unwrap(); 32]));
        let hash = |salt: &ReportSalt, address: &str| salt.hash(address.parse().unwrap());
        let home = hash(&one, "192.0.2.7");
        assert_eq!(home, hash(&one, "192.0.2.7"));
        let neighbour = hash(&one, "192.0.2.8");
        assert!(home.network == neighbour.network && home.address != neighbour.address);
        assert_ne!(home.network, hash(&one, "192.0.3.7").network);
        let [home6, next6, far6] = ["2001:db8:1:1::", "2001:db8:1:2::", "2001:db8:2:1::"].map(|text| hash(&one, text));
        assert!(home6.network == next6.network && home6.address != next6.address && home6.network != far6.network);
        let tomorrow = hash(&other, "192.0.2.7");
        assert!(home.address != tomorrow.address && home.network != tomorrow.network);
        assert!(!format!("{home:?} {one:?}").contains("192.0"));
    }

    #[test]
    fn day_begins_at_midnight_utc() {
        let at = |text: &str| day_of(text.parse().unwrap());
        assert_eq!(at("1970-01-01T23:59:59Z"), 0);
        assert_eq!(at("2026-11-23T00:00:00Z"), at("2026-11-22T23:59:59Z") + 1);
    }
}
