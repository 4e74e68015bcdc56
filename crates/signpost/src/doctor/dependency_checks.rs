//! The checks of the dependencies of an installation: database latency, disk, Redis, network,
//! clocks and public URL.

use std::time::Duration;

use jiff::SignedDuration;

use signpost_auth::is_loopback_url;

use super::address_checks::is_certificate_error;
use super::forwarding::{ProbeSource, evaluate_response};
use super::{CheckFinding, Installation, InstallationCheck, PublicFacts};
use signpost_server::untrusted_proxy::UntrustedProxy;

pub(super) const CHECKS: [InstallationCheck; 9] = [
    check_latency,
    check_disk,
    check_redis,
    check_name_servers,
    check_egress,
    check_clock,
    check_reached,
    check_certificate,
    check_proxy,
];

/// Time for which an untrusted proxy is reported after its last request.
const UNTRUSTED_PROXY_REPORTED: SignedDuration = SignedDuration::from_hours(24);

/// Minimum read latency of the database for a warning: a login reads a few times, and writes twice.
const READ_WARNING: Duration = Duration::from_millis(50);
/// Minimum write latency of the database for a warning.
const WRITE_WARNING: Duration = Duration::from_millis(250);
/// Minimum read latency of the database for a failure: users notice it.
const READ_FAILURE: Duration = Duration::from_secs(1);
/// Minimum write latency of the database for a failure.
const WRITE_FAILURE: Duration = Duration::from_secs(2);
/// Minimum latency of Redis for a warning: every request waits for its limit.
const PING_WARNING: Duration = Duration::from_millis(50);
/// Minimum duration of a DNS lookup for a warning: users wait for the proof of a domain.
const LOOKUP_WARNING: Duration = Duration::from_secs(2);

const MIB: u64 = 1 << 20;
/// Minimum free disk space without a warning, in bytes.
const FREE_BYTES_WARNING: u64 = 1024 * MIB;
/// Minimum free disk space without a failure, in bytes. The write-ahead log of SQLite may need this
/// much.
const FREE_BYTES_FAILURE: u64 = 100 * MIB;

fn check_latency(installation: &Installation) -> Option<CheckFinding> {
    const CHECK: &str = "latency";
    let remedy = "look at what else uses the disk, or at the network between the server and PostgreSQL";
    let latency = match installation.dependencies.store_latency.as_ref()? {
        Ok(latency) => latency,
        Err(reason) => {
            return Some(CheckFinding::fail(
                CHECK,
                format!("the database cannot be read and written: {reason}"),
                remedy,
            ));
        }
    };
    let found =
        format!("the database reads in {}, writes in {}", milliseconds(latency.read), milliseconds(latency.write));
    Some(if latency.read >= READ_FAILURE || latency.write >= WRITE_FAILURE {
        CheckFinding::fail(CHECK, found, remedy)
    } else if latency.read >= READ_WARNING || latency.write >= WRITE_WARNING {
        CheckFinding::warn(CHECK, found, remedy)
    } else {
        CheckFinding::pass(CHECK, found)
    })
}

fn check_disk(installation: &Installation) -> Option<CheckFinding> {
    const CHECK: &str = "disk";
    let left = installation.dependencies.available_bytes?;
    let found = format!("{} MiB are left for the data folder", left / MIB);
    let remedy =
        "make room: without it no login and no import is written; 'signpost backup FILE' on another disk helps to move";
    Some(match left {
        ..FREE_BYTES_FAILURE => CheckFinding::fail(CHECK, found, remedy),
        FREE_BYTES_FAILURE..FREE_BYTES_WARNING => CheckFinding::warn(CHECK, found, remedy),
        _ => CheckFinding::pass(CHECK, found),
    })
}

fn check_redis(installation: &Installation) -> Option<CheckFinding> {
    const CHECK: &str = "Redis";
    Some(match installation.dependencies.redis.as_ref()? {
        Err(reason) => CheckFinding::fail(
            CHECK,
            format!("it does not answer: {reason}; rate limits are not shared"),
            "start it, or check redis_url; a server goes on by itself until it is back",
        ),
        Ok(ping) if *ping >= PING_WARNING => {
            let remedy = "every request waits for it: put it near the servers";
            CheckFinding::warn(CHECK, format!("it answers in {}", milliseconds(*ping)), remedy)
        }
        Ok(ping) => CheckFinding::pass(CHECK, format!("it answers in {}", milliseconds(*ping))),
    })
}

fn check_name_servers(installation: &Installation) -> Option<CheckFinding> {
    const CHECK: &str = "DNS";
    let remedy =
        "proofs of domains by TXT record need a name server: name one with dns_server, and let it be asked at port 53";
    Some(match installation.dependencies.name_servers.as_ref()? {
        Err(reason) => CheckFinding::warn(CHECK, format!("no name server answers: {reason}"), remedy),
        Ok(lookup) if *lookup >= LOOKUP_WARNING => {
            CheckFinding::warn(CHECK, format!("a lookup takes {}", milliseconds(*lookup)), remedy)
        }
        Ok(lookup) => CheckFinding::pass(CHECK, format!("a lookup takes {}", milliseconds(*lookup))),
    })
}

/// Checks the endpoints. If a single host is unreachable, that host has a problem; if several hosts are requested and
/// all are unreachable, this machine has a problem.
fn check_egress(installation: &Installation) -> Option<CheckFinding> {
    const CHECK: &str = "egress";
    let endpoints = &installation.dependencies.endpoints;
    let first = endpoints.first()?;
    let mut unreachable = Vec::new();
    for endpoint in endpoints {
        if let Some(error) = &endpoint.error {
            unreachable.push(format!("{} ({error})", endpoint.origin));
        }
    }
    let reached = endpoints.len() - unreachable.len();
    let listed = unreachable.join(", ");
    let found = format!("HEAD / reached {reached} of {} hosts of live domains, not {listed}", endpoints.len());
    Some(if unreachable.is_empty() {
        let others = if reached > 1 { format!(" and {} more", reached - 1) } else { String::new() };
        CheckFinding::pass(CHECK, format!("HEAD / reached {}{others}; no event was sent", first.origin))
    } else if reached == 0 && unreachable.len() > 1 {
        CheckFinding::fail(
            CHECK,
            found,
            "let this machine open connections to port 443 of other hosts, and look names up",
        )
    } else {
        CheckFinding::warn(CHECK, found, "ask their owners; 'signpost deliveries endpoints' lists those that fail")
    })
}

fn check_clock(installation: &Installation) -> Option<CheckFinding> {
    let database = installation.dependencies.database_clock.map(|off| (off, "the database's"));
    let public = public(installation).and_then(|public| public.clock).map(|off| (off, "the public URL's"));
    let (off, clock_name) = database.into_iter().chain(public).max_by_key(|(off, _)| off.abs())?;
    Some(if off == 0 {
        CheckFinding::clock(0, clock_name, clock_name)
    } else {
        CheckFinding::clock(off, clock_name, "this machine's")
    })
}

fn public(installation: &Installation) -> Option<&PublicFacts> {
    installation.dependencies.public.as_ref()
}

fn check_reached(installation: &Installation) -> Option<CheckFinding> {
    const CHECK: &str = "public URL";
    let PublicFacts { address, health, .. } = public(installation)?;
    match health {
        Err(reason) if is_certificate_error(reason) => None,
        Err(reason) => Some(CheckFinding::warn(
            CHECK,
            format!("this machine does not reach {address}: {reason}"),
            "check the name, the proxy and the firewall; where your network leads nobody back to itself, ask from elsewhere \
             with 'signpost doctor URL'",
        )),
        Ok(answer) if answer.status == 200 && answer.json()["status"] == "ok" => {
            Some(CheckFinding::pass(CHECK, format!("{address} leads to a server")))
        }
        Ok(answer) => Some(CheckFinding::fail(
            CHECK,
            format!("GET {address}/health gives {} and no health document", answer.status),
            "let the proxy pass every path to Signpost, and check that this is its address",
        )),
    }
}

fn check_certificate(installation: &Installation) -> Option<CheckFinding> {
    const CHECK: &str = "TLS";
    let PublicFacts { address, health, .. } = public(installation)?;
    if !address.starts_with("https://") {
        return None;
    }
    match health {
        Ok(_) => Some(CheckFinding::pass(CHECK, "the certificate is valid for this name")),
        Err(reason) if is_certificate_error(reason) => Some(CheckFinding::fail(
            CHECK,
            format!("{address}: {reason}"),
            "let the proxy serve a certificate of this name, from an authority that clients know",
        )),
        Err(_) => None,
    }
}

fn check_proxy(installation: &Installation) -> Option<CheckFinding> {
    let proxy = installation.database.as_ref().ok().and_then(|database| database.untrusted_proxy.as_ref());
    if let Some(UntrustedProxy { address, at }) = proxy
        && installation.now.duration_since(*at) < UNTRUSTED_PROXY_REPORTED
    {
        return Some(CheckFinding::warn(
            "proxy",
            format!("{address} sends client addresses and is not trusted: all clients share one rate limit"),
            format!("add it to trusted_proxies if it is your proxy: trusted_proxies = [\"{address}\"]"),
        ));
    }
    let PublicFacts { address, health, .. } = public(installation)?;
    let is_own = address.parse().is_ok_and(|url| is_loopback_url(&url));
    let source = if is_own { ProbeSource::Loopback } else { ProbeSource::PublicUrl };
    evaluate_response(health.as_ref().ok()?, source)
}

fn milliseconds(duration: Duration) -> String {
    format!("{:.1} ms", duration.as_secs_f64() * 1000.0)
}
