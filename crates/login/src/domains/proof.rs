//! Searches for the proof that an integrator owns a domain: a TXT record or a file. Both are read
//! without a cache.

use std::pin::Pin;
use std::time::Duration;

use serde::Serialize;
use signpost_auth::DomainName;
use signpost_platform::outbound::{EgressPolicy, NameResolver, Outbound};

use super::{ProofToken, WellKnown};

/// Timeout of a search for a proof.
const CHECK_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum characters of a found text in the reply: enough to see a typing error, but too few to
/// read other files through this server.
const MAX_FOUND_CHARS: usize = 200;

/// Searches for published proofs. Cheap to clone.
#[derive(Clone, Debug)]
pub struct DomainVerifier {
    resolver: NameResolver,
    outbound: Outbound,
}

/// The result of a check at one of the places where a proof may be published.
#[derive(Debug, Serialize)]
pub struct ProofCheck {
    /// The method of the check: `dns_txt` or `well_known`.
    pub method: &'static str,
    /// The name or URL that was read.
    pub name: String,
    /// The expected text.
    pub expected: String,
    /// The texts that were found.
    pub found: Vec<String>,
    /// The reason why no text was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl DomainVerifier {
    /// Creates a verifier that resolves texts and addresses with `resolver`.
    #[must_use]
    pub fn new(resolver: NameResolver) -> Self {
        Self { outbound: Outbound::new(&resolver), resolver }
    }

    /// Returns the first check that finds the token.
    ///
    /// # Errors
    /// Returns all checks, after at most 10 s.
    pub async fn find_proof(
        &self,
        domain: &DomainName,
        token: &ProofToken,
        egress: EgressPolicy,
    ) -> Result<ProofCheck, Vec<ProofCheck>> {
        let challenge = format!("_svc-challenge.{domain}");
        let mut pending: Vec<Pin<Box<dyn Future<Output = ProofCheck> + Send + '_>>> = vec![
            Box::pin(self.check_txt(&challenge, token)),
            Box::pin(self.check_txt(domain.as_str(), token)),
            Box::pin(self.check_file(domain, token, egress)),
        ];
        let mut checks = Vec::new();
        while !pending.is_empty() {
            let (check, _, rest) = futures_util::future::select_all(pending).await;
            if check.found.iter().any(|text| token.is_published_in(text)) {
                return Ok(check);
            }
            checks.push(check);
            pending = rest;
        }
        Err(checks)
    }

    async fn check_txt(&self, name: &str, token: &ProofToken) -> ProofCheck {
        let found = tokio::time::timeout(CHECK_TIMEOUT, self.resolver.lookup_txt(name)).await;
        let (found, error) = match found {
            Ok(Ok(texts)) => (texts, None),
            Ok(Err(error)) => (Vec::new(), Some(format!("{error:#}"))),
            Err(_) => (Vec::new(), Some("no name server responded in time".to_owned())),
        };
        // The reply does not disclose other records of the name.
        let proofs = found.iter().filter(|text| text.starts_with("svc-verify="));
        let found = proofs.map(|text| shorten(text)).collect();
        ProofCheck { method: "dns_txt", name: name.to_owned(), expected: token.as_str().to_owned(), found, error }
    }

    async fn check_file(&self, domain: &DomainName, token: &ProofToken, egress: EgressPolicy) -> ProofCheck {
        let name = WellKnown::url(domain).to_string();
        let (found, error) = match WellKnown::fetch(&self.outbound, domain, egress, CHECK_TIMEOUT).await {
            Ok(file) => {
                let found: Vec<String> = file.proofs(token).map(shorten).collect();
                let error = found.is_empty().then(|| "no line of the file is the token".to_owned());
                (found, error)
            }
            Err(error) => (Vec::new(), Some(format!("{error:#}"))),
        };
        ProofCheck { method: "well_known", name, expected: token.as_str().to_owned(), found, error }
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(MAX_FOUND_CHARS).collect()
}
