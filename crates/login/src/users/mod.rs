//! Users of hosted domains: for a domain that wants it the service itself answers the wallets and keeps the users, so that
//! its integrator writes no cryptography (docs/handlers.md, Hosted handlers).
//!
//! This file is the rules, and pure; [`sql`] remembers.

mod naming;
mod petname;
pub mod sql;
mod words;

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use serde::Serialize;
use signpost_auth::PublicKey;
use signpost_store::{Json, random, rows, texts};

use crate::domains::LoginMethod;
use crate::ids::{CredentialId, DomainId, UserId};

pub use naming::{UserGroups, UserName, UserPatch};
pub use petname::Petname;

/// How many credentials a user may have.
pub const MAX_CREDENTIALS: u32 = 10;

rows! {
    /// A user of a hosted domain.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "the names say it")]
    pub struct HostedUser in "hosted_users" by [domain_id, id] {
        pub domain_id: DomainId,
        pub id: UserId,
        pub petname: Petname,
        pub created_at: Timestamp,
    } later {
        pub last_login_at: Option<Timestamp>,
        /// What operator or integrator call the user.
        pub name: Option<UserName>,
        /// What operator or integrator count the user among.
        pub groups: Option<UserGroups> as Option<Json<UserGroups>>,
    }
}

rows! {
    /// A key's row. Servers of an older version know keys alone, call them users and add rows without ids.
    #[derive(Clone, Debug)]
    pub struct KeyRow in "users" by [domain_id, public_key] {
        domain_id: DomainId,
        public_key: String,
        created_at: Timestamp,
        id: Option<CredentialId>,
        user_id: Option<UserId>,
        kind: CredentialKind,
        name: String,
    } later {
        last_login_at: Option<Timestamp>,
    }
}

rows! {
    /// That a petname was given.
    #[derive(Clone, Debug)]
    pub struct GivenPetname in "petnames" by [domain_id, petname] {
        domain_id: DomainId,
        petname: Petname,
    }
}

/// A key that logs a user in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Credential {
    pub domain_id: DomainId,
    pub id: CredentialId,
    pub user_id: UserId,
    pub kind: CredentialKind,
    /// In its one canonical spelling.
    pub public_key: String,
    pub name: String,
    pub added_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
}

/// What has the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CredentialKind {
    /// A wallet that speaks `svc:`.
    Wallet,
    /// A Lightning wallet, whose key is of the login host.
    Lightning,
    /// A passkey.
    Passkey,
}

/// A user who registers, with the key that does.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct NewUser {
    pub user: HostedUser,
    pub credential: Credential,
}

/// What a registration draws.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct UserEntropy {
    pub user: [u8; 16],
    pub credential: [u8; 16],
    pub petname: [u8; 8],
}

/// Whom a key lets in.
#[derive(Clone, Debug)]
pub enum Entrant {
    /// The user who has it.
    Known(Box<Credential>),
    /// Somebody who becomes a user by it.
    New(Box<NewUser>),
}

/// Who has a key, as its row says.
#[derive(Clone, Debug)]
enum KeyHolder {
    /// A user.
    Credential(Credential),
    /// Somebody whom a server of an older version registered, and who is no user yet.
    Older { created_at: Timestamp, last_login_at: Option<Timestamp> },
}

impl CredentialKind {
    /// The word in replies and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Wallet => "wallet",
            Self::Lightning => "lightning",
            Self::Passkey => "passkey",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Wallet, Self::Lightning, Self::Passkey].into_iter().find(|kind| kind.as_str() == text)
    }

    /// What a credential is called until somebody names it.
    #[must_use]
    pub fn usual_name(self) -> &'static str {
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

impl UserEntropy {
    /// Drawn anew.
    #[must_use]
    pub fn draw() -> Self {
        Self { user: random(), credential: random(), petname: random() }
    }
}

impl NewUser {
    /// Registers whoever has a key with a domain.
    #[must_use]
    pub fn register(
        domain: &DomainId,
        key: &PublicKey,
        kind: CredentialKind,
        now: Timestamp,
        random: UserEntropy,
    ) -> Self {
        let (domain_id, id) = (domain.clone(), UserId::new(now, random.user));
        let credential = Credential {
            domain_id: domain_id.clone(),
            id: CredentialId::new(now, random.credential),
            user_id: id.clone(),
            kind,
            public_key: key.canonical(),
            name: kind.usual_name().to_owned(),
            added_at: now,
            last_used_at: None,
        };
        let petname = Petname::draw(random.petname);
        let user =
            HostedUser { domain_id, id, petname, created_at: now, last_login_at: None, name: None, groups: None };
        Self { user, credential }
    }
}

impl Entrant {
    /// Who that is from now on.
    #[must_use]
    pub fn user_id(&self) -> &UserId {
        match self {
            Self::Known(credential) => &credential.user_id,
            Self::New(new) => &new.user.id,
        }
    }
}

impl KeyHolder {
    fn new(row: KeyRow) -> Result<Self> {
        let KeyRow { domain_id, public_key, created_at, id, user_id, kind, name, last_login_at } = row;
        match (id, user_id) {
            (Some(id), Some(user_id)) => Ok(Self::Credential(Credential {
                domain_id,
                id,
                user_id,
                kind,
                public_key,
                name,
                added_at: created_at,
                last_used_at: last_login_at,
            })),
            (None, None) => Ok(Self::Older { created_at, last_login_at }),
            _ => bail!("users: id and user_id contradict each other"),
        }
    }
}

impl From<Credential> for KeyRow {
    fn from(credential: Credential) -> Self {
        let Credential { domain_id, id, user_id, kind, public_key, name, added_at, last_used_at } = credential;
        Self {
            domain_id,
            public_key,
            created_at: added_at,
            id: Some(id),
            user_id: Some(user_id),
            kind,
            name,
            last_login_at: last_used_at,
        }
    }
}

texts! {
    CredentialKind: |kind| kind.as_str(), |text| CredentialKind::parse(text).context("is no kind of credential");
    Petname: Petname::as_str, Petname::from_stored;
    UserName: UserName::as_str, UserName::from_stored;
}
