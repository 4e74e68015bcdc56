//! Queries and statements for the unique identifiers of users. A write that gives a user an identifier claims it, and is
//! refused if another user has it, so that of two concurrent writes one fails.

use anyhow::{Context, Result};
use signpost_store::{Row, Statement, Store, Stored, params, random, sql};

use super::identifiers::{IdentifierKind, UserIdentifier, UsernameKey};
use super::{HostedUser, IssuedUsername};
use crate::ids::{DomainId, UserId};

/// Number of usernames that are hashed in one write.
const HASH_BATCH: u32 = 500;

const FIND_KEY: &str = "SELECT key FROM username_key WHERE key IS NOT NULL";

const CREATE_KEY: &str = "UPDATE username_key SET key = $1 WHERE key IS NULL";

/// Claims an identifier. A user may claim an own identifier again, such as a former username. `$5` is a username, which
/// an older server may have given without a hash.
const CLAIM: &str = sql!(
    UserIdentifier::INSERT_IF,
    " WHERE NOT EXISTS (SELECT 1 FROM petnames WHERE petnames.domain_id = $1 AND petnames.petname = $5)
     ON CONFLICT (domain_id, kind, value) DO UPDATE SET user_id = $4 WHERE user_identifiers.user_id = $4"
);

/// Releases the former identifier of a kind. Usernames are never released.
const RELEASE_FORMER: &str =
    "DELETE FROM user_identifiers WHERE domain_id = $1 AND user_id = $2 AND kind = $3 AND value <> $4";

const FIND_USER: &str = "SELECT user_id FROM user_identifiers WHERE domain_id = $1 AND kind = $2 AND value = $3";

/// Separates the usernames of deleted users from their IDs.
const ANONYMIZE_USERNAMES: &str = "
    UPDATE user_identifiers SET user_id = NULL WHERE domain_id = $1 AND kind = 'username' AND user_id IS NOT NULL
      AND NOT EXISTS (
          SELECT 1 FROM users WHERE users.domain_id = $1 AND users.id = user_identifiers.user_id)";

/// Deletes the other identifiers of deleted users.
const DELETE_WITHOUT_USER: &str = "
    DELETE FROM user_identifiers WHERE domain_id = $1 AND kind <> 'username'
      AND NOT EXISTS (SELECT 1 FROM users WHERE users.domain_id = $1 AND users.id = user_identifiers.user_id)";

const ANONYMIZE_USERNAMES_OF_USER: &str =
    "UPDATE user_identifiers SET user_id = NULL WHERE domain_id = $1 AND user_id = $2 AND kind = 'username'";

const DELETE_OF_USER: &str =
    "DELETE FROM user_identifiers WHERE domain_id = $1 AND user_id = $2 AND kind <> 'username'";

const DELETE_OF_DOMAIN: &str = "DELETE FROM user_identifiers WHERE domain_id = $1";

const LIST_UNHASHED: &str = sql!(IssuedUsername::SELECT, " LIMIT $1");

const INSERT_HASHED: &str = sql!(UserIdentifier::INSERT, " ON CONFLICT (domain_id, kind, value) DO NOTHING");

const DELETE_UNHASHED: &str = "DELETE FROM petnames WHERE domain_id = $1 AND petname = $2";

/// An identifier that a write claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClaimedIdentifier {
    /// The generated username.
    Petname,
    /// A username that was set.
    Username,
    /// The external ID.
    ExternalId,
    /// The e-mail address.
    Email,
}

/// Returns the key of the hashes of usernames. Creates it on the first call on a database.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn find_username_key(store: &Store) -> Result<UsernameKey> {
    if let Some(row) = store.read_one(FIND_KEY, params![]).await? {
        return read_key(&row);
    }
    // Another server may create the key first.
    store.write([Statement::new(CREATE_KEY, params![UsernameKey::new(random()).reveal()])]).await?;
    read_key(&store.read_one(FIND_KEY, params![]).await?.context("username_key has no row")?)
}

/// Returns the user of a domain with an external ID.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub(crate) async fn find_by_external_id(store: &Store, domain: &DomainId, external_id: &str) -> Result<Option<UserId>> {
    let params = params![domain, IdentifierKind::ExternalId, external_id];
    let Some(row) = store.read_by_index(FIND_USER, params).await? else { return Ok(None) };
    Ok(row.opt_text(0)?.and_then(UserId::parse))
}

/// Returns the statements that claim the identifiers of a user that differ from those of the user before the change,
/// or all of a new user. Each is refused if another user has, or once had, the identifier.
pub(crate) fn claim_statements(
    user: &HostedUser,
    before: Option<&HostedUser>,
    key: &UsernameKey,
) -> Vec<(ClaimedIdentifier, Statement)> {
    let mut claims = Vec::new();
    if before.is_none() {
        claims.push((ClaimedIdentifier::Petname, claim_username(user, user.petname.as_str(), key)));
    }
    if let Some(username) = &user.username
        && before.is_none_or(|before| before.username.as_ref() != Some(username))
    {
        claims.push((ClaimedIdentifier::Username, claim_username(user, username.as_str(), key)));
    }
    if let Some(external_id) = &user.external_id
        && before.is_none_or(|before| before.external_id.as_ref() != Some(external_id))
    {
        let claim = claim(user, IdentifierKind::ExternalId, external_id.as_str(), "");
        claims.push((ClaimedIdentifier::ExternalId, claim));
    }
    if let Some(email) = &user.email
        && before.is_none_or(|before| before.email.as_ref() != Some(email))
    {
        claims.push((ClaimedIdentifier::Email, claim(user, IdentifierKind::Email, email.as_str(), "")));
    }
    claims
}

/// Returns the statements that release the identifiers that a user had before a change.
pub(crate) fn release_statements(user: &HostedUser) -> [Statement; 2] {
    let HostedUser { domain_id, id, external_id, email, .. } = user;
    let release =
        |kind: IdentifierKind, value: &str| Statement::new(RELEASE_FORMER, params![domain_id, id, kind, value]);
    [
        release(IdentifierKind::ExternalId, external_id.as_ref().map_or("", |external_id| external_id.as_str())),
        release(IdentifierKind::Email, email.as_ref().map_or("", |email| email.as_str())),
    ]
}

/// Returns the statements that follow the deletion of a user.
pub(super) fn delete_statements_of_user(domain: &DomainId, user: &UserId) -> [Statement; 2] {
    [
        Statement::new(ANONYMIZE_USERNAMES_OF_USER, params![domain, user]),
        Statement::new(DELETE_OF_USER, params![domain, user]),
    ]
}

/// Returns the statements that follow the deletion of all users of a domain.
pub(crate) fn delete_without_user_statements(domain: &DomainId) -> [Statement; 2] {
    [Statement::new(ANONYMIZE_USERNAMES, params![domain]), Statement::new(DELETE_WITHOUT_USER, params![domain])]
}

/// Returns the statement that deletes all identifiers of a domain that is deleted.
pub(crate) fn delete_statement_of_domain(domain: &DomainId) -> Statement {
    Statement::new(DELETE_OF_DOMAIN, params![domain])
}

/// Replaces the generated usernames that earlier versions stored as text by their hashes.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn hash_issued_usernames(store: &Store) -> Result<()> {
    loop {
        let rows = store.read(LIST_UNHASHED, params![HASH_BATCH]).await?;
        if rows.is_empty() {
            return Ok(());
        }
        let key = find_username_key(store).await?;
        let mut statements = Vec::with_capacity(2 * rows.len());
        for row in rows {
            let IssuedUsername { domain_id, petname } = IssuedUsername::from_row(row)?;
            let value = key.hash(&domain_id, petname.as_str()).as_str().to_owned();
            statements.push(Statement::new(DELETE_UNHASHED, params![&domain_id, petname]));
            let hashed = UserIdentifier { domain_id, kind: IdentifierKind::Username, value, user_id: None };
            statements.push(Statement::new(INSERT_HASHED, hashed.params()));
        }
        store.write(statements).await?;
    }
}

fn claim_username(user: &HostedUser, username: &str, key: &UsernameKey) -> Statement {
    claim(user, IdentifierKind::Username, key.hash(&user.domain_id, username).as_str(), username)
}

fn claim(user: &HostedUser, kind: IdentifierKind, value: &str, username: &str) -> Statement {
    let identifier = UserIdentifier {
        domain_id: user.domain_id.clone(),
        kind,
        value: value.to_owned(),
        user_id: Some(user.id.clone()),
    };
    Statement::expect_row(CLAIM, identifier.params().into_iter().chain(params![username]).collect())
}

fn read_key(row: &Row) -> Result<UsernameKey> {
    Ok(UsernameKey::from_stored(row.text(0)?.to_owned()))
}
