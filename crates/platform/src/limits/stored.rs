//! Limits the data that is stored for callers that are not logged in: started logins, and
//! authorization requests that wait for consent. Each row is stored for an hour, so a limit per
//! window bounds the total.

use std::time::Duration;

use super::{Caller, Exceeded, Limit, Limits, Rate, customer_network};

/// Size of a row in bytes without its variable part, but with its index entries.
const ROW_BYTES: usize = 2048;
/// Number of KiB per login that the limit allows on average: a row and 1 KiB of parameters.
const KIB_PER_LOGIN: u32 = 3;
/// Maximum for all addresses together, as a multiple of the maximum per address.
const ADDRESSES: u32 = 100;
/// Maximum for the addresses of a network, as a multiple of the maximum per address. A single
/// customer of a provider often has 256 IPv6 networks of 64 bits, and must not use up the maximum
/// for all addresses.
const ADDRESSES_OF_NETWORK: u32 = 4;

impl Limits {
    /// Counts a row with `bytes` bytes of variable length that is about to be stored for a caller
    /// that is not logged in. The bytes are counted for the caller; rows and bytes are counted for
    /// its network and for all callers together. The calling function counts the rows of the caller
    /// against [`Limit::CreateSession`].
    ///
    /// # Errors
    /// Returns [`Exceeded`] if the caller, its network or all callers together have stored too much
    /// in the window.
    pub async fn check_stored(&self, caller: &Caller, bytes: usize, now: Duration) -> Result<(), Exceeded> {
        let Some(rate) = self.rate_of(Limit::CreateSession) else { return Ok(()) };
        let kib = stored_kib(rate);
        let cost = kib_of(bytes);
        self.count(Limit::StoredKib, caller, (kib, cost), now).await?;
        let mut groups = vec![(Caller::All, ADDRESSES)];
        if let Caller::Address(address) = caller {
            groups.insert(0, (Caller::Network(customer_network(*address).into()), ADDRESSES_OF_NETWORK));
        }
        for (group, share) in groups {
            self.count(Limit::StartedLogins, &group, (times(rate, share), 1), now).await?;
            self.count(Limit::StoredKib, &group, (times(kib, share), cost), now).await?;
        }
        Ok(())
    }
}

/// Returns the maximum KiB per address and window, given the rate of logins.
fn stored_kib(logins: Rate) -> Rate {
    times(logins, KIB_PER_LOGIN)
}

fn times(rate: Rate, factor: u32) -> Rate {
    Rate { count: rate.count.saturating_mul(factor), ..rate }
}

/// Returns the size of a row in KiB with this many bytes of variable length, rounded up.
fn kib_of(bytes: usize) -> u32 {
    u32::try_from((ROW_BYTES + bytes).div_ceil(1024)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;
    use crate::limits::Rates;

    fn limits(logins: Option<Rate>) -> Limits {
        let rates = Rates {
            mcp: None,
            mcp_wait: Duration::ZERO,
            sse: None,
            create_session: logins,
            get_session: None,
            map: None,
            verify: None,
            domains: None,
            answer: None,
            submissions: None,
            reports: None,
            token: None,
        };
        Limits::new(rates, None)
    }

    /// Returns the address with this number. Each address is in a separate network.
    fn address(number: u32) -> Caller {
        Caller::Address(IpAddr::V4(Ipv4Addr::from_bits(number << 8)))
    }

    const MINUTE: Duration = Duration::from_mins(1);

    /// Stores rows of this size for an address until a row is rejected. Returns the number of
    /// stored rows and the name of the exceeded limit.
    async fn fill(limits: &Limits, number: u32, bytes: usize, at: Duration) -> (u32, &'static str) {
        for stored in 0..10_000 {
            if let Err(exceeded) = limits.check_stored(&address(number), bytes, at).await {
                return (stored, exceeded.name);
            }
        }
        panic!("nothing is refused");
    }

    #[tokio::test]
    async fn large_rows_use_up_the_address_limit() {
        let limits = limits(Some(Rate { count: 10, window: MINUTE }));
        assert_eq!(fill(&limits, 1, 1024, Duration::ZERO).await, (10, "stored_kib"));
        assert_eq!(fill(&limits, 2, 8 * 1024, Duration::ZERO).await, (3, "stored_kib"));
        assert_eq!(fill(&limits, 3, 0, Duration::ZERO).await, (15, "stored_kib"));
        assert_eq!(fill(&limits, 2, 8 * 1024, MINUTE).await, (3, "stored_kib"));
    }

    #[tokio::test]
    async fn total_limit_is_a_hundred_addresses() {
        let limits = limits(Some(Rate { count: 2, window: MINUTE }));
        let (mut rows, mut by) = (0, "stored_kib");
        let mut number = 0;
        while by == "stored_kib" {
            let (stored, refused_by) = fill(&limits, number, 0, Duration::ZERO).await;
            (rows, by, number) = (rows + stored, refused_by, number + 1);
        }
        assert_eq!((rows, by), (200, "begun_logins"));
        assert_eq!(fill(&limits, number + 1, 0, MINUTE).await.0, 3);
    }

    #[tokio::test]
    async fn network_does_not_use_up_the_total_limit() {
        let limits = limits(Some(Rate { count: 2, window: MINUTE }));
        let mut stored = 0;
        for last in 0..256_u32 {
            let caller = Caller::Address(format!("2001:db8:1:{last:x}::").parse().unwrap());
            while limits.check_stored(&caller, 0, Duration::ZERO).await.is_ok() {
                stored += 1;
            }
        }
        assert_eq!(stored, 8);
        assert_eq!(fill(&limits, 1, 0, Duration::ZERO).await.0, 3);
    }

    #[tokio::test]
    async fn disabled_login_limit_counts_nothing() {
        let limits = limits(None);
        for _ in 0..1000 {
            assert_eq!(limits.check_stored(&address(1), 8 * 1024, Duration::ZERO).await, Ok(()));
        }
    }
}
