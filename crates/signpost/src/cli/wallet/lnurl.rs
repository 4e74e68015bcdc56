//! The command `signpost wallet lnurl`: logs in like a Lightning wallet (LNURL-auth).

use anyhow::{Context, Result, bail};
use clap::Args;
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::json;
use signpost_auth::{AuthUrl, LnurlReply};
use signpost_platform::outbound::{EgressPolicy, NameResolver, Outbound, Request};

use super::{MAX_REPLY_BYTES, REQUEST_TIMEOUT, check_can_ask, confirm_signing, open};
use crate::cli::{Session, Usage};

#[derive(Debug, Args)]
pub(in crate::cli) struct Link {
    /// LNURL of the QR code, or the link, in quotes
    lnurl: String,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

pub(super) async fn log_in(session: &Session, Link { lnurl, yes }: Link) -> Result<()> {
    let link = AuthUrl::parse(&lnurl).map_err(|error| Usage(error.to_string()))?;
    let key = open(session)?.linking_key(link.url().host_str().unwrap_or_default())?;
    check_can_ask(yes)?;
    if !session.json {
        eprintln!("{}", question(&link));
    }
    confirm_signing(yes)?;
    let host = link.host();
    let public_key = key.public_key().canonical();
    let reply = send(&link, &link.signed_by(&key)).await?;
    let (status, reason) = match reply {
        LnurlReply::Ok => ("OK", None),
        LnurlReply::Error { reason } => ("ERROR", Some(signpost_text::clean_line(&reason).into_owned())),
    };
    let mut document =
        json!({ "status": status, "host": host, "action": link.action().as_str(), "public_key": public_key });
    if let Some(reason) = &reason {
        document["reason"] = json!(reason);
    }
    session.print(&document, || match &reason {
        None => format!("{host} replied {status}"),
        Some(reason) => format!("{host} replied {status}: {reason}"),
    })?;
    if reason.is_none() { Ok(()) } else { bail!("the login was refused") }
}

/// Describes the login for the user who confirms it. A Lightning wallet has only the host, so only the address bar
/// reveals a page with the code of another host.
fn question(link: &AuthUrl) -> String {
    let action = link.action().as_str();
    let host = link.host();
    format!("{action} at  {host}\nThe page with the code must be at {host} too: compare it with the address bar.")
}

async fn send(link: &AuthUrl, url: &url::Url) -> Result<LnurlReply> {
    // The wallet acts for the user at the terminal. Plain http must not leave this machine, regardless of name
    // resolution.
    let egress = if url.scheme() == "http" { EgressPolicy::Loopback } else { EgressPolicy::Everything };
    let request = Request {
        method: Method::GET,
        url,
        headers: HeaderMap::new(),
        body: None,
        timeout: REQUEST_TIMEOUT,
        max_body: MAX_REPLY_BYTES,
    };
    let answer = Outbound::new(&NameResolver::System).send(egress, request).await;
    let answer = answer.with_context(|| format!("cannot ask {}", link.host()))?;
    LnurlReply::parse(&answer.body).with_context(|| format!("{} replied {}", link.host(), answer.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_names_action_and_host() {
        let url = format!("https://login.example.com:8443/?tag=login&k1={}&action=register", "ab".repeat(32));
        let shown = question(&AuthUrl::parse(&url).unwrap());
        assert_eq!(shown.lines().next(), Some("register at  login.example.com:8443"));
    }
}
