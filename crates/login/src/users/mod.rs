//! Users of hosted domains: for a domain that wants it the service itself answers the wallets and keeps the users, so that
//! its integrator writes no cryptography (docs/handlers.md, Hosted handlers).
//!
//! This file is the rules, and pure; [`sql`] remembers.

mod credential;
pub mod credential_sql;
mod naming;
mod petname;
pub(crate) mod removal_sql;
pub mod sql;
mod words;

use jiff::Timestamp;
use signpost_auth::PasskeyHandle;
use signpost_store::{Json, Parsed, random, rows, texts};

use crate::ids::{CredentialId, DomainId, UserId};

pub use credential::{Credential, CredentialKey, CredentialKind, CredentialRow, NewCredential, PasskeyColumns};
pub use naming::{CredentialName, UserGroups, UserName, UserPatch};
pub use petname::Petname;

/// How many credentials a user may have.
pub const MAX_CREDENTIALS: u32 = 10;

rows! {
    /// A user of a hosted domain.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "the names say it")]
    pub struct HostedUser in "users" by [domain_id, id] {
        pub domain_id: DomainId,
        pub id: UserId,
        pub petname: Petname,
        pub created_at: Timestamp,
        /// How authenticators know the user, from the first passkey on.
        pub passkey_handle: Option<PasskeyHandle> as Option<Parsed<PasskeyHandle>>,
        /// When the user last wanted no passkey.
        pub passkey_declined_at: Option<Timestamp>,
    } later {
        /// The latest login behind the one that registered, by whichever server's clock is ahead.
        pub last_login_at: Option<Timestamp>,
        /// What operator or integrator call the user.
        pub name: Option<UserName>,
        /// What operator or integrator count the user among.
        pub groups: Option<UserGroups> as Option<Json<UserGroups>>,
        /// When the user last signed out everywhere, and no earlier than any login until then: no sign-in of before counts any
        /// more.
        pub signed_out_at: Option<Timestamp>,
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

/// A user who registers, with the key that does.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct NewUser {
    pub user: HostedUser,
    pub credential: Credential,
}

/// How authenticators know somebody for whom a passkey was made before they were a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthenticatorUser {
    /// `user.id`.
    pub handle: PasskeyHandle,
    /// The name that stands beside the passkey, which the user gets unless somebody has it.
    pub petname: Option<Petname>,
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
    /// The user who is there already, and has it from now on.
    Linked {
        /// What is added.
        credential: Box<Credential>,
        /// How authenticators know the user, where a passkey is.
        handle: Option<PasskeyHandle>,
        /// The credential by which the link was opened. Without it the user gets no other by the link.
        opened_by: Option<CredentialId>,
    },
}

impl UserEntropy {
    /// Drawn anew.
    #[must_use]
    pub fn draw() -> Self {
        Self { user: random(), credential: random(), petname: random() }
    }
}

impl NewUser {
    /// Registers whoever has a key with a domain. `known_as` is how authenticators know them already, where the key is a
    /// passkey or one was made beside it.
    #[must_use]
    pub fn register(
        domain: &DomainId,
        key: NewCredential,
        known_as: Option<AuthenticatorUser>,
        now: Timestamp,
        random: UserEntropy,
    ) -> Self {
        let id = UserId::new(now, random.user);
        let credential = key.into_credential(domain, &id, now, random.credential);
        let (handle, petname) = known_as.map_or((None, None), |known| (Some(known.handle), known.petname));
        let user = HostedUser {
            domain_id: domain.clone(),
            id,
            petname: petname.unwrap_or_else(|| Petname::draw(random.petname)),
            created_at: now,
            passkey_handle: handle,
            passkey_declined_at: None,
            last_login_at: None,
            name: None,
            groups: None,
            signed_out_at: None,
        };
        Self { user, credential }
    }
}

impl Entrant {
    /// Who that is from now on.
    #[must_use]
    pub fn user_id(&self) -> &UserId {
        match self {
            Self::Known(credential) | Self::Linked { credential, .. } => &credential.user_id,
            Self::New(new) => &new.user.id,
        }
    }
}

texts! {
    Petname: Petname::as_str, Petname::from_stored;
    UserName: UserName::as_str, UserName::from_stored;
}
