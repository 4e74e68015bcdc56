//! `signpost wallet`: signs in from a terminal.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use clap::Subcommand;
use data_encoding::HEXLOWER;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Value, json};
use signpost_auth::{Answer, DeviceInfo, QrData, Wallet as Key};

use super::{Session, Usage};
use crate::clock::Clock;
use crate::id;
use crate::outbound::{Names, Outbound, Reach, Request};

/// How long a webhook may take to answer a person.
const WITHIN: Duration = Duration::from_secs(20);
/// How long it may take to say who asks.
const CONTEXT: Duration = Duration::from_secs(3);
/// How much of its answer is shown.
const SHOWN: usize = 4096;

#[derive(Debug, Subcommand)]
pub(super) enum Wallet {
    /// Make a wallet; its key stays in the data folder
    New,
    /// Show the wallet's public key
    Show,
    /// Act on a QR code's content: shows where it leads, asks, signs and posts
    Scan {
        /// The text of the QR code, in quotes
        qr_data: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
        /// The number beside the code, if the page shows one
        #[arg(long, value_name = "NUMBER")]
        confirm_code: Option<String>,
    },
    /// Sign a text
    Sign {
        /// The text, exactly
        text: String,
    },
}

impl Wallet {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        match self {
            Self::New => new(session),
            Self::Show => show(session, &open(session)?),
            Self::Scan { qr_data, yes, confirm_code } => scan(session, &qr_data, yes, confirm_code).await,
            Self::Sign { text } => {
                let wallet = open(session)?;
                let (public_key, signature) = (wallet.public_key().canonical(), wallet.sign(&text));
                let document = json!({ "public_key": public_key, "signature": signature, "message": text });
                session.print(&document, || signature.clone())
            }
        }
    }
}

fn path(session: &Session) -> PathBuf {
    session.config.data_dir.join("wallet.key")
}

fn new(session: &Session) -> Result<()> {
    crate::serve::prepare_data_dir(&session.config.data_dir)?;
    let (path, bytes) = (path(session), id::random());
    let wallet = Key::from_bytes(bytes)?;
    let mut options = std::fs::OpenOptions::new();
    // Never over an older wallet: its logins would be lost.
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let shown = path.display();
    let mut file = options.open(&path).with_context(|| {
        format!("cannot make {shown}: if a wallet is there already, use it or choose another --data-dir")
    })?;
    writeln!(file, "{}", HEXLOWER.encode(&bytes)).and_then(|()| file.sync_all())?;
    show(session, &wallet)
}

fn open(session: &Session) -> Result<Key> {
    let path = path(session);
    let shown = path.display();
    let text = std::fs::read_to_string(&path);
    let text = text.with_context(|| format!("cannot read {shown}: make a wallet with 'signpost wallet new'"))?;
    let bytes = HEXLOWER.decode(text.trim().as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
    Ok(Key::from_bytes(bytes.with_context(|| format!("{shown} does not hold a wallet's key"))?)?)
}

fn show(session: &Session, wallet: &Key) -> Result<()> {
    let public_key = wallet.public_key().canonical();
    session.print(&json!({ "public_key": public_key }), || public_key.clone())
}

async fn scan(session: &Session, qr_data: &str, yes: bool, confirm_code: Option<String>) -> Result<()> {
    let qr = QrData::parse(qr_data).map_err(|error| Usage(error.to_string()))?;
    let wallet = open(session)?;
    let now = Clock::System.now();
    if now.as_second() >= qr.expires_at() {
        bail!("this code expired; ask the page for a new one");
    }
    if !yes && !std::io::stdin().is_terminal() {
        return Err(Usage("nobody can be asked here; add --yes to sign without asking".to_owned()).into());
    }
    if !session.json {
        eprintln!("{}{}", question(&qr), requester(&qr).await);
    }
    if !yes && !confirmed()? {
        bail!("nothing was signed");
    }
    let device = DeviceInfo {
        platform: Some("cli".to_owned()),
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        device_id: None,
    };
    let answer = wallet.answer(qr.challenge(), now.as_second(), Some(device));
    let answer = Answer { confirm_code, ..answer };
    let (status, body) = post(&qr, serde_json::to_vec(&answer)?).await?;
    let document = json!({ "status": status, "body": body, "public_key": answer.public_key });
    session.print(&document, || format!("{} answered {status}: {body}", host(&qr)))?;
    if (200..300).contains(&status) { Ok(()) } else { bail!("the login was refused ({status})") }
}

/// What a person must see before signing: which domain, and which host gets the answer.
fn question(qr: &QrData) -> String {
    let challenge = qr.challenge();
    let (mode, domain, host) = (challenge.mode, &challenge.domain, host(qr));
    let mut text = format!("{mode} at  {domain}\nanswer to {host}");
    if !domain.covers(qr.webhook().host_str().unwrap_or_default()) {
        text.push_str("\n\nWARNING: the answer goes to a host that is not the domain or below it.");
    }
    if qr.webhook().scheme() != "https" {
        text.push_str("\n\nWARNING: the answer travels unencrypted (http).");
    }
    text
}

/// Who asks for the login, where the webhook tells wallets: a person whose own browser it is not should say no.
async fn requester(qr: &QrData) -> String {
    let mut url = qr.webhook().clone();
    url.query_pairs_mut().append_pair("challenge", &qr.challenge().to_string());
    let headers = HeaderMap::new();
    let request = Request { method: Method::GET, url: &url, headers, body: None, within: CONTEXT, keep: SHOWN };
    let Ok(answer) = Outbound::new(&Names::System).send(Reach::Everything, request).await else { return String::new() };
    let told =
        if answer.status == 200 { serde_json::from_slice(&answer.body).unwrap_or_default() } else { Value::Null };
    let known = ["ip", "country", "user_agent"].map(|member| told["requester"][member].as_str());
    let known: Vec<_> = known.into_iter().flatten().map(|text| text.replace(char::is_control, " ")).collect();
    if known.is_empty() { String::new() } else { format!("\nasked from {}", known.join(", ")) }
}

fn host(qr: &QrData) -> String {
    qr.webhook().origin().ascii_serialization()
}

/// Only a clear yes at a terminal is one.
fn confirmed() -> Result<bool> {
    eprint!("\nSign and send? [y/N] ");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

async fn post(qr: &QrData, body: Vec<u8>) -> Result<(u16, Value)> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let body = Some(Bytes::from(body));
    let request = Request { method: Method::POST, url: qr.webhook(), headers, body, within: WITHIN, keep: SHOWN };
    // The wallet acts for the person who sits here and said yes: it may reach what that person can.
    let answer = Outbound::new(&Names::System).send(Reach::Everything, request).await;
    let answer = answer.with_context(|| format!("cannot post to {}", host(qr)))?;
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    Ok((answer.status, serde_json::from_str(&text).unwrap_or(Value::String(text))))
}
