//! Operators, who are users of the system domain with access to the console, and the links that add
//! them.

use std::time::Duration;

use anyhow::{Context, Result};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::json;
use signpost_login::ids::UserId;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_platform::pages::cookie::{CookieHash, CookieSecret};
use signpost_store::{Statement, Store, Stored, WriteError, params, random, rows, sql};

/// Lifetime of a link that adds an operator.
pub const LINK_LIFETIME: Duration = Duration::from_mins(30);
/// Maximum number of operators for new links, so that lists of operators need no pages.
pub const MAX_OPERATORS: u32 = 100;
/// Maximum number of unused links. The oldest are deleted.
const MAX_LINKS: i64 = 20;

const LIST: &str = sql!(Operator::SELECT, " ORDER BY added_at, user_id");
const FIND: &str = sql!(Operator::SELECT, " WHERE user_id = $1");
const COUNT: &str = "SELECT COUNT(*) FROM operators";
const HAS_ANY: &str = "SELECT 1 FROM operators LIMIT 1";
/// Inserts an operator by an open link, and records the creator of the link.
const ADD_BY_LINK: &str = sql!(
    "INSERT INTO operators (user_id, added_at, added_by)
     SELECT $1, CAST($2 AS BIGINT), made_by FROM console_links
     WHERE browser = $3 AND used_at IS NULL AND expires_at > $2 AND ",
    CREATOR_MAY_ADD,
    " ON CONFLICT (user_id) DO NOTHING"
);
/// A link is valid only while its creator is an operator. `made_by` is an [`Actor`]: links of the command line and of
/// the server have no operator.
const CREATOR_MAY_ADD: &str = "(made_by NOT LIKE 'operator:%'
    OR EXISTS (SELECT 1 FROM operators AS creator WHERE console_links.made_by = 'operator:' || creator.user_id))";
const REMOVE: &str = "DELETE FROM operators WHERE user_id = $1";
const DELETE_LINKS_OF: &str = "DELETE FROM console_links WHERE made_by = $1";
/// Changes nothing, but conflicts if the user is not an operator.
const REQUIRE: &str = "UPDATE operators SET added_at = added_at WHERE user_id = $1";

const FORGET_LINKS: &str = "DELETE FROM console_links WHERE expires_at <= $1 OR used_at IS NOT NULL";
const TRIM_LINKS: &str = "
    DELETE FROM console_links WHERE token NOT IN (SELECT token FROM console_links ORDER BY made_at DESC, token LIMIT $1)";
const OPEN_LINK: &str = sql!(
    "UPDATE console_links SET browser = $2
     WHERE token = $1 AND browser IS NULL AND used_at IS NULL AND expires_at > $3 AND ",
    CREATOR_MAY_ADD
);
const IS_OPEN: &str = sql!(
    "SELECT 1 FROM console_links WHERE browser = $1 AND used_at IS NULL AND expires_at > $2 AND ",
    CREATOR_MAY_ADD
);
const USE_LINK: &str = "
    UPDATE console_links SET used_at = $2 WHERE browser = $1 AND used_at IS NULL AND expires_at > $2";

rows! {
    /// A user of the system domain who may use the console.
    #[derive(Clone, Debug, Serialize)]
    pub struct Operator in "operators" by [user_id] {
        /// The user of the system domain.
        pub user_id: UserId,
        /// The time when the user became an operator.
        pub added_at: Timestamp,
        /// The creator of the link; `operator` is the command line.
        pub added_by: String,
    }
}

rows! {
    /// A link that adds an operator.
    #[derive(Clone, Debug)]
    pub struct ConsoleLink in "console_links" by [token] {
        token: CookieHash,
        made_by: String,
        made_at: Timestamp,
        expires_at: Timestamp,
    } mutable {
        /// The first browser that opened the link. No other browser can use it.
        pub browser: Option<CookieHash>,
        /// The time when the link added an operator.
        pub used_at: Option<Timestamp>,
    }
}

/// Creates a link, and returns its token. `None` if there are [`MAX_OPERATORS`] already.
///
/// # Errors
/// Returns the errors of [`Store::write`].
pub async fn make_link(store: &Store, by: &Actor, now: Timestamp) -> Result<Option<CookieSecret>> {
    let operators = store.read_one(COUNT, params![]).await?.context("COUNT is one row")?.int(0)?;
    if operators >= MAX_OPERATORS.into() {
        return Ok(None);
    }
    let token = CookieSecret::from_bytes(random());
    let link = ConsoleLink {
        token: token.hash(),
        made_by: by.to_string(),
        made_at: now,
        expires_at: now + SignedDuration::try_from(LINK_LIFETIME)?,
        browser: None,
        used_at: None,
    };
    let entry = insert_entry(by, None, Action::ConsoleLinkCreated, "", &json!({}), now);
    let statements = [
        Statement::new(FORGET_LINKS, params![now]),
        Statement::expect_row(ConsoleLink::INSERT, link.params()),
        Statement::new(TRIM_LINKS, params![MAX_LINKS]),
        entry,
    ];
    store.write(statements).await?;
    Ok(Some(token))
}

/// Binds a set-up link to the browser that opens it first.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if the link has expired, or another browser has opened it.
pub async fn open_link(
    store: &Store,
    token: &CookieSecret,
    browser: &CookieSecret,
    now: Timestamp,
) -> Result<(), WriteError> {
    let params = params![token.hash().as_str(), browser.hash().as_str(), now];
    store.commit([Statement::expect_row(OPEN_LINK, params)]).await
}

/// Returns true if a browser has opened a link that is still valid.
///
/// # Errors
/// Returns the errors of [`Store::read`].
pub async fn has_link(store: &Store, browser: &CookieSecret, now: Timestamp) -> Result<bool> {
    Ok(store.read_one(IS_OPEN, params![browser.hash().as_str(), now]).await?.is_some())
}

/// Makes a user an operator by the set-up link that their browser opened.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if the link is not valid, for example because its creator is no longer an operator.
/// If the user is an operator already, returns it too, but the link stays valid.
pub async fn add_by_link(
    store: &Store,
    browser: &CookieSecret,
    user: &UserId,
    now: Timestamp,
) -> Result<(), WriteError> {
    let actor = Actor::Console(user.to_string());
    let entry = insert_entry(&actor, None, Action::OperatorAdded, user.as_str(), &json!({}), now);
    let statements = [
        Statement::expect_row(ADD_BY_LINK, params![user, now, browser.hash().as_str()]),
        Statement::expect_row(USE_LINK, params![browser.hash().as_str(), now]),
        entry,
    ];
    store.commit(statements).await
}

/// Removes an operator together with the links that they created.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if no operator has this ID.
pub async fn remove(store: &Store, user: &UserId, by: &Actor, now: Timestamp) -> Result<(), WriteError> {
    let entry = insert_entry(by, None, Action::OperatorRemoved, user.as_str(), &json!({}), now);
    let links = Statement::new(DELETE_LINKS_OF, params![Actor::Console(user.to_string()).to_string()]);
    store.commit([Statement::expect_row(REMOVE, params![user]), links, entry]).await
}

/// Returns the statement that makes a write conflict unless the user is an operator: for writes long after the
/// authorization of their request.
#[must_use]
pub(super) fn require_statement(user: &UserId) -> Statement {
    Statement::expect_row(REQUIRE, params![user])
}

/// Returns all operators, oldest first: [`MAX_OPERATORS`], and a few more from links that were created before.
///
/// # Errors
/// Returns the errors of [`Store::read`].
pub async fn list(store: &Store) -> Result<Vec<Operator>> {
    store.read(LIST, params![]).await?.into_iter().map(Operator::from_row).collect()
}

/// Returns the operator with this user ID.
///
/// # Errors
/// Returns the errors of [`Store::read`].
pub async fn find(store: &Store, user: &UserId) -> Result<Option<Operator>> {
    store.read_by_index(FIND, params![user]).await?.map(Operator::from_row).transpose()
}

/// Returns true if there is any operator.
///
/// # Errors
/// Returns the errors of [`Store::read`].
pub async fn has_any(store: &Store) -> Result<bool> {
    Ok(store.read_one(HAS_ANY, params![]).await?.is_some())
}

/// Returns the URL of a link. The token is in the fragment, because browsers do not send it to servers.
#[must_use]
pub fn setup_link(public_address: &str, token: &CookieSecret) -> String {
    format!("{public_address}/console/setup#{}", token.reveal())
}
