//! Opens a login page like a browser.

use anyhow::{Context, Result};
use serde_json::Value;
use signpost_auth::{Challenge, K1, Wallet};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::server::ApiTarget;
use crate::{get, get_with};

const SESSION: &str =
    r#"{"domain":"localhost","mode":"register","flow":"page","metadata":{"return_url":"http://localhost:9/in"}}"#;

/// A login page in the browser that opened it.
pub struct OpenPage {
    /// The path of the page.
    pub path: String,
    /// The `cookie` header of the browser.
    pub cookie: String,
    /// The document as first loaded.
    pub document: String,
    /// The request of a Lightning wallet that logs in on this page.
    pub answer: Vec<u8>,
}

impl OpenPage {
    /// Opens a login page for the hosted domain `localhost`.
    ///
    /// # Errors
    /// Returns an error if a response is unexpected.
    pub async fn open(target: &ApiTarget) -> Result<Self> {
        let created = target.post("/sandbox/v1/sessions", SESSION).await?;
        let session: Value = serde_json::from_slice(&created)?;
        let member = |name: &str| session[name].as_str().with_context(|| name.to_owned());
        let (id, page_url) = (member("id")?, member("page_url")?);
        let path = format!("/{}", page_url.splitn(4, '/').last().unwrap_or_default());
        let mut connection = TcpStream::connect(target.address).await?;
        connection.write_all(&get_with(&path, "connection: close\r\n")).await?;
        let mut reply = String::new();
        connection.read_to_string(&mut reply).await?;
        let (head, document) = reply.split_once("\r\n\r\n").context("a head")?;
        let set = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).context("a cookie")?;
        let cookie = format!("cookie: {}\r\n", set.split(';').next().unwrap_or_default());
        let (k1, wallet) = (K1::of(&Challenge::parse(member("challenge")?)?), Wallet::from_bytes([7; 32])?);
        let (sig, key) = (wallet.sign_k1(k1), wallet.public_key().canonical());
        let answer = get(&format!("/lnurl/{}?tag=login&k1={k1}&sig={sig}&key={key}", &id[id.len() - 12..]));
        Ok(Self { path, cookie, document: document.to_owned(), answer })
    }
}
