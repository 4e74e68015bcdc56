//! The system domain: an issuer for users who belong to no integrator, such as the operators of the server.

use anyhow::{Context, Result};
use jiff::Timestamp;
use signpost_auth::DomainName;
use signpost_platform::accounts::{Account, Environment, SERVER_ACCOUNT};
use signpost_store::Store;
use url::Url;

use super::{Domain, DomainEntropy, HandlerKind, sql};

/// Returns the account of the system domain.
#[must_use]
pub fn account() -> Account {
    Account { name: SERVER_ACCOUNT.to_owned(), environment: Environment::Live }
}

/// Returns the name of the system domain of a server with this public URL: its host, or `localhost` if the host is not
/// a name.
///
/// # Panics
/// Never: `localhost` is a name.
#[must_use]
pub fn name(public_url: Option<&Url>) -> DomainName {
    let host = public_url.and_then(|url| DomainName::parse(url.host_str()?).ok());
    host.unwrap_or_else(|| DomainName::parse("localhost").expect("a name"))
}

/// Returns the system domain, and registers it if it does not exist. If several servers start concurrently, only one
/// registers it.
///
/// # Errors
/// Returns an error if the database is unavailable, or the public address is not a URL.
pub async fn find_or_register(
    store: &Store,
    public_url: Option<&Url>,
    public_address: &str,
    now: Timestamp,
) -> Result<Domain> {
    let name = name(public_url);
    if let Some(own) = sql::find_by_name(store, &account(), &name).await? {
        return Ok(own);
    }
    let webhook_url = public_address.parse().with_context(|| format!("{public_address} is no address"))?;
    // The sessions of the system domain have no events, so nothing is posted to this webhook.
    let own = Domain::new(account(), name.clone(), webhook_url, now, &DomainEntropy::draw());
    sql::insert_system_domain(store, Domain { handler: HandlerKind::Hosted, ..own }).await?;
    sql::find_by_name(store, &account(), &name).await?.context("the server's own domain is not there")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_domain_is_the_public_host() {
        for (public_url, expected) in [
            (None, "localhost"),
            (Some("https://Login.Example.com:8443/"), "login.example.com"),
            (Some("http://localhost:8080"), "localhost"),
            (Some("https://192.0.2.7"), "localhost"),
            (Some("https://[2001:db8::1]"), "localhost"),
        ] {
            let public_url = public_url.map(|text| text.parse::<Url>().unwrap());
            assert_eq!(name(public_url.as_ref()).as_str(), expected);
        }
    }
}
