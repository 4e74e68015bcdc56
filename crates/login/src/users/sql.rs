//! Queries and statements for users of hosted domains and their credentials. A write that changes
//! both locks the user first, so that two such writes cannot deadlock.

use anyhow::Result;
use jiff::Timestamp;
use signpost_auth::PasskeyHandle;
use signpost_store::{Row, Statement, Store, Stored, Value, Values, params, sql};

use super::identifier_sql::claim_statements;
use super::{
    Credential, CredentialKey, CredentialRow, HostedUser, LinkCondition, LoginSubject, MAX_CREDENTIALS, NewUser,
    UsernameKey,
};
use crate::ids::{DomainId, UserId};

const FIND_BY_KEY: &str = sql!(CredentialRow::SELECT, " WHERE domain_id = $1 AND public_key = $2");

/// Selects the credentials of all users on a page of the list.
const CREDENTIALS: &str = sql!(
    CredentialRow::SELECT,
    " WHERE domain_id = $1 AND user_id >= $2 AND user_id <= $3 ORDER BY user_id, created_at, public_key"
);

const LIST: &str = sql!(HostedUser::SELECT, " WHERE domain_id = $1 AND id > $2 ORDER BY id LIMIT $3");

/// `$1` is the domain and `$5` the user, the first and the fifth column of a row. Nothing is added if the key or the
/// passkey exists.
const INSERT_CREDENTIAL: &str = sql!(
    CredentialRow::INSERT_IF,
    " WHERE (SELECT COUNT(*) FROM credentials WHERE domain_id = $1 AND user_id = $5) < $10 ON CONFLICT DO NOTHING"
);

/// Adds a key by a link if the user still has the credential that opened the link.
const INSERT_LINKED: &str = sql!(
    CredentialRow::INSERT_IF,
    " WHERE (SELECT COUNT(*) FROM credentials WHERE domain_id = $1 AND user_id = $5) < $10
        AND EXISTS (SELECT 1 FROM credentials AS opener WHERE opener.domain_id = $1 AND opener.user_id = $5 AND opener.id = $11)
     ON CONFLICT DO NOTHING"
);

/// Adds the first key of a user by a link.
const INSERT_FIRST: &str = sql!(
    CredentialRow::INSERT_IF,
    " WHERE NOT EXISTS (SELECT 1 FROM credentials WHERE domain_id = $1 AND user_id = $5) ON CONFLICT DO NOTHING"
);

const INSERT_OFFERED: &str = sql!(
    CredentialRow::INSERT_IF,
    " WHERE (SELECT COUNT(*) FROM credentials WHERE domain_id = $1 AND user_id = $5) < $10
        AND EXISTS (SELECT 1 FROM users WHERE domain_id = $1 AND id = $5 AND passkey_handle = $11)
     ON CONFLICT DO NOTHING"
);

/// Locks a user before a credential is added: the second of concurrent additions counts the first. The user handle of a
/// passkey must belong to the user.
const LOCK_USER_WITH_HANDLE: &str = "
    UPDATE users SET passkey_handle = COALESCE(passkey_handle, $3)
    WHERE domain_id = $1 AND id = $2 AND COALESCE(passkey_handle, $3, '') = COALESCE($3, passkey_handle, '')";

/// Records a login. Never sets an earlier time than the last login, because the clock of the server
/// that recorded it may have been ahead. A login is always later than the sign-out before it.
const SET_LAST_LOGIN: &str = "
    UPDATE users SET last_login_at = CASE
        WHEN last_login_at > $3 AND (signed_out_at IS NULL OR last_login_at > signed_out_at) THEN last_login_at
        WHEN signed_out_at >= $3 THEN signed_out_at + 1
        ELSE $3
    END
    WHERE domain_id = $1 AND id = $2";

const SET_LAST_USED: &str = "
    UPDATE credentials SET last_login_at = $4, sign_count = COALESCE($5, sign_count)
    WHERE domain_id = $1 AND user_id = $2 AND public_key = $3";

const COUNT: &str = "SELECT COUNT(*) FROM users WHERE domain_id = $1";

const COUNT_UP_TO: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM users LIMIT $1) AS found";

const FIND: &str = sql!(HostedUser::SELECT, " WHERE domain_id = $1 AND id = $2");

/// Changes nothing, but conflicts if the user's last login was before their last sign-out in all
/// browsers.
const REQUIRE_LOGIN_AFTER_SIGN_OUT: &str = "
    UPDATE users SET last_login_at = last_login_at
    WHERE domain_id = $1 AND id = $2 AND (signed_out_at IS NULL OR signed_out_at < COALESCE(last_login_at, created_at))";

/// Changes nothing, but locks the user, and conflicts if the user has a credential.
const REQUIRE_NO_CREDENTIAL: &str = "
    UPDATE users SET last_login_at = last_login_at
    WHERE domain_id = $1 AND id = $2
      AND NOT EXISTS (SELECT 1 FROM credentials WHERE credentials.domain_id = $1 AND credentials.user_id = $2)";

impl LoginSubject {
    /// Returns the statements of the login in the tables of users. Refused if the key was concurrently added to a user
    /// or removed, if the username was used before, if the user was deleted, or if the user has the maximum number of
    /// credentials. `key` hashes the username of a new user.
    pub(crate) fn statements(self, key: &UsernameKey, now: Timestamp) -> Vec<Statement> {
        match self {
            Self::Known(credential) => {
                let Credential { domain_id, user_id, public_key, passkey, .. } = *credential;
                let sign_count = passkey.map(|passkey| i64::from(passkey.sign_count));
                vec![
                    Statement::expect_row(SET_LAST_LOGIN, params![&domain_id, &user_id, now]),
                    Statement::expect_row(SET_LAST_USED, params![&domain_id, &user_id, public_key, now, sign_count]),
                ]
            }
            Self::New(new) => {
                let NewUser { user, credential } = *new;
                let claims = claim_statements(&user, None, key).into_iter().map(|(_, claim)| claim);
                let insert = Statement::expect_row(HostedUser::INSERT, user.params());
                std::iter::once(insert_credential(credential)).chain(claims).chain([insert]).collect()
            }
            Self::Linked { credential, handle, condition } => {
                let lock = lock_user(&credential, handle);
                let insert = match condition {
                    LinkCondition::None => insert_credential(*credential),
                    LinkCondition::HasCredential(opener) => {
                        let params = insert_params(*credential).into_iter().chain(params![opener]).collect();
                        Statement::expect_row(INSERT_LINKED, params)
                    }
                    LinkCondition::NoCredential => {
                        Statement::expect_row(INSERT_FIRST, CredentialRow::from(*credential).params())
                    }
                };
                vec![lock, insert]
            }
        }
    }
}

/// Returns the statements that add a credential to a user. Refused if there is no such user, if the key exists, or if
/// the user has the maximum number of credentials.
pub(super) fn add_statements(credential: Credential) -> [Statement; 2] {
    [lock_user(&credential, None), insert_credential(credential)]
}

fn lock_user(credential: &Credential, handle: Option<PasskeyHandle>) -> Statement {
    Statement::expect_row(
        LOCK_USER_WITH_HANDLE,
        params![&credential.domain_id, &credential.user_id, handle.map(|handle| handle.to_string())],
    )
}

fn insert_credential(credential: Credential) -> Statement {
    Statement::expect_row(INSERT_CREDENTIAL, insert_params(credential))
}

/// Returns the statement that refuses a write unless the user has logged in after their last sign-out in all browsers.
#[must_use]
pub(crate) fn require_login_after_sign_out(domain: &DomainId, user: &UserId) -> Statement {
    Statement::expect_row(REQUIRE_LOGIN_AFTER_SIGN_OUT, params![domain, user])
}

/// Returns the statement that refuses a write if the user has a credential, and locks the user.
#[must_use]
pub(crate) fn require_no_credential(domain: &DomainId, user: &UserId) -> Statement {
    Statement::expect_row(REQUIRE_NO_CREDENTIAL, params![domain, user])
}

/// Returns the statement that adds a passkey from a login with another credential, for the user with this user handle.
/// It follows the statements of the login, which succeeds even if the passkey cannot be added.
pub(crate) fn add_offered_statement(credential: Credential, handle: PasskeyHandle) -> Statement {
    let params = insert_params(credential).into_iter().chain([handle.to_string().into()]).collect();
    Statement::new(INSERT_OFFERED, params)
}

fn insert_params(credential: Credential) -> Vec<Value> {
    CredentialRow::from(credential).params().into_iter().chain(params![MAX_CREDENTIALS]).collect()
}

/// Returns a domain's credential with this key.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn find_by_key(store: &Store, domain: &DomainId, key: &CredentialKey) -> Result<Option<Credential>> {
    let Some(row) = store.read_by_index(FIND_BY_KEY, params![domain, key.canonical()]).await? else { return Ok(None) };
    read_credential(row).map(Some)
}

/// Returns at most `max` users of a domain in the order of their IDs, from the first after `after`, each with all
/// credentials.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn list(
    store: &Store,
    domain: &DomainId,
    after: Option<&UserId>,
    max: u32,
) -> Result<Vec<(HostedUser, Vec<Credential>)>> {
    let after = after.map_or("", UserId::as_str);
    let rows = store.read(LIST, params![domain, after, i64::from(max)]).await?;
    with_credentials(store, domain, rows.into_iter().map(HostedUser::from_row).collect::<Result<Vec<_>>>()?).await
}

/// Adds all credentials to users of a domain, who are in the order of their IDs.
pub(super) async fn with_credentials(
    store: &Store,
    domain: &DomainId,
    users: Vec<HostedUser>,
) -> Result<Vec<(HostedUser, Vec<Credential>)>> {
    let (Some(first), Some(last)) = (users.first(), users.last()) else { return Ok(Vec::new()) };
    let mut credentials = list_credentials(store, domain, &first.id, &last.id).await?.into_iter().peekable();
    let mut listed = Vec::with_capacity(users.len());
    for user in users {
        // A user may have been created or deleted between the two reads.
        while credentials.next_if(|credential| credential.user_id < user.id).is_some() {}
        let mut own = Vec::new();
        while let Some(credential) = credentials.next_if(|credential| credential.user_id == user.id) {
            own.push(credential);
        }
        listed.push((user, own));
    }
    Ok(listed)
}

/// Returns the number of users of a domain.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn count(store: &Store, domain: &DomainId) -> Result<i64> {
    store.count(COUNT, params![domain]).await
}

/// Returns the number of users of all domains, or `max` if there are more.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn count_up_to(store: &Store, max: u32) -> Result<i64> {
    store.count(COUNT_UP_TO, params![max]).await
}

/// Returns a domain's user, with all credentials.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn find(store: &Store, domain: &DomainId, user: &UserId) -> Result<Option<(HostedUser, Vec<Credential>)>> {
    let Some(row) = store.read_by_index(FIND, params![domain, user]).await? else { return Ok(None) };
    let user = HostedUser::from_row(row)?;
    let credentials = list_credentials(store, domain, &user.id, &user.id).await?;
    Ok(Some((user, credentials)))
}

/// Returns a domain's user, with the credential of this key in its canonical spelling, if the user has it. Reads two
/// rows by index, so that callers can use it in every request.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn find_with_key(
    store: &Store,
    domain: &DomainId,
    user: &UserId,
    public_key: &str,
) -> Result<Option<(HostedUser, Credential)>> {
    let Some(row) = store.read_by_index(FIND_BY_KEY, params![domain, public_key]).await? else { return Ok(None) };
    let credential = read_credential(row)?;
    if credential.user_id != *user {
        return Ok(None);
    }
    let Some(row) = store.read_by_index(FIND, params![domain, user]).await? else { return Ok(None) };
    Ok(Some((HostedUser::from_row(row)?, credential)))
}

/// Returns the credentials of the users from the first ID to the last, ordered by user ID and then by age, oldest
/// first.
async fn list_credentials(store: &Store, domain: &DomainId, first: &UserId, last: &UserId) -> Result<Vec<Credential>> {
    store.read(CREDENTIALS, params![domain, first, last]).await?.into_iter().map(read_credential).collect()
}

/// Reads a credential from the next columns of a row.
///
/// # Errors
/// Returns an error if a column cannot be read; the error names it.
pub fn read_credential_columns(values: &mut Values) -> Result<Credential> {
    Credential::from_stored(CredentialRow::from_values(values)?)
}

fn read_credential(row: Row) -> Result<Credential> {
    Credential::from_stored(CredentialRow::from_row(row)?)
}
