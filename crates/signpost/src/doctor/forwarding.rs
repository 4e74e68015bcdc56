//! Evaluates a server's answer to a request with a forged client address: rate limits must count each client
//! separately.

use signpost_platform::limits::{FORWARDING_RESPONSE, ForwardingResult};

use super::{CheckFinding, Fetched};

/// The origin of the probe's request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ProbeSource {
    /// Another machine with an untrusted address.
    External,
    /// The server's machine, through the public URL.
    PublicUrl,
    /// The server's machine, without a proxy.
    Loopback,
}

/// Evaluates the response. `None` if the response does not contain the client address.
pub(super) fn evaluate_response(answer: &Fetched, source: ProbeSource) -> Option<CheckFinding> {
    const CHECK: &str = "proxy";
    let seen = ForwardingResult::parse(answer.header(FORWARDING_RESPONSE.as_str()))?;
    Some(match seen {
        ForwardingResult::Direct => CheckFinding::pass(CHECK, "the server sees no proxy"),
        ForwardingResult::ForwardedAddress => CheckFinding::pass(CHECK, "the proxy sets each client's address"),
        ForwardingResult::UntrustedProxy => CheckFinding::warn(
            CHECK,
            "the server does not trust the proxy in front of it: all clients share one rate limit",
            "name the proxy's own address: trusted_proxies = [\"127.0.0.1\"] where it runs on the same machine",
        ),
        ForwardingResult::MissingAddress => CheckFinding::warn(
            CHECK,
            "the trusted proxy sends no client address: all clients share one rate limit",
            "let it append the client's address to the header that forwarded_header names (x-forwarded-for by default)",
        ),
        ForwardingResult::ClaimedAddress if source != ProbeSource::Loopback => CheckFinding::fail(
            CHECK,
            "people choose the address that they are counted for: the server took one that we wrote ourselves",
            "let the proxy append the client's address to the header that forwarded_header names, or replace it",
        ),
        ForwardingResult::TrustedAddress if source == ProbeSource::External => CheckFinding::warn(
            CHECK,
            "a trusted proxy passed on an address that we wrote ourselves, or this machine is one of those in trusted_proxies",
            "name in trusted_proxies the addresses of your proxies alone, and let each append the client's address",
        ),
        ForwardingResult::ClaimedAddress | ForwardingResult::TrustedAddress => {
            CheckFinding::pass(CHECK, "this machine is trusted itself; 'signpost doctor URL' elsewhere tells more")
        }
    })
}
