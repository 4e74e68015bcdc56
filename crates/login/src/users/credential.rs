//! Credentials: the keys of wallets and passkeys that log a user in.

use anyhow::{Context, Result, bail, ensure};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use signpost_auth::{MalformedPublicKey, PasskeyId, PasskeyKey, PublicKey};
use signpost_store::{Parsed, rows, text_columns};

use crate::domains::LoginMethod;
use crate::ids::{CredentialId, DomainId, UserId};

rows! {
    /// A credential as the database stores it.
    #[derive(Clone, Debug)]
    pub struct CredentialRow in "credentials" by [domain_id, public_key] {
        pub(super) domain_id: DomainId,
        pub(super) public_key: String,
        pub(super) created_at: Timestamp,
        pub(super) id: CredentialId,
        pub(super) user_id: UserId,
        pub(super) kind: CredentialKind,
        pub(super) name: String,
        pub(super) passkey_id: Option<PasskeyId> as Option<Parsed<PasskeyId>>,
        pub(super) sign_count: Option<u32>,
    } mutable {
        pub(super) last_login_at: Option<Timestamp>,
    }
}

/// A key that logs a user in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Credential {
    pub domain_id: DomainId,
    pub id: CredentialId,
    pub user_id: UserId,
    pub kind: CredentialKind,
    /// The key in its canonical spelling.
    pub public_key: String,
    pub name: String,
    pub added_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
    /// The columns of a passkey; `None` for other kinds.
    pub passkey: Option<PasskeyColumns>,
}

/// The additional columns of a passkey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasskeyColumns {
    /// The credential ID, created by the authenticator.
    pub id: PasskeyId,
    /// The last reported signature counter. Many authenticators always report 0.
    pub sign_count: u32,
}

/// The kind of key that a credential belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CredentialKind {
    /// A wallet for `svc:` codes.
    Wallet,
    /// A Lightning wallet, with a key that is specific to the login host.
    Lightning,
    /// A passkey.
    Passkey,
}

/// A public key of any kind of credential.
#[derive(Clone, Debug)]
pub enum CredentialKey {
    /// The key of a wallet of either kind.
    Wallet(PublicKey),
    /// The key of a passkey.
    Passkey(PasskeyKey),
}

/// A key that is to become a credential.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct NewCredential {
    pub key: CredentialKey,
    pub kind: CredentialKind,
    /// The columns of a passkey; `None` for other kinds.
    pub passkey: Option<PasskeyColumns>,
}

impl CredentialKind {
    /// Returns the word in responses and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Wallet => "wallet",
            Self::Lightning => "lightning",
            Self::Passkey => "passkey",
        }
    }

    /// Parses the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Wallet, Self::Lightning, Self::Passkey].into_iter().find(|kind| kind.as_str() == text)
    }

    /// Returns the name of a credential without another name.
    #[must_use]
    pub fn default_name(self) -> &'static str {
        match self {
            Self::Wallet => "Wallet",
            Self::Lightning => "Lightning wallet",
            Self::Passkey => "Passkey",
        }
    }
}

impl From<LoginMethod> for CredentialKind {
    fn from(method: LoginMethod) -> Self {
        match method {
            LoginMethod::Scan | LoginMethod::Browser => Self::Wallet,
            LoginMethod::Lightning => Self::Lightning,
            LoginMethod::Passkey => Self::Passkey,
        }
    }
}

impl CredentialKey {
    /// Parses a key in hex: a secp256k1 key of 33 or 65 bytes as in the specification, or a `SubjectPublicKeyInfo`.
    ///
    /// # Errors
    /// Returns the error of the wallet's key, if it is neither.
    pub fn parse(hex: &str) -> Result<Self, MalformedPublicKey> {
        match PublicKey::parse(hex) {
            Ok(key) => Ok(Self::Wallet(key)),
            Err(malformed) => PasskeyKey::parse_hex(hex).map(Self::Passkey).map_err(|_| malformed),
        }
    }

    /// Returns the canonical spelling in lower-case hex, for the database.
    #[must_use]
    pub fn canonical(&self) -> String {
        match self {
            Self::Wallet(key) => key.canonical(),
            Self::Passkey(key) => key.canonical(),
        }
    }
}

impl From<PublicKey> for CredentialKey {
    fn from(key: PublicKey) -> Self {
        Self::Wallet(key)
    }
}

impl NewCredential {
    /// Returns the credential of a user.
    #[must_use]
    pub fn into_credential(self, domain: &DomainId, user: &UserId, now: Timestamp, random: [u8; 16]) -> Credential {
        let Self { key, kind, passkey } = self;
        Credential {
            domain_id: domain.clone(),
            id: CredentialId::new(now, random),
            user_id: user.clone(),
            kind,
            public_key: key.canonical(),
            name: kind.default_name().to_owned(),
            added_at: now,
            last_used_at: None,
            passkey,
        }
    }
}

impl Credential {
    /// Returns the credential in a row of the table.
    ///
    /// # Errors
    /// Returns an error if the columns contradict each other.
    pub(super) fn from_stored(row: CredentialRow) -> Result<Self> {
        let passkey = match (row.passkey_id, row.sign_count) {
            (Some(id), Some(sign_count)) => Some(PasskeyColumns { id, sign_count }),
            (None, None) => None,
            _ => bail!("credentials: passkey_id and sign_count contradict each other"),
        };
        ensure!(
            passkey.is_some() == (row.kind == CredentialKind::Passkey),
            "credentials: kind and passkey_id contradict each other"
        );
        Ok(Self {
            domain_id: row.domain_id,
            id: row.id,
            user_id: row.user_id,
            kind: row.kind,
            public_key: row.public_key,
            name: row.name,
            added_at: row.created_at,
            last_used_at: row.last_login_at,
            passkey,
        })
    }
}

impl From<Credential> for CredentialRow {
    fn from(credential: Credential) -> Self {
        let Credential { domain_id, id, user_id, kind, public_key, name, added_at, last_used_at, passkey } = credential;
        let (passkey_id, sign_count) = passkey.map(|passkey| (passkey.id, passkey.sign_count)).unzip();
        Self {
            domain_id,
            public_key,
            created_at: added_at,
            id,
            user_id,
            kind,
            name,
            passkey_id,
            sign_count,
            last_login_at: last_used_at,
        }
    }
}

text_columns! {
    CredentialKind: |kind| kind.as_str(), |text| CredentialKind::parse(text).context("is no kind of credential");
}

#[cfg(test)]
mod tests {
    use super::*;

    const WALLET: &str = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
    const PASSKEY: &str = "3059301306072a8648ce3d020106082a8648ce3d030107034200046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";

    #[test]
    fn credential_key_has_one_encoding() {
        for text in [WALLET, PASSKEY] {
            let key = CredentialKey::parse(&text.to_uppercase()).unwrap();
            assert_eq!(key.canonical(), text);
            assert_eq!(matches!(key, CredentialKey::Passkey(_)), text == PASSKEY);
        }
        for text in ["", "02", &WALLET[2..], &PASSKEY[2..], &format!("{PASSKEY}00")] {
            assert!(CredentialKey::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn inconsistent_credential_row_is_an_error() {
        let (now, id) = (Timestamp::UNIX_EPOCH, |random| UserId::new(Timestamp::UNIX_EPOCH, [random; 16]));
        let passkey = PasskeyColumns { id: PasskeyId::from_bytes(&[1]).unwrap(), sign_count: 0 };
        let new = NewCredential {
            key: CredentialKey::parse(PASSKEY).unwrap(),
            kind: CredentialKind::Passkey,
            passkey: Some(passkey),
        };
        let row =
            || CredentialRow::from(new.clone().into_credential(&DomainId::new(now, [1; 16]), &id(2), now, [3; 16]));
        assert!(Credential::from_stored(row()).is_ok());
        for wrong in [
            CredentialRow { passkey_id: None, ..row() },
            CredentialRow { sign_count: None, ..row() },
            CredentialRow { passkey_id: None, sign_count: None, ..row() },
            CredentialRow { kind: CredentialKind::Wallet, ..row() },
        ] {
            assert!(Credential::from_stored(wrong).is_err());
        }
    }
}
