//! Users of hosted domains. For a hosted domain the service itself answers wallets and stores the
//! users, so that the integrator needs no cryptographic code (docs/handlers.md, Hosted handlers).
//!
//! This module has the pure rules; [`sql`] stores the rows.

mod chosen_username;
mod credential;
pub mod credential_sql;
mod email_address;
mod external_id;
pub mod identifier_sql;
mod identifiers;
mod naming;
mod patch;
pub(crate) mod patch_sql;
pub(crate) mod removal_sql;
mod search;
pub mod search_sql;
pub mod sql;
mod username;
mod words;

use jiff::Timestamp;
use signpost_auth::PasskeyHandle;
use signpost_store::{Json, Parsed, random, rows, text_columns};

use crate::ids::{CredentialId, DomainId, UserId};

pub use chosen_username::{ChosenUsername, ReservedNames};
pub use credential::{Credential, CredentialKey, CredentialKind, CredentialRow, NewCredential, PasskeyColumns};
pub use email_address::EmailAddress;
pub use external_id::{ExternalId, UserMetadata};
pub use identifiers::{IdentifierKind, UserIdentifier, UsernameHash, UsernameKey};
pub use naming::{CredentialName, UserDisplayName, UserGroups};
pub use patch::UserPatch;
pub use search::{SearchText, UserFilter};
pub use username::Username;

/// Maximum credentials of a user.
pub const MAX_CREDENTIALS: u32 = 10;

rows! {
    /// A user of a hosted domain.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "the names are self-explanatory")]
    pub struct HostedUser in "users" by [domain_id, id] {
        pub domain_id: DomainId,
        pub id: UserId,
        /// The generated username, which never changes.
        pub petname: Username,
        pub created_at: Timestamp,
        /// The user handle of the user's passkeys, from the first passkey on.
        pub passkey_handle: Option<PasskeyHandle> as Option<Parsed<PasskeyHandle>>,
        /// The time when the user last declined a passkey.
        pub passkey_declined_at: Option<Timestamp>,
        /// The name that the operator or the integrator set.
        pub name: Option<UserDisplayName>,
        /// The groups that the operator or the integrator set.
        pub groups: Option<UserGroups> as Option<Json<UserGroups>>,
        /// The username that the operator or the integrator set instead of the petname.
        pub username: Option<ChosenUsername>,
        /// The ID of the user in the integrator's database.
        pub external_id: Option<ExternalId>,
        /// The e-mail address that the operator or the integrator set. Nobody verified it.
        pub email: Option<EmailAddress>,
        /// The integrator's data about the user.
        pub metadata: Option<UserMetadata> as Option<Json<UserMetadata>>,
    } mutable {
        /// The latest login after the registration, by the clock that was ahead if the servers differ.
        pub last_login_at: Option<Timestamp>,
        /// The time when the user last signed out everywhere, no earlier than any login before. All
        /// earlier sign-ins are invalid.
        pub signed_out_at: Option<Timestamp>,
    }
}

rows! {
    /// A generated username that an earlier version has given to a user. It is never given again. This version stores a
    /// [`UsernameHash`] instead.
    #[derive(Clone, Debug)]
    pub struct IssuedUsername in "petnames" by [domain_id, petname] {
        domain_id: DomainId,
        petname: Username,
    }
}

/// A user who registers, with the first credential.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct NewUser {
    pub user: HostedUser,
    pub credential: Credential,
}

/// The user entity of a passkey that was created before the registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthenticatorUser {
    /// The user handle, `user.id` in Web Authentication.
    pub handle: PasskeyHandle,
    /// The name that the authenticator shows. It becomes the username unless another user has it.
    pub username: Option<Username>,
}

/// The random bytes that a registration needs.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct UserEntropy {
    pub user: [u8; 16],
    pub credential: [u8; 16],
    pub username: [u8; 8],
}

/// The user whom a key logs in.
#[derive(Clone, Debug)]
pub enum LoginSubject {
    /// The user who has the key.
    Known(Box<Credential>),
    /// A user who registers with the key.
    New(Box<NewUser>),
    /// An existing user, to whom the key is added.
    Linked {
        /// The new credential.
        credential: Box<Credential>,
        /// The user handle of a new passkey.
        handle: Option<PasskeyHandle>,
        /// The condition for the addition, besides the maximum number of credentials.
        condition: LinkCondition,
    },
}

/// The condition for the addition of a key by a link.
#[derive(Clone, Debug)]
pub enum LinkCondition {
    /// None: an operator created the link.
    None,
    /// The user still has the credential that opened the link.
    HasCredential(CredentialId),
    /// The user has no credential.
    NoCredential,
}

impl UserEntropy {
    /// Draws random bytes.
    #[must_use]
    pub fn draw() -> Self {
        Self { user: random(), credential: random(), username: random() }
    }
}

impl HostedUser {
    /// Creates a user with a generated username and without credentials.
    #[must_use]
    pub fn new(domain: &DomainId, id: UserId, petname: Username, now: Timestamp) -> Self {
        Self {
            domain_id: domain.clone(),
            id,
            petname,
            created_at: now,
            passkey_handle: None,
            passkey_declined_at: None,
            name: None,
            groups: None,
            username: None,
            external_id: None,
            email: None,
            metadata: None,
            last_login_at: None,
            signed_out_at: None,
        }
    }

    /// Returns the username: the one that was set, or else the generated one.
    #[must_use]
    pub fn username(&self) -> &str {
        self.username.as_ref().map_or(self.petname.as_str(), ChosenUsername::as_str)
    }
}

impl NewUser {
    /// Creates the user of a domain who registers with a key. `authenticator_user` is the user
    /// entity of a passkey, if the key is a passkey or a passkey was created together with it.
    #[must_use]
    pub fn register(
        domain: &DomainId,
        key: NewCredential,
        authenticator_user: Option<AuthenticatorUser>,
        now: Timestamp,
        random: UserEntropy,
    ) -> Self {
        let id = UserId::new(now, random.user);
        let credential = key.into_credential(domain, &id, now, random.credential);
        let (passkey_handle, username) = match authenticator_user {
            Some(AuthenticatorUser { handle, username }) => (Some(handle), username),
            None => (None, None),
        };
        let petname = username.unwrap_or_else(|| Username::draw(random.username));
        let user = HostedUser { passkey_handle, ..HostedUser::new(domain, id, petname, now) };
        Self { user, credential }
    }
}

impl LoginSubject {
    /// Returns the ID of the user.
    #[must_use]
    pub fn user_id(&self) -> &UserId {
        match self {
            Self::Known(credential) | Self::Linked { credential, .. } => &credential.user_id,
            Self::New(new) => &new.user.id,
        }
    }
}

text_columns! {
    Username: Username::as_str, Username::from_stored;
    ChosenUsername: ChosenUsername::as_str, ChosenUsername::from_stored;
    ExternalId: ExternalId::as_str, ExternalId::from_stored;
    EmailAddress: EmailAddress::as_str, EmailAddress::from_stored;
    UserDisplayName: UserDisplayName::as_str, UserDisplayName::from_stored;
}
