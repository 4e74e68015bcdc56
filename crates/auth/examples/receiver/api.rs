use std::time::Duration;

use reqwest::{Client, RequestBuilder, Response};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};
use signpost_auth::receiver::{HandlerRefusal, SiteOrigin};
use signpost_auth::{Answer, DomainName, InvalidQrData, Mode, NotVerified, QrData};
use url::Url;

const MAX_REPLY_LEN: usize = 64 * 1024;

/// The service, as this application calls it.
pub(crate) struct Api {
    client: Client,
    base: String,
    key: SecretString,
}

/// A session as the service opened or refreshed it.
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) qr: QrData,
}

/// The service was not reached or did not do as asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    #[error("the service was not reached: {0}")]
    Unreachable(#[from] reqwest::Error),
    #[error("the service answered {status}: {error}")]
    Refused { status: u16, error: String },
    #[error("the service's reply is not understood: {0}")]
    Unreadable(#[from] serde_json::Error),
    #[error("the service's qr_data is not understood: {0}")]
    InvalidQrData(#[from] InvalidQrData),
    #[error("the service's reply is longer than 64 KiB")]
    TooLong,
}

impl ApiError {
    /// What the wallet is told when the service does not take its answer.
    pub(crate) fn to_refusal(&self) -> HandlerRefusal {
        match self {
            Self::Refused { status: 404 | 409 | 410, .. } => HandlerRefusal::NotHeld,
            Self::Refused { status: 406, .. } => HandlerRefusal::NotVerified(NotVerified::Mismatch),
            Self::Refused { status: 408, .. } => HandlerRefusal::NotFresh,
            _ => HandlerRefusal::Failed,
        }
    }
}

impl Api {
    #[expect(clippy::disallowed_methods, reason = "the guarded client is the service's, this is another program")]
    pub(crate) fn new(base: &Url, key: SecretString) -> Result<Self, ApiError> {
        // Fails where one is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().timeout(Duration::from_secs(10)).build()?;
        Ok(Self { client, base: base.as_str().trim_end_matches('/').to_owned(), key })
    }

    /// `POST /sessions`: a code for this mode, answered at `webhook`.
    pub(crate) async fn open(
        &self,
        domain: &DomainName,
        mode: Mode,
        origin: &SiteOrigin,
        return_url: &str,
    ) -> Result<Session, ApiError> {
        let webhook_url = format!("{origin}/webhooks/{mode}");
        let metadata = json!({ "return_url": return_url });
        let body = json!({ "domain": domain, "mode": mode, "webhook_url": webhook_url, "metadata": metadata });
        self.session("/sessions", &body).await
    }

    /// `POST /sessions/{id}/refresh`: a new code for the same session.
    pub(crate) async fn refresh(&self, id: &str) -> Result<Session, ApiError> {
        self.session(&format!("/sessions/{id}/refresh"), &json!({})).await
    }

    /// `POST /sessions/{id}/authenticate`: the service checks the answer again, and of racing answers takes one.
    pub(crate) async fn authenticate(&self, id: &str, answer: &Answer) -> Result<(), ApiError> {
        let body = serde_json::to_value(answer)?;
        self.post(&format!("/sessions/{id}/authenticate"), &body).await.map(drop)
    }

    async fn session(&self, path: &str, body: &Value) -> Result<Session, ApiError> {
        #[derive(Deserialize)]
        struct Opened {
            id: String,
            qr_data: String,
        }
        let Opened { id, qr_data } = serde_json::from_slice(&self.post(path, body).await?)?;
        Ok(Session { id, qr: QrData::parse(&qr_data)? })
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Vec<u8>, ApiError> {
        let request: RequestBuilder = self.client.post(format!("{}{path}", self.base));
        let request = request.bearer_auth(self.key.expose_secret()).header("content-type", "application/json");
        let response = request.body(body.to_string()).send().await?;
        let status = response.status();
        let body = read(response).await?;
        if status.is_success() {
            return Ok(body);
        }
        let error = String::from_utf8_lossy(&body).chars().take(300).collect();
        Err(ApiError::Refused { status: status.as_u16(), error })
    }
}

async fn read(mut response: Response) -> Result<Vec<u8>, ApiError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_REPLY_LEN {
            return Err(ApiError::TooLong);
        }
    }
    Ok(body)
}
