//! The untrusted proxy that names clients, if any. The server stores its address in the database, because the doctor
//! cannot query the server for addresses of its network.

use std::net::IpAddr;

use anyhow::Result;
use jiff::Timestamp;
use signpost_store::{Statement, Store, params};

const FIND: &str = "SELECT untrusted_proxy, untrusted_proxy_at FROM deployment WHERE untrusted_proxy IS NOT NULL";

const SET: &str = "UPDATE deployment SET untrusted_proxy = $1, untrusted_proxy_at = $2";

/// A connection that named other clients although its address is not in `trusted_proxies`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntrustedProxy {
    /// The address of the connection.
    pub address: String,
    /// The time of its last request.
    pub at: Timestamp,
}

/// Returns the most recently recorded proxy.
///
/// # Errors
/// Returns an error if [`Store::read`] fails.
pub async fn find(store: &Store) -> Result<Option<UntrustedProxy>> {
    let Some(row) = store.read_one(FIND, params![]).await? else { return Ok(None) };
    Ok(Some(UntrustedProxy { address: row.text(0)?.to_owned(), at: row.time(1)? }))
}

/// Records a proxy. Addresses of the internet are not recorded, because any client there can send the header.
///
/// # Errors
/// Returns an error if [`Store::write`] fails.
pub async fn record(store: &Store, address: IpAddr, now: Timestamp) -> Result<()> {
    if is_of_own_network(address) {
        store.write([Statement::new(SET, params![address.to_string(), now])]).await?;
    }
    Ok(())
}

/// Checks for a private, link-local or loopback address.
fn is_of_own_network(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_private() || address.is_loopback() || address.is_link_local(),
        IpAddr::V6(address) => address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signpost_store::{Migration, Schema};

    #[tokio::test]
    async fn only_private_addresses_are_recorded() {
        static SCHEMA: Schema = Schema {
            migrations: &[Migration::expands(
                "CREATE TABLE deployment (untrusted_proxy TEXT, untrusted_proxy_at BIGINT); \
                 INSERT INTO deployment VALUES (NULL, NULL);",
            )],
            tables: &[],
            single_rows: &[],
            watched: &[],
        };
        let store = Store::open("sqlite::memory:", &SCHEMA).unwrap();
        let at = |second| Timestamp::from_second(second).unwrap();
        assert_eq!(find(&store).await.unwrap(), None);
        for (second, address) in [(1, "10.0.0.5"), (2, "198.51.100.7"), (3, "2001:db8::1")] {
            record(&store, address.parse().unwrap(), at(second)).await.unwrap();
        }
        let found = find(&store).await.unwrap().unwrap();
        assert_eq!((found.address.as_str(), found.at), ("10.0.0.5", at(1)));
    }
}
