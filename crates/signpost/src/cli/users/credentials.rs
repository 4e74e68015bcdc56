//! The command `signpost users credentials`: manages the credentials of a user.

use anyhow::{Context, Result, anyhow, bail};
use clap::Subcommand;
use serde_json::json;
use signpost_login::api::users::UserView;
use signpost_login::flows::account_sessions::{AccountSessionPurpose, create_key_link};
use signpost_login::flows::credentials::add_credential;
use signpost_login::flows::removal::remove_credential;
use signpost_login::users::credential_sql::{AddCredentialError, rename_credential};
use signpost_login::users::{Credential, CredentialKey, CredentialKind, CredentialName, NewCredential};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;
use signpost_store::{Store, random};

use super::{FoundUser, UserSelector};
use crate::cli::backend::{Backend, ConfirmFlag};
use crate::cli::{Session, Usage, table};
use crate::deployment::public_address;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Credentials {
    /// List the credentials of a user
    List {
        #[command(flatten)]
        selector: UserSelector,
    },
    /// Add a wallet's public key to a user
    ///
    /// Prints the ID of the credential. Only its owner can add a passkey: see 'users credentials
    /// link'.
    Add {
        #[command(flatten)]
        selector: UserSelector,
        /// The public key in hex
        key: String,
        /// Name of the credential
        #[arg(long)]
        name: Option<String>,
    },
    /// Rename a credential
    Rename {
        #[command(flatten)]
        selector: UserSelector,
        /// Credential ID, cred_…
        credential: String,
        /// New name, up to 60 characters
        name: String,
    },
    /// Remove a credential, for example of a lost wallet
    ///
    /// Signs out its sessions at the login host, and cancels open pages and links for adding a key
    /// to the account, including 'users credentials link'. The last credential of a user cannot be
    /// removed.
    Remove {
        #[command(flatten)]
        selector: UserSelector,
        /// Credential ID, cred_…
        credential: String,
        #[command(flatten)]
        confirm: ConfirmFlag,
    },
    /// Create a recovery link, with which a user adds a key without an existing key
    ///
    /// Verify the user's identity first: the first visitor adds their own key to the account, and
    /// can log in with it. The link must be opened within 15 minutes, and works in one browser. The
    /// part after the # is a secret that browsers do not send to servers, so that link previews do
    /// not use the link. With --json: `{page_url, expires_at}`.
    Link {
        #[command(flatten)]
        selector: UserSelector,
    },
}

impl Credentials {
    pub(super) async fn run(self, session: &Session, backend: &Backend) -> Result<()> {
        match self {
            Self::List { selector } => {
                let found = selector.find(backend).await?;
                let view = UserView::new(found.user, found.credentials.clone());
                let document = json!({ "credentials": json!(view)["credentials"] });
                session.print(&document, || credential_table(&found.credentials))
            }
            Self::Add { selector, key, name } => {
                let store = backend.database("the API cannot add a credential", "users credentials add")?;
                add(session, store, selector.find(backend).await?, &key, name).await
            }
            Self::Rename { selector, credential, name } => {
                let store = backend.database("the API cannot rename a credential", "users credentials rename")?;
                let name = parse_name(&name)?;
                let found = selector.find(backend).await?;
                let credential = found.credential(&credential)?;
                let now = Clock::System.now();
                let renamed = rename_credential(store, credential, &name, &Actor::Operator, now).await;
                renamed.map_err(|error| error.on_conflict(anyhow!("{} was removed just now", credential.id)))?;
                let document = json!({ "id": credential.id, "name": name });
                session.print(&document, || format!("{} is named {}", credential.id, name.as_str()))
            }
            Self::Remove { selector, credential, confirm } => {
                let found = selector.find(backend).await?;
                let credential = found.credential(&credential)?;
                remove(backend, &found, credential, &confirm).await?;
                session.print(&json!({ "removed": credential.id }), || format!("removed {}", credential.id))
            }
            Self::Link { selector } => {
                let reason = "an API key cannot create recovery links, which log in as any user";
                let store = backend.database(reason, "users credentials link")?;
                link(session, store, selector.find(backend).await?).await
            }
        }
    }
}

/// Removes a credential of a user.
async fn remove(backend: &Backend, found: &FoundUser, credential: &Credential, confirm: &ConfirmFlag) -> Result<()> {
    let FoundUser { domain, user, .. } = found;
    match backend {
        Backend::Database(store) => {
            let removed = remove_credential(store, domain, credential, &Actor::Operator, Clock::System.now()).await;
            removed.map_err(|error| {
                error.on_conflict(anyhow!(
                    "{} is the only credential of {}, who could not log in without it; add another one first",
                    credential.id,
                    user.id
                ))
            })
        }
        Backend::Api(api) => {
            let lost = format!("{} cannot log in at {} with {} any more", user.id, domain.name, credential.id);
            backend.confirm_removal(confirm, domain.name.as_str(), &lost, "Remove it?")?;
            Ok(api.delete_credential(domain, credential).await?)
        }
    }
}

pub(super) fn credential_table(credentials: &[Credential]) -> String {
    let rows = credentials.iter().map(|own| {
        let used = own.last_used_at.map(|at| at.to_string()).unwrap_or_default();
        [own.id.to_string(), own.kind.as_str().to_owned(), own.name.clone(), own.added_at.to_string(), used]
    });
    table(["ID", "KIND", "NAME", "ADDED", "LAST USED"], rows)
}

async fn add(session: &Session, store: &Store, found: FoundUser, key: &str, name: Option<String>) -> Result<()> {
    let name = name.map(|name| parse_name(&name)).transpose()?;
    let key = match CredentialKey::parse(key) {
        Ok(key @ CredentialKey::Wallet(_)) => key,
        Ok(CredentialKey::Passkey(_)) => {
            return Err(Usage(
                "KEY: a passkey is added by its owner; create a link with 'users credentials link'".to_owned(),
            )
            .into());
        }
        Err(error) => return Err(Usage(format!("KEY: {error}")).into()),
    };
    let now = Clock::System.now();
    let new = NewCredential { key, kind: CredentialKind::Wallet, passkey: None };
    let mut credential = new.into_credential(&found.domain.id, &found.user.id, now, random());
    if let Some(name) = name {
        name.as_str().clone_into(&mut credential.name);
    }
    let id = credential.id.clone();
    match add_credential(store, &found.domain, credential, &Actor::Operator, now).await {
        Ok(()) => session.print(&json!({ "id": id }), || format!("added {id}")),
        Err(AddCredentialError::NoUser) => bail!("{} was deleted just now", found.user.id),
        Err(AddCredentialError::Exists) => bail!("another user of {} already has this key", found.domain.name),
        Err(error) => Err(error.into()),
    }
}

fn parse_name(text: &str) -> Result<CredentialName> {
    CredentialName::parse(text).map_err(|reason| Usage(format!("NAME: {reason}")).into())
}

/// Creates a link for adding a key, and prints it.
async fn link(session: &Session, store: &Store, found: FoundUser) -> Result<()> {
    let address = public_address::find(store).await?;
    let address = address.context("no server has run on this database yet, so it has no address for links")?;
    let FoundUser { domain, user, .. } = found;
    let purpose = AccountSessionPurpose::AddKey(user.id.clone());
    let link = create_key_link(store, &domain, purpose, &address, Clock::System.now()).await?;
    let note = format!(
        "Whoever opens this link first adds a key to the account of {} ({}) at {}.\nIt has to be opened before {}.",
        user.username(),
        user.id,
        domain.name,
        link.open_before
    );
    let document = json!({ "page_url": link.page_url, "expires_at": link.open_before });
    session.print_secret(&document, &link.page_url, &note)
}
