//! The command `signpost wallet`, a wallet for the terminal.

mod host;
mod lnurl;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use clap::{Args, Subcommand};
use data_encoding::HEXLOWER;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Value, json};
use signpost_auth::{Challenge, DeviceInfo, Mode, QrData, Signing, Wallet as Key};
use signpost_platform::bounded_file;
use signpost_platform::clock::Clock;
use signpost_platform::outbound::{EgressPolicy, NameResolver, Outbound, Request};
use signpost_store::random;

use super::{Session, Usage, ask, ask_yes_or_no};

/// Maximum size of the file with the wallet's key, in bytes.
const MAX_KEY_FILE_BYTES: u64 = 1024;
/// Timeout of a request to a webhook.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum bytes of a webhook's reply that are read.
const MAX_REPLY_BYTES: usize = 4096;
/// Maximum distance of a code's times from now, in seconds. Codes expire after an hour at most; a larger distance means
/// a forged code or a wrong clock.
const MAX_AGE: u64 = 24 * 60 * 60;

#[derive(Debug, Subcommand)]
pub(super) enum WalletCommand {
    /// Create a wallet; its key is stored in the data folder
    New,
    /// Show the wallet's public key
    Show,
    /// Answer a QR code: show its domain and host, ask, sign and post
    ///
    /// The host must be the domain, a subdomain, or listed by the domain (`login-host=` in its
    /// /.well-known/svc-verify); for localhost it must be a loopback address. Any other host, and
    /// plain http to another machine, is rejected unless --allow-host permits it.
    ///
    /// Before the confirmation, the command sends at most two requests: to the domain, for that
    /// file, and to the host, for a description of the requester, if the host is the domain, listed
    /// by it, or allowed. The description is shown in quotes, with up to 80 characters per field.
    ///
    /// If the code requires a confirmation number, the command asks for it; --yes requires
    /// --confirm-code. A code with times more than 24 hours from now is rejected.
    Scan(Scan),
    /// Log in like a Lightning wallet (LNURL-auth): show the host, ask, sign and send
    ///
    /// Accepts the input of Lightning wallets: LNURL1… of a QR code, a lightning: or keyauth://
    /// link, or the https URL inside. Plain http is only accepted for localhost.
    ///
    /// The linking key is derived from the wallet's key and the host (LUD-05): each host sees
    /// another key, and the key of 'wallet show' is never sent.
    ///
    /// A Lightning wallet shows neither the domain nor a confirmation number. The page with the
    /// code must be at the displayed host.
    Lnurl(lnurl::Link),
    /// Sign a text
    Sign {
        /// Text to sign, exactly as given
        text: String,
    },
}

#[derive(Debug, Args)]
pub(super) struct Scan {
    /// Text of the QR code, in quotes
    qr_data: String,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
    /// Confirmation number on the page, if any
    #[arg(long, value_name = "NUMBER")]
    confirm_code: Option<String>,
    /// Post to this host, or HOST:PORT, even if the domain does not list it [without HOST: to any host in the code]
    #[arg(long, value_name = "HOST", num_args = 0..=1, default_missing_value = "")]
    allow_host: Option<String>,
}

impl WalletCommand {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        match self {
            Self::New => new(session),
            Self::Show => show(session, &open(session)?),
            Self::Scan(command) => scan(session, command).await,
            Self::Lnurl(command) => lnurl::log_in(session, command).await,
            Self::Sign { text } => {
                let wallet = open(session)?;
                let public_key = wallet.public_key().canonical();
                let signature = wallet.sign(&text);
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
    crate::server::prepare_data_dir(&session.config.data_dir)?;
    let path = path(session);
    let bytes = random();
    let wallet = Key::from_bytes(bytes)?;
    let mut options = std::fs::OpenOptions::new();
    // Never overwrites an older wallet, because its logins would be lost.
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let shown = path.display();
    let mut file = options.open(&path).with_context(|| {
        format!("cannot create {shown}: if a wallet exists already, use it or choose another --data-dir")
    })?;
    writeln!(file, "{}", HEXLOWER.encode(&bytes)).and_then(|()| file.sync_all())?;
    let public_key = wallet.public_key().canonical();
    session.print(&json!({ "public_key": public_key }), || {
        // A script receives only the key.
        if std::io::stdout().is_terminal() { describe_new(&public_key, &shown.to_string()) } else { public_key.clone() }
    })
}

/// Describes a new wallet for people.
fn describe_new(public_key: &str, file: &str) -> String {
    format!("public key  {public_key}\nsecret key  in {file}, readable only by you")
}

fn open(session: &Session) -> Result<Key> {
    let path = path(session);
    let shown = path.display();
    let text = bounded_file::read_text(&path, MAX_KEY_FILE_BYTES);
    let text = text.with_context(|| format!("cannot read {shown}: create a wallet with 'signpost wallet new'"))?;
    let bytes = HEXLOWER.decode(text.trim().as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
    Ok(Key::from_bytes(bytes.with_context(|| format!("{shown} does not contain a wallet key"))?)?)
}

fn show(session: &Session, wallet: &Key) -> Result<()> {
    let public_key = wallet.public_key().canonical();
    session.print(&json!({ "public_key": public_key }), || public_key.clone())
}

async fn scan(session: &Session, command: Scan) -> Result<()> {
    let Scan { qr_data, yes, confirm_code, allow_host } = command;
    let qr = QrData::parse(&qr_data).map_err(|error| Usage(error.to_string()))?;
    let wallet = open(session)?;
    let now = Clock::System.now().as_second();
    check_times(&qr, now)?;
    check_can_ask(yes)?;
    let mut number = confirm_code.as_deref().map(parse_number).transpose()?.map(str::to_owned);
    let is_number_missing = qr.signing() == (Signing::HostBound { number: true }) && number.is_none();
    if yes && is_number_missing {
        let reason = "this code requires the number on the page; add --confirm-code NUMBER";
        return Err(Usage(reason.to_owned()).into());
    }
    let outbound = Outbound::new(&NameResolver::System);
    let trust = host::check(&outbound, &qr, allow_host.as_deref()).await?;
    if !session.json {
        eprintln!("{}", question(&qr));
        if let Some(requester) = host::describe_requester(&outbound, &qr, trust).await {
            eprintln!("{requester}");
        }
    }
    confirm_signing(yes)?;
    if is_number_missing {
        number = Some(parse_number(&ask("The number beside the code: ")?)?.to_owned());
    }
    let device = DeviceInfo {
        platform: Some("cli".to_owned()),
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        device_id: None,
    };
    let answer = wallet.answer_code(&qr, number.as_deref(), Clock::System.now().as_second(), Some(device));
    let (status, body) = post(&outbound, &qr, serde_json::to_vec(&answer)?).await?;
    let document = json!({ "status": status, "body": body, "public_key": answer.public_key });
    session.print(&document, || {
        format!("{} replied {status}: {}", host(&qr), signpost_text::clean_line(&body.to_string()))
    })?;
    if (200..300).contains(&status) {
        return Ok(());
    }
    let remedy = remedy(&qr, status, &body).map(|remedy| format!(": {remedy}")).unwrap_or_default();
    bail!("the login was refused ({status}){remedy}")
}

/// Checks that the wallet can ask for confirmation before it signs, or need not.
fn check_can_ask(yes: bool) -> Result<()> {
    if yes || std::io::stdin().is_terminal() {
        return Ok(());
    }
    Err(Usage("standard input is not a terminal; add --yes to sign without asking".to_owned()).into())
}

/// Asks for confirmation, unless `yes` is set.
fn confirm_signing(yes: bool) -> Result<()> {
    if yes || ask_yes_or_no("\nSign and send?")? { Ok(()) } else { bail!("nothing was signed") }
}

/// Explains a login that was rejected because the site does not have the key. Without a reason from the site, 404 is
/// also the answer to an expired code.
fn remedy(qr: &QrData, status: u16, body: &Value) -> Option<String> {
    let Challenge { mode, domain, .. } = qr.challenge();
    if (*mode, status) != (Mode::Login, 404) {
        return None;
    }
    match body["details"]["reason"].as_str() {
        Some("account_needed") => Some(format!(
            "this wallet's key is not registered at {domain}; the page shows another code now, which creates the account: \
             scan that one too"
        )),
        Some("registration_closed") => Some(format!(
            "this wallet's key is not registered at {domain}, which does not allow registration now; use another key"
        )),
        Some(_) => None,
        None => Some(format!(
            "this wallet's key is not registered at {domain}, or nobody waits for this code any more; scan the code of \
             the site's page for registering first, or a new one"
        )),
    }
}

/// Checks that the code is not expired, and that its times are near the current time.
fn check_times(qr: &QrData, now: i64) -> Result<()> {
    let issued_at = qr.challenge().issued_at;
    let expires_at = qr.expires_at();
    if issued_at.abs_diff(now) > MAX_AGE || expires_at.abs_diff(now) > MAX_AGE {
        bail!("the times in this code are more than 24 hours from now; check this machine's clock, or reload the page");
    }
    if now >= expires_at {
        bail!("this code has expired; reload the page for a new one");
    }
    Ok(())
}

/// Parses a confirmation number, a part of the signed text.
fn parse_number(text: &str) -> Result<&str> {
    let text = text.trim();
    let is_number = (1..=8).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number {
        Ok(text)
    } else {
        Err(Usage("the number must be 1 to 8 digits, as the page shows it".to_owned()).into())
    }
}

/// Describes the login for the user who confirms it: the domain, and the host that receives the answer.
fn question(qr: &QrData) -> String {
    let challenge = qr.challenge();
    format!("{} at  {}\nanswer to {}", challenge.mode, challenge.domain, host(qr))
}

fn host(qr: &QrData) -> String {
    qr.webhook().origin().ascii_serialization()
}

async fn post(outbound: &Outbound, qr: &QrData, body: Vec<u8>) -> Result<(u16, Value)> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let request = Request {
        method: Method::POST,
        url: qr.webhook(),
        headers,
        body: Some(Bytes::from(body)),
        timeout: REQUEST_TIMEOUT,
        max_body: MAX_REPLY_BYTES,
    };
    // The user at the terminal confirmed the host, so the wallet may reach every address.
    let answer = outbound.send(EgressPolicy::Everything, request).await;
    let answer = answer.with_context(|| format!("cannot post to {}", host(qr)))?;
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    Ok((answer.status, serde_json::from_str(&text).unwrap_or(Value::String(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_with_distant_times_is_rejected() {
        let now = 1_700_000_000;
        for (issued_at, expires_at, is_taken) in [
            (now, now + 300, true),
            (now - 3600, now + 1, true),
            (now + 20, now + 320, true),
            (now - 300, now, false),
            (now, now + 86_400, true),
            (now, now + 86_401, false),
            (now - 86_401, now + 300, false),
            (now + 86_401, now + 300, false),
            (i64::MIN, i64::MAX, false),
            (i64::MAX, i64::MIN, false),
        ] {
            let challenge = format!("svc:login:example.com:{issued_at}:AAAAAAAAAAAAAAAAAAAAAA");
            let code = format!("svc://auth?v=1&webhook=https://example.com/&challenge={challenge}&exp={expires_at}");
            let taken = check_times(&QrData::parse(&code).unwrap(), now);
            assert_eq!(taken.is_ok(), is_taken, "{issued_at} {expires_at}");
        }
    }

    #[test]
    fn unknown_key_has_a_remedy() {
        let code = |mode: &str| {
            let challenge = format!("svc:{mode}:shop.example:1700000000:AAAAAAAAAAAAAAAAAAAAAA");
            let code = format!("svc://auth?v=1&webhook=https://shop.example/&challenge={challenge}&exp=1700000300");
            QrData::parse(&code).unwrap()
        };
        let message =
            |mode, status, reason: Value| remedy(&code(mode), status, &json!({ "details": { "reason": reason } }));
        for (reason, step) in [
            (json!("account_needed"), "scan that one too"),
            (json!("registration_closed"), "use another key"),
            (Value::Null, "for registering first"),
        ] {
            let message = message("login", 404, reason).unwrap();
            assert!(message.starts_with("this wallet's key is not registered at shop.example"), "{message}");
            assert!(message.contains(step), "{message}");
        }
        assert!(remedy(&code("login"), 404, &json!("not here")).is_some());
        for (mode, status, reason) in [
            ("login", 404, json!("replaced")),
            ("login", 406, Value::Null),
            ("register", 404, Value::Null),
            ("link", 404, json!("account_needed")),
        ] {
            assert_eq!(message(mode, status, reason), None, "{mode} {status}");
        }
    }

    #[test]
    fn new_wallet_labels_its_key() {
        let response = describe_new("02ab", "signpost-data/wallet.key");
        assert_eq!(response, "public key  02ab\nsecret key  in signpost-data/wallet.key, readable only by you");
    }

    #[test]
    fn confirmation_number_must_be_numeric() {
        for text in ["42", " 42\n", "7", "00"] {
            assert_eq!(parse_number(text).unwrap(), text.trim());
        }
        for text in ["", "4 2", "42 with 42", "\u{664}\u{662}", "-1", "123456789"] {
            assert!(parse_number(text).is_err(), "{text}");
        }
    }
}
