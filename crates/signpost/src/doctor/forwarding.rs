//! Evaluates a server's answer to a request with a forged client address: rate limits must count each client
//! separately.

use signpost_platform::limits::{ForwardingSeen, TOLD_CLIENT};

use super::{CheckFinding, Fetched};

/// The origin of the request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ForwardingAsker {
    /// Another machine with an untrusted address.
    Stranger,
    /// The server's machine, through the public URL.
    Server,
    /// The server's machine, without a proxy.
    Neighbour,
}

/// Judges the answer. `None` if the answer does not contain the client address.
pub(super) fn judge_answer(answer: &Fetched, asker: ForwardingAsker) -> Option<CheckFinding> {
    const CHECK: &str = "proxy";
    let seen = ForwardingSeen::parse(answer.header(TOLD_CLIENT.as_str()))?;
    Some(match seen {
        ForwardingSeen::Direct => CheckFinding::pass(CHECK, "none stands in front, as far as the server sees"),
        ForwardingSeen::Named => CheckFinding::pass(CHECK, "it names each client, and nobody else can"),
        ForwardingSeen::Unread => CheckFinding::warn(
            CHECK,
            "a proxy stands in front that the server does not trust: rate limits count all people as one",
            "name the proxy's own address: trusted_proxies = [\"127.0.0.1\"] where it runs on the same machine",
        ),
        ForwardingSeen::Unnamed => CheckFinding::warn(
            CHECK,
            "the trusted proxy names no client: rate limits count all people as one",
            "let it append the client's address to the header that forwarded_header names (x-forwarded-for by default)",
        ),
        ForwardingSeen::Claimed if asker != ForwardingAsker::Neighbour => CheckFinding::fail(
            CHECK,
            "people choose the address that they are counted for: the server took one that we wrote ourselves",
            "let the proxy append the client's address to the header that forwarded_header names, or replace it",
        ),
        ForwardingSeen::Trusted if asker == ForwardingAsker::Stranger => CheckFinding::warn(
            CHECK,
            "a trusted proxy passed on an address that we wrote ourselves, or this machine is one of those in trusted_proxies",
            "name in trusted_proxies the addresses of your proxies alone, and let each append the client's address",
        ),
        ForwardingSeen::Claimed | ForwardingSeen::Trusted => {
            CheckFinding::pass(CHECK, "this machine is trusted itself; 'signpost doctor URL' elsewhere tells more")
        }
    })
}
