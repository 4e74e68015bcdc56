//! Looking for the proof that an integrator owns a domain: a TXT record or a file, asked uncached.

use std::pin::Pin;
use std::time::Duration;

use serde::Serialize;
use signpost_auth::DomainName;
use signpost_platform::outbound::{Names, Outbound, Reach};

use super::{ProofToken, WellKnown};

/// How long a whole check may take.
const CHECK_TIMEOUT: Duration = Duration::from_secs(10);
/// How many characters of what is found are told: enough to see a mistake, too little to read a stranger's file.
const MAX_FOUND_CHARS: usize = 200;

/// Looks where proofs may stand; cheap to clone.
#[derive(Clone, Debug)]
pub struct Prover {
    names: Names,
    outbound: Outbound,
}

/// One place where a proof may stand, and what was there.
#[derive(Debug, Serialize)]
pub struct ProofCheck {
    /// `dns_txt` or `well_known`.
    pub method: &'static str,
    /// The name or address that was asked.
    pub name: String,
    /// What it has to say.
    pub expected: String,
    /// What it said.
    pub found: Vec<String>,
    /// Why it said nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Prover {
    /// Asks `names`, for texts and for addresses.
    #[must_use]
    pub fn new(names: Names) -> Self {
        Self { outbound: Outbound::new(&names), names }
    }

    /// Ends well as soon as one place holds the token, with what it said.
    ///
    /// # Errors
    /// What was looked up and found instead, at most 10 s later.
    pub async fn find_proof(
        &self,
        domain: &DomainName,
        token: &ProofToken,
        reach: Reach,
    ) -> Result<ProofCheck, Vec<ProofCheck>> {
        let challenge = format!("_svc-challenge.{domain}");
        let mut asking: Vec<Pin<Box<dyn Future<Output = ProofCheck> + Send + '_>>> = vec![
            Box::pin(self.check_txt(&challenge, token)),
            Box::pin(self.check_txt(domain.as_str(), token)),
            Box::pin(self.check_file(domain, token, reach)),
        ];
        let mut checks = Vec::new();
        while !asking.is_empty() {
            let (check, _, rest) = futures_util::future::select_all(asking).await;
            if check.found.iter().any(|text| token.is_published_in(text)) {
                return Ok(check);
            }
            checks.push(check);
            asking = rest;
        }
        Err(checks)
    }

    async fn check_txt(&self, name: &str, token: &ProofToken) -> ProofCheck {
        let found = tokio::time::timeout(CHECK_TIMEOUT, self.names.texts(name)).await;
        let (found, error) = match found {
            Ok(Ok(texts)) => (texts, None),
            Ok(Err(error)) => (Vec::new(), Some(format!("{error:#}"))),
            Err(_) => (Vec::new(), Some("no name server responded in time".to_owned())),
        };
        let is_ours = |text: &String| text.starts_with("svc-verify=");
        // Other records at the name are nobody's business in this reply.
        let found =
            found.into_iter().filter(is_ours).map(|text| text.chars().take(MAX_FOUND_CHARS).collect()).collect();
        ProofCheck { method: "dns_txt", name: name.to_owned(), expected: token.as_str().to_owned(), found, error }
    }

    async fn check_file(&self, domain: &DomainName, token: &ProofToken, reach: Reach) -> ProofCheck {
        let name = WellKnown::url(domain).to_string();
        let (found, error) = match WellKnown::fetch(&self.outbound, domain, reach, CHECK_TIMEOUT).await {
            Ok(file) => {
                let proofs = file.proofs(token).map(|line| line.chars().take(MAX_FOUND_CHARS).collect());
                let found: Vec<String> = proofs.collect();
                let error = found.is_empty().then(|| "no line of the file is the token".to_owned());
                (found, error)
            }
            Err(error) => (Vec::new(), Some(format!("{error:#}"))),
        };
        ProofCheck { method: "well_known", name, expected: token.as_str().to_owned(), found, error }
    }
}
