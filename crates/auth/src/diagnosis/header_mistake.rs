//! Mistakes in the headers of an event: the encoding of a signature, the names of the headers, the
//! unit of the time.

use data_encoding::{BASE64, HEXLOWER};

use crate::receiver::EventHeaders;

/// A mistake in the headers that a receiver expects, or that were copied for a diagnosis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderMistake {
    /// `X-Svc-Signature` in base64 instead of hex.
    Base64,
    /// The prefix `sha256=` before the hex digits of `X-Svc-Signature`.
    Prefixed,
    /// Upper-case hex digits in `X-Svc-Signature`.
    UpperCase,
    /// Quotes around a value.
    Quoted,
    /// A signature in `webhook-signature` without its prefix `v1,`.
    NoVersion,
    /// The headers `svix-id`, `svix-timestamp` and `svix-signature` instead of `webhook-…`.
    SvixNames,
    /// `webhook-timestamp` in milliseconds.
    Milliseconds,
}

/// The headers of an event with their mistakes corrected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CorrectedHeaders {
    pub(super) x_svc_signature: Option<String>,
    pub(super) x_svc_signature_next: Option<String>,
    pub(super) webhook_id: Option<String>,
    pub(super) webhook_timestamp: Option<String>,
    pub(super) webhook_signature: Option<String>,
}

impl HeaderMistake {
    /// All mistakes, most likely first.
    pub const ALL: [Self; 7] = [
        Self::Base64,
        Self::Prefixed,
        Self::UpperCase,
        Self::Quoted,
        Self::NoVersion,
        Self::SvixNames,
        Self::Milliseconds,
    ];

    /// Returns the headers without this mistake. Returns `None` if they do not have it.
    pub(super) fn correct(self, headers: &CorrectedHeaders) -> Option<CorrectedHeaders> {
        let mut corrected = headers.clone();
        match self {
            Self::Base64 => corrected.change_x_svc(hex_from_base64),
            Self::Prefixed => corrected.change_x_svc(|value| value.strip_prefix("sha256=").map(str::to_owned)),
            Self::UpperCase => corrected.change_x_svc(|value| Some(value.to_ascii_lowercase())),
            Self::Quoted => corrected.change_all(unquote),
            Self::NoVersion => change(&mut corrected.webhook_signature, add_version),
            Self::Milliseconds => change(&mut corrected.webhook_timestamp, seconds_from_millis),
            // The names are read by `CorrectedHeaders::read`.
            Self::SvixNames => {}
        }
        if corrected == *headers { None } else { Some(corrected) }
    }

    /// Describes the mistake in a sentence without a full stop.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Base64 => "wrong form: the receiver expects X-Svc-Signature in base64",
            Self::Prefixed => "wrong form: the receiver expects sha256= before X-Svc-Signature",
            Self::UpperCase => "wrong form: the receiver expects X-Svc-Signature in capital letters",
            Self::Quoted => "wrong form: the receiver expects quotes around the signature",
            Self::NoVersion => "wrong form: the receiver expects webhook-signature without v1,",
            Self::SvixNames => "other header names: the receiver reads svix-… instead of webhook-…",
            Self::Milliseconds => "wrong unit: the receiver takes webhook-timestamp for milliseconds",
        }
    }

    /// Returns the stable code of the mistake, for programs.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Base64 | Self::Prefixed | Self::UpperCase | Self::Quoted | Self::NoVersion => "signature_form",
            Self::SvixNames => "header_names",
            Self::Milliseconds => "timestamp_unit",
        }
    }
}

impl CorrectedHeaders {
    /// Reads the headers with a function that returns the value of a header, given its name in
    /// lower case. The headers of Svix replace missing headers of Standard Webhooks.
    pub(super) fn read<'a>(field: impl Fn(&str) -> Option<&'a str>) -> (Option<HeaderMistake>, Self) {
        let headers = EventHeaders::from_fields(&field);
        let mut read = Self {
            x_svc_signature: headers.x_svc_signature.map(str::to_owned),
            x_svc_signature_next: headers.x_svc_signature_next.map(str::to_owned),
            webhook_id: headers.webhook_id.map(str::to_owned),
            webhook_timestamp: headers.webhook_timestamp.map(str::to_owned),
            webhook_signature: headers.webhook_signature.map(str::to_owned),
        };
        let Some(signature) = field("svix-signature").filter(|_| read.webhook_signature.is_none()) else {
            return (None, read);
        };
        read.webhook_signature = Some(signature.to_owned());
        read.webhook_id = field("svix-id").map(str::to_owned);
        read.webhook_timestamp = field("svix-timestamp").map(str::to_owned);
        (Some(HeaderMistake::SvixNames), read)
    }

    fn change_x_svc(&mut self, correct: fn(&str) -> Option<String>) {
        change(&mut self.x_svc_signature, correct);
        change(&mut self.x_svc_signature_next, correct);
    }

    fn change_all(&mut self, correct: fn(&str) -> Option<String>) {
        self.change_x_svc(correct);
        change(&mut self.webhook_id, correct);
        change(&mut self.webhook_timestamp, correct);
        change(&mut self.webhook_signature, correct);
    }
}

/// Replaces a value, if it is present and `correct` returns a value for it.
fn change(value: &mut Option<String>, correct: fn(&str) -> Option<String>) {
    if let Some(corrected) = value.as_deref().and_then(correct) {
        *value = Some(corrected);
    }
}

fn hex_from_base64(value: &str) -> Option<String> {
    let tag = BASE64.decode(value.as_bytes()).ok()?;
    if tag.len() == 32 { Some(HEXLOWER.encode(&tag)) } else { None }
}

fn unquote(value: &str) -> Option<String> {
    let inner = value.trim_matches(['"', '\'']);
    if inner == value { None } else { Some(inner.to_owned()) }
}

fn add_version(value: &str) -> Option<String> {
    if value.contains(',') { None } else { Some(format!("v1,{value}")) }
}

/// Returns the seconds of a time that must be in milliseconds, because in seconds it would be after
/// the year 5138.
fn seconds_from_millis(value: &str) -> Option<String> {
    const MAX_SECONDS: i64 = 100_000_000_000;
    let millis: i64 = value.parse().ok()?;
    if millis > MAX_SECONDS { Some((millis / 1000).to_string()) } else { None }
}
