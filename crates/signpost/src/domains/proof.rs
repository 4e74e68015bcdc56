//! Looking for the proof that an integrator owns a domain: a TXT record or a file, asked uncached.

use std::pin::Pin;
use std::time::Duration;

use reqwest::Method;
use reqwest::header::HeaderMap;
use serde::Serialize;
use signpost_auth::DomainName;
use url::Url;

use super::Token;
use crate::outbound::{Names, Outbound, Reach, Request};

/// How long a whole check may take.
const WITHIN: Duration = Duration::from_secs(10);
/// How much of what is found is told: enough to see a mistake, too little to read a stranger's file.
const TOLD: usize = 200;

/// Looks where proofs may stand; cheap to clone.
#[derive(Clone, Debug)]
pub struct Prover {
    names: Names,
    outbound: Outbound,
}

/// One place where a proof may stand, and what was there.
#[derive(Debug, Serialize)]
pub struct Check {
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

    /// Ends well as soon as one place holds the token.
    ///
    /// # Errors
    /// What was looked up and found instead, at most 10 s later.
    pub async fn prove(&self, domain: &DomainName, token: &Token, reach: Reach) -> Result<(), Vec<Check>> {
        let challenge = format!("_svc-challenge.{domain}");
        let mut asking: Vec<Pin<Box<dyn Future<Output = Check> + Send + '_>>> = vec![
            Box::pin(self.text(&challenge, token)),
            Box::pin(self.text(domain.as_str(), token)),
            Box::pin(self.file(domain, token, reach)),
        ];
        let mut checks = Vec::new();
        while !asking.is_empty() {
            let (check, _, rest) = futures_util::future::select_all(asking).await;
            if check.found.iter().any(|text| token.is_in(text)) {
                return Ok(());
            }
            checks.push(check);
            asking = rest;
        }
        Err(checks)
    }

    async fn text(&self, name: &str, token: &Token) -> Check {
        let found = tokio::time::timeout(WITHIN, self.names.texts(name)).await;
        let (found, error) = match found {
            Ok(Ok(texts)) => (texts, None),
            Ok(Err(error)) => (Vec::new(), Some(format!("{error:#}"))),
            Err(_) => (Vec::new(), Some("no name server answered in time".to_owned())),
        };
        let is_ours = |text: &String| text.starts_with("svc-verify=");
        // Other records at the name are nobody's business in this reply.
        let found = found.into_iter().filter(is_ours).map(|text| text.chars().take(TOLD).collect()).collect();
        Check { method: "dns_txt", name: name.to_owned(), expected: token.as_str().to_owned(), found, error }
    }

    async fn file(&self, domain: &DomainName, token: &Token, reach: Reach) -> Check {
        let name = format!("https://{domain}/.well-known/svc-verify");
        let url = Url::parse(&name).expect("a host name makes a URL");
        let headers = HeaderMap::new();
        let request = Request { method: Method::GET, url: &url, headers, body: None, within: WITHIN, keep: TOLD };
        let (found, error) = match self.outbound.send(reach, request).await {
            Ok(answer) if answer.status == 200 => {
                let text = String::from_utf8_lossy(&answer.body).trim().to_owned();
                // What does not look like a proof is not told: the file may be anybody's.
                let looks_right = text.starts_with("svc-verify=") || token.is_in(&text);
                (if looks_right { vec![text] } else { Vec::new() }, (!looks_right).then(|| "not a token".to_owned()))
            }
            Ok(answer) => (Vec::new(), Some(format!("it answered {}", answer.status))),
            Err(error) => (Vec::new(), Some(format!("{error:#}"))),
        };
        Check { method: "well_known", name, expected: token.as_str().to_owned(), found, error }
    }
}
