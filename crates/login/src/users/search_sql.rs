//! Queries for pages of the list of users, with filters.

use anyhow::Result;
use signpost_store::{Store, Stored, params, sql};

use super::identifier_sql::find_by_external_id;
use super::search::{SearchText, UserFilter};
use super::sql::{find, list, with_credentials};
use super::{Credential, HostedUser};
use crate::ids::{DomainId, UserId};

/// Maximum number of users that a page compares with a search text. It bounds the time for a page of a large domain.
const MAX_COMPARED: u32 = 5_000;

/// Finds a user by the current username.
const FIND_BY_USERNAME: &str = "SELECT id FROM users WHERE domain_id = $1 AND COALESCE(username, petname) = $2";

/// Finds the last user to compare.
const FIND_LAST_COMPARED: &str = "SELECT id FROM users WHERE domain_id = $1 AND id > $2 ORDER BY id LIMIT 1 OFFSET $3";

const SEARCH: &str = sql!(
    HostedUser::SELECT,
    " WHERE domain_id = $1 AND id > $2 AND ($3 = '' OR id <= $3) AND (
          id = $4 OR petname LIKE $6 ESCAPE '!' OR username LIKE $6 ESCAPE '!' OR email LIKE $6 ESCAPE '!'
          OR name LIKE $5 ESCAPE '!' OR LOWER(name) LIKE $6 ESCAPE '!'
          OR external_id LIKE $5 ESCAPE '!' OR LOWER(external_id) LIKE $6 ESCAPE '!')
     ORDER BY id LIMIT $7"
);

/// A page of the list of users.
#[derive(Debug)]
pub struct UserPage {
    /// The users, each with all credentials.
    pub users: Vec<(HostedUser, Vec<Credential>)>,
    /// The position after which the next page begins, if there is one.
    pub next: Option<UserId>,
}

/// Returns a page of the users of a domain that match a filter, in the order of their IDs, after the ID `after`. It has at
/// most `limit` users, and may have fewer before the next page in a search of a domain with many users.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn find_page(
    store: &Store,
    domain: &DomainId,
    filter: &UserFilter,
    after: Option<&UserId>,
    limit: u32,
) -> Result<UserPage> {
    let UserFilter { external_id, username, text } = filter;
    let exact = match (external_id, username) {
        (Some(external_id), _) => Some(find_by_external_id(store, domain, external_id.as_str()).await?),
        (None, Some(username)) => Some(find_by_username(store, domain, username.as_str()).await?),
        (None, None) => None,
    };
    match (exact, text) {
        (Some(None), _) => Ok(UserPage { users: Vec::new(), next: None }),
        (Some(Some(id)), _) => {
            let found = find(store, domain, &id).await?;
            let is_listed = |user: &HostedUser| after.is_none_or(|after| *after < user.id) && filter.matches(user);
            Ok(UserPage { users: found.into_iter().filter(|(user, _)| is_listed(user)).collect(), next: None })
        }
        (None, Some(text)) => search(store, domain, text, after, limit).await,
        (None, None) => {
            let mut users = list(store, domain, after, limit + 1).await?;
            let next = cut(&mut users, limit);
            Ok(UserPage { users, next })
        }
    }
}

async fn find_by_username(store: &Store, domain: &DomainId, username: &str) -> Result<Option<UserId>> {
    let Some(row) = store.read_by_index(FIND_BY_USERNAME, params![domain, username]).await? else { return Ok(None) };
    Ok(UserId::parse(row.text(0)?))
}

async fn search(
    store: &Store,
    domain: &DomainId,
    text: &SearchText,
    after: Option<&UserId>,
    limit: u32,
) -> Result<UserPage> {
    let after = after.map_or("", UserId::as_str);
    let last = store.read_one(FIND_LAST_COMPARED, params![domain, after, MAX_COMPARED - 1]).await?;
    let last = match last {
        Some(row) => UserId::parse(row.text(0)?),
        None => None,
    };
    let [exact, lower] = text.patterns();
    let end = last.as_ref().map_or("", UserId::as_str);
    let params = params![domain, after, end, text.as_str(), exact, lower, limit + 1];
    let users = store.read(SEARCH, params).await?.into_iter().map(HostedUser::from_row).collect::<Result<Vec<_>>>()?;
    let mut users = with_credentials(store, domain, users).await?;
    let next = cut(&mut users, limit).or(last);
    Ok(UserPage { users, next })
}

/// Removes the additional user that was read to detect a next page. Returns the last user of the page before a next page.
fn cut(users: &mut Vec<(HostedUser, Vec<Credential>)>, limit: u32) -> Option<UserId> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    if users.len() <= limit {
        return None;
    }
    users.truncate(limit);
    users.last().map(|(user, _)| user.id.clone())
}
