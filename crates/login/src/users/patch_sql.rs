//! Statements that change and insert users as the operator or the integrator asks.

use signpost_store::{Json, Statement, Stored, Value, params};

use super::{HostedUser, UserGroups, UserMetadata};

/// Changes a user who has not changed since the read. `$3` to `$8` are the new values and `$9` to `$14` the old ones.
const PATCH: &str = "
    UPDATE users SET name = $3, groups = $4, username = $5, external_id = $6, email = $7, metadata = $8
    WHERE domain_id = $1 AND id = $2 AND COALESCE(name, '') = $9 AND COALESCE(groups, '') = $10
      AND COALESCE(username, '') = $11 AND COALESCE(external_id, '') = $12 AND COALESCE(email, '') = $13
      AND COALESCE(metadata, '') = $14";

/// Returns the statement that stores a changed user, and locks it. It is refused if the user was changed or removed since
/// `before` was read.
pub(crate) fn patch_statement(before: &HostedUser, after: &HostedUser) -> Statement {
    let mut params = params![&after.domain_id, &after.id];
    params.extend(values(after));
    params.extend(values(before).map(|value| match value {
        Value::Null => Value::Text(String::new()),
        value => value,
    }));
    Statement::expect_row(PATCH, params)
}

/// Returns the statement that inserts a user without credentials. The write also claims the identifiers of the user.
pub(crate) fn insert_statement(user: &HostedUser) -> Statement {
    Statement::expect_row(HostedUser::INSERT, user.clone().params())
}

/// Returns the values of the columns that a change may set.
fn values(user: &HostedUser) -> [Value; 6] {
    let HostedUser { name, groups, username, external_id, email, metadata, .. } = user.clone();
    let groups: Option<Json<UserGroups>> = groups.map(Json);
    let metadata: Option<Json<UserMetadata>> = metadata.map(Json);
    [name.into(), groups.into(), username.into(), external_id.into(), email.into(), metadata.into()]
}
