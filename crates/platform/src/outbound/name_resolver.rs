//! Resolves host names, either with the operating system for webhooks, or without a cache for
//! domain ownership proofs.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig, ResolverOpts};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::RData;
use hickory_resolver::{Resolver, TokioResolver};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::{EgressPolicy, check_addresses};

/// Error message for a forbidden address.
pub(super) const FORBIDDEN: &str = "the host's address is private, loopback or otherwise not public";

/// A resolver of host names. It is cheap to clone.
#[derive(Clone, Debug)]
pub enum NameResolver {
    /// The resolver of the operating system, which includes the hosts file.
    System,
    /// A resolver without a cache, so that a verification does not fail because of a cached
    /// negative reply for a proof that was just published.
    Uncached(Arc<TokioResolver>),
}

/// A resolver that rejects names with forbidden addresses. The client connects to the addresses
/// that were checked.
pub(super) struct Checked {
    pub(super) egress: EgressPolicy,
    pub(super) resolver: NameResolver,
}

impl NameResolver {
    /// Creates a resolver without a cache that queries `server`, or the name servers of the
    /// operating system.
    ///
    /// # Errors
    /// Returns an error if the configuration of the operating system cannot be read.
    pub fn uncached(server: Option<SocketAddr>) -> Result<Self> {
        let mut builder = match server {
            Some(server) => {
                let mut connections = vec![ConnectionConfig::udp(), ConnectionConfig::tcp()];
                for connection in &mut connections {
                    connection.port = server.port();
                }
                let server = NameServerConfig::new(server.ip(), true, connections);
                let config = ResolverConfig::from_parts(None, Vec::new(), vec![server]);
                Resolver::builder_with_config(config, TokioRuntimeProvider::default())
            }
            None => TokioResolver::builder_tokio()?,
        };
        let options: &mut ResolverOpts = builder.options_mut();
        options.cache_size = 0;
        options.attempts = 2;
        options.timeout = Duration::from_secs(3);
        Ok(Self::Uncached(Arc::new(builder.build()?)))
    }

    async fn addresses(&self, host: &str) -> Result<Vec<SocketAddr>> {
        Ok(match self {
            Self::System => tokio::net::lookup_host((host, 0)).await?.collect(),
            Self::Uncached(resolver) => {
                resolver.lookup_ip(host).await?.iter().map(|address| SocketAddr::new(address, 0)).collect()
            }
        })
    }

    /// Returns the TXT records of a name, at most 100, or an empty list if the name does not exist.
    ///
    /// The future is boxed, because rustc would otherwise generate the code of the whole DNS client
    /// in each crate that awaits it.
    ///
    /// # Errors
    /// Returns an error if no name server replies.
    #[must_use]
    pub fn lookup_txt<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Vec<String>>> {
        self.find_txt(name).boxed()
    }

    async fn find_txt(&self, name: &str) -> Result<Vec<String>> {
        let Self::Uncached(resolver) = self else { anyhow::bail!("TXT records require name servers") };
        // The trailing dot disables the search list of the operating system.
        let found = match resolver.txt_lookup(format!("{name}.")).await {
            Ok(found) => found,
            Err(error) if error.is_no_records_found() => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let texts = found.answers().iter().filter_map(|record| match &record.data {
            RData::TXT(txt) => Some(txt.txt_data.iter().map(|part| String::from_utf8_lossy(part)).collect()),
            _ => None,
        });
        Ok(texts.take(100).collect())
    }
}

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let egress = self.egress;
        let resolver = self.resolver.clone();
        Box::pin(async move {
            let found = resolver.addresses(name.as_str()).await?;
            Ok(Box::new(check_addresses(egress, found)?.into_iter()) as Addrs)
        })
    }
}
