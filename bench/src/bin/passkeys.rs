//! Measures logins by passkey: the verification compared with the signature library, and stored
//! answers compared with answers of wallets.

#[expect(dead_code, reason = "its invalid answers are for tests")]
#[path = "../../../tests/passkey.rs"]
mod passkey;

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use data_encoding::{BASE64URL_NOPAD, HEXLOWER, HEXUPPER};
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use signpost_auth::{PasskeyAssertion, PasskeyKey, PasskeyRegistration, QrData, RelyingParty, Wallet};
use signpost_bench::load::{Measured, burst, print_measured};
use signpost_bench::server::ApiTarget;
use signpost_bench::{
    Program, ROUND, ROUNDS, get_with, per_second, post, print, report, send_request, serve_or_measure,
};
use signpost_platform::clock::Clock;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use passkey::TestPasskey;

const CONNECTIONS: usize = 64;
/// Number of logins per round. They are signed in advance.
const LOGINS: usize = 800;
/// Number of rounds of logins.
const LOGIN_ROUNDS: usize = 3;
const DOMAIN: &str = "hosted.example";

fn main() -> Result<()> {
    serve_or_measure(measure)
}

async fn measure() -> Result<()> {
    verification()?;
    let folder = tempfile::tempdir()?;
    let program = Program::start(&[&format!("data_dir={}", folder.path().display())])?;
    program.target.host(DOMAIN, "https://hosted.example/").await?;
    answers(&program).await
}

/// Measures the verification of a posted assertion, and of its signature alone, on a single core.
fn verification() -> Result<()> {
    let (rp, challenge) = (RelyingParty::of("https://login.example").context("a name")?, [7; 32]);
    let text = BASE64URL_NOPAD.encode(&challenge);
    let created = json!({
        "challenge": text, "rp": { "id": rp.id() }, "user": { "id": BASE64URL_NOPAD.encode(&[9; 32]) },
        "pubKeyCredParams": [{ "type": "public-key", "alg": -7 }],
    });
    let (mut passkey, made) = TestPasskey::create(&created, rp.origin(), &[]);
    let new = PasskeyRegistration::parse(&made.to_string())?.verify(&rp, &challenge)?;
    let answer = passkey.get(&json!({ "challenge": text, "rpId": rp.id() }), rp.origin(), &[]).to_string();
    let hex = new.key.canonical();
    let checked = || -> Result<()> {
        let key = PasskeyKey::parse_hex(&hex)?;
        PasskeyAssertion::parse(&answer)?.verify(&rp, &challenge, &key)?;
        Ok(())
    };
    let asserted = PasskeyAssertion::parse(&answer)?.verify(&rp, &challenge, &new.key)?;
    let signed = [asserted.authenticator_data, Sha256::digest(asserted.client_data_json).to_vec()].concat();
    let spki = HEXLOWER.decode(hex.as_bytes())?;
    let point = &spki[spki.len() - 65..];
    let raw = || -> Result<()> {
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point);
        key.verify(&signed, &asserted.signature).map_err(|_| anyhow::anyhow!("another signature"))
    };
    let (mut raws, mut checks) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        raws.push(one_round(raw)?);
        checks.push(one_round(checked)?);
    }
    let (raws, checks) = (per_second(raws), per_second(checks));
    println!("checking a login by passkey, one core");
    print("ring: signature only", raws, raws);
    print("signpost: from the request body to the decision", checks, raws);
    report("passkey_check", checks / raws, None)
}

fn one_round(work: impl Fn() -> Result<()>) -> Result<u32> {
    let (begun, mut count) = (Instant::now(), 0);
    while begun.elapsed() < ROUND {
        work()?;
        count += 1;
    }
    Ok(count)
}

/// Measures logins of existing users. Each is signed in advance, belongs to a separate page, and is
/// stored before the response.
async fn answers(program: &Program) -> Result<()> {
    let target = &program.target;
    let wallet = Wallet::from_bytes([7; 32])?;
    let mut passkey = register_passkey(target).await?;
    register_wallet(target, &wallet).await?;
    let (mut by_wallet, mut by_passkey) = (Vec::new(), Vec::new());
    for _ in 0..LOGIN_ROUNDS {
        let (mut pages, mut passkeys) = (Vec::new(), Vec::new());
        for _ in 0..LOGINS {
            pages.push(OpenPage::of(target, "login").await?);
            let page = OpenPage::of(target, "login").await?;
            let asked = page.options(target).await?;
            passkeys.push(page.request(&passkey.get(&asked["publicKey"], &page.origin, &[])));
        }
        // The answer of a wallet contains the time of signing and expires after half a minute.
        let signed = pages.iter().map(|page| page.answered_by_wallet(&wallet));
        let wallets = signed.collect::<Result<Vec<_>>>()?;
        by_wallet.push(burst(&program.server, wallets, CONNECTIONS).await?);
        by_passkey.push(burst(&program.server, passkeys, CONNECTIONS).await?);
    }
    let (wallet, passkey) = (Measured::of(&by_wallet)?, Measured::of(&by_passkey)?);
    println!("answering a login on its page, signed before, {CONNECTIONS} connections");
    print_measured("by wallet: POST /hosted/login, on disk", wallet, wallet);
    print_measured("by passkey: POST /login/{id}/passkey, on disk", passkey, wallet);
    report("passkey", passkey.rate / wallet.rate, Some([passkey.cpu_time, wallet.cpu_time]))
}

async fn register_passkey(target: &ApiTarget) -> Result<TestPasskey> {
    let page = OpenPage::of(target, "register").await?;
    let asked = page.options(target).await?;
    let (passkey, made) = TestPasskey::create(&asked["publicKey"], &page.origin, &[]);
    send_request(target.address, &page.request(&made)).await?;
    page.complete(target).await?;
    Ok(passkey)
}

async fn register_wallet(target: &ApiTarget, wallet: &Wallet) -> Result<()> {
    let page = OpenPage::of(target, "register").await?;
    send_request(target.address, &page.answered_by_wallet(wallet)?).await?;
    page.complete(target).await
}

/// A login page in the browser that opened it.
struct OpenPage {
    id: String,
    origin: String,
    path: String,
    cookie: String,
    document: String,
}

impl OpenPage {
    async fn of(target: &ApiTarget, mode: &str) -> Result<Self> {
        let asked = json!({ "domain": DOMAIN, "mode": mode, "flow": "page", "metadata": { "return_url": "/in" } });
        let request = post("/sandbox/v1/sessions", &target.authorization, &asked.to_string());
        let session: Value = serde_json::from_slice(&send_request(target.address, &request).await?)?;
        let page_url = session["page_url"].as_str().context("page_url")?;
        let (origin, path) = page_url.split_at(page_url.find("/sandbox").context("a path")?);
        let id = session["id"].as_str().context("id")?.to_owned();
        let mut page = Self {
            id,
            origin: origin.to_owned(),
            path: path.to_owned(),
            cookie: String::new(),
            document: String::new(),
        };
        page.load(target).await?;
        Ok(page)
    }

    /// Loads the page. The first response sets its cookie.
    async fn load(&mut self, target: &ApiTarget) -> Result<()> {
        let mut connection = TcpStream::connect(target.address).await?;
        connection.write_all(&get_with(&self.path, &format!("{}connection: close\r\n", self.cookie))).await?;
        let mut reply = String::new();
        connection.read_to_string(&mut reply).await?;
        let (head, document) = reply.split_once("\r\n\r\n").context("a head")?;
        if let Some(set) = head.lines().find_map(|line| line.strip_prefix("set-cookie: signpost_page=")) {
            self.cookie = format!("cookie: signpost_page={}\r\n", set.split(';').next().unwrap_or_default());
        }
        document.clone_into(&mut self.document);
        Ok(())
    }

    fn between(&self, before: &str, after: &str) -> Result<&str> {
        let rest = self.document.split_once(before).with_context(|| before.to_owned())?.1;
        Ok(rest.split_once(after).with_context(|| after.to_owned())?.0)
    }

    /// Returns the request options that the script of the page passes to the authenticator.
    async fn options(&self, target: &ApiTarget) -> Result<Value> {
        Ok(serde_json::from_slice(
            &send_request(target.address, &get_with(&format!("{}/passkey", self.path), &self.cookie)).await?,
        )?)
    }

    /// Returns the request that posts the credential of an authenticator.
    fn request(&self, credential: &Value) -> Vec<u8> {
        let token = self.between("name=\"token\" value=\"", "\"").unwrap_or_default();
        let mut body = format!("token={token}&credential=");
        for byte in credential.to_string().bytes() {
            body.extend(["%", &HEXUPPER.encode(&[byte])]);
        }
        let Self { path, cookie, origin, .. } = self;
        let head = format!(
            "POST {path}/passkey HTTP/1.1\r\nhost: localhost\r\norigin: {origin}\r\n{cookie}\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        (head + &body).into_bytes()
    }

    /// Returns the request of a wallet whose user scanned the code and entered the number.
    fn answered_by_wallet(&self, wallet: &Wallet) -> Result<Vec<u8>> {
        let code = self.between("rel=\"signpost-code\" href=\"", "\"")?.replace("&amp;", "&");
        let number = self.between("<output id=\"number\"", "</output>")?.split_once('>').context("a number")?.1;
        let qr = QrData::parse(&code)?;
        let answer = wallet.answer_code(&qr, Some(number), Clock::System.now().as_second(), None);
        Ok(post(qr.webhook().path(), "", &serde_json::to_string(&answer)?))
    }

    /// Completes the login like the website does after the redirect.
    async fn complete(mut self, target: &ApiTarget) -> Result<()> {
        self.load(target).await?;
        let code = self.between("code=", "\"")?.split('&').next().unwrap_or_default().to_owned();
        let body = json!({ "code": code }).to_string();
        let path = format!("/sandbox/v1/sessions/{}/complete", self.id);
        let done = send_request(target.address, &post(&path, &target.authorization, &body)).await?;
        let done: Value = serde_json::from_slice(&done)?;
        ensure!(done["status"] == "complete" || done["user"].is_object(), "{done}");
        Ok(())
    }
}
