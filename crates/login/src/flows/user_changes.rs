//! Changes and creates users as the operator or the integrator asks, together with the audit entry and the event.

use anyhow::anyhow;
use jiff::Timestamp;
use serde_json::{Value, json};
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_store::{Statement, Store, WriteOutcome, random};

use crate::domains::Domain;
use crate::domains::audit::insert_domain_entry;
use crate::events::{UserChanges, UserEvent, queue_user_event};
use crate::ids::UserId;
use crate::users::identifier_sql::{
    ClaimedIdentifier, claim_statements, find_by_external_id, find_username_key, release_statements,
};
use crate::users::patch_sql::{insert_statement, patch_statement};
use crate::users::{HostedUser, UserPatch, Username, sql};

/// Maximum attempts at a write that is refused because of a concurrent write.
const MAX_ATTEMPTS: usize = 16;

/// A change of a user.
#[derive(Clone, Copy, Debug)]
pub struct UserUpdate<'a> {
    /// The domain of the user.
    pub domain: &'a Domain,
    /// The user ID.
    pub user: &'a UserId,
    /// The change.
    pub patch: &'a UserPatch,
    /// The author of the change.
    pub by: &'a Actor,
    /// Whether the author may change what applications trust: usernames, e-mail addresses and existing external IDs.
    pub can_manage: bool,
}

/// A user to create without credentials.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserCreation<'a> {
    pub(crate) domain: &'a Domain,
    /// The members of the user. A member that would be removed is absent.
    pub(crate) members: &'a UserPatch,
    pub(crate) by: &'a Actor,
}

/// The reason why a user was not changed or created.
#[derive(Debug, thiserror::Error)]
pub enum ChangeUserError {
    /// There is no such user, or no such domain.
    #[error("there is no such user")]
    NotFound,
    /// The change requires the scope `manage`.
    #[error("the change requires an API key with the scope manage")]
    ManageRequired,
    /// Another user has the external ID.
    #[error("{} has this external ID", .0)]
    ExternalIdExists(UserId),
    /// Another user has, or once had, the username.
    #[error("another user of the domain has, or once had, this username")]
    UsernameTaken,
    /// Another user has the e-mail address.
    #[error("another user of the domain has this e-mail address")]
    EmailTaken,
    /// The database is unavailable.
    #[error(transparent)]
    Internal(#[from] anyhow::Error),
}

/// Changes a user.
///
/// # Errors
/// Returns [`ChangeUserError`].
pub async fn change_user(store: &Store, update: UserUpdate<'_>, now: Timestamp) -> Result<(), ChangeUserError> {
    let UserUpdate { domain, user, patch, by, can_manage } = update;
    let key = find_username_key(store).await?;
    for _ in 0..MAX_ATTEMPTS {
        let (before, _) = sql::find(store, &domain.id, user).await?.ok_or(ChangeUserError::NotFound)?;
        if !can_manage && patch.requires_manage(&before) {
            return Err(ChangeUserError::ManageRequired);
        }
        let after = patch.apply(&before);
        let mut details = patch.to_details(&before, &after);
        details.insert("user_id".to_owned(), json!(user));
        let claims = claim_statements(&after, Some(&before), &key);
        let claimed: Vec<_> = claims.iter().map(|(identifier, _)| *identifier).collect();
        let mut statements = vec![patch_statement(&before, &after)];
        statements.extend(claims.into_iter().map(|(_, claim)| claim));
        statements.extend(release_statements(&after));
        statements.push(insert_domain_entry(by, Action::UserChanged, &domain.id, &details.into(), now));
        statements.extend(queue_user_event(domain, user, UserEvent::Updated(&changes(&before, &after)), now));
        match store.write(statements).await? {
            WriteOutcome::Committed(_) => return Ok(()),
            WriteOutcome::Refused(position) => {
                let refused = position.checked_sub(1).and_then(|position| claimed.get(position));
                if let Some(error) = find_conflict(store, &after, refused.copied()).await? {
                    return Err(error);
                }
            }
        }
    }
    Err(anyhow!("{user} was changed by others all the time").into())
}

/// Creates a user without credentials, in one write with the statement that `extra_statement` returns for the user.
///
/// # Errors
/// Returns [`ChangeUserError`]; `NotFound` if the domain was deleted, or `extra_statement` was refused.
pub(crate) async fn create_user(
    store: &Store,
    creation: UserCreation<'_>,
    extra_statement: impl Fn(&HostedUser) -> Option<Statement>,
    now: Timestamp,
) -> Result<HostedUser, ChangeUserError> {
    let UserCreation { domain, members, by } = creation;
    let key = find_username_key(store).await?;
    for _ in 0..MAX_ATTEMPTS {
        let user = HostedUser::new(&domain.id, UserId::new(now, random()), Username::draw(random()), now);
        let user = members.apply(&user);
        let details = json!({ "user_id": &user.id, "external_id": &user.external_id });
        let claims = claim_statements(&user, None, &key);
        let claimed: Vec<_> = claims.iter().map(|(identifier, _)| *identifier).collect();
        let mut statements: Vec<_> = claims.into_iter().map(|(_, claim)| claim).collect();
        statements.push(insert_statement(&user));
        statements.push(insert_domain_entry(by, Action::UserCreated, &domain.id, &details, now));
        statements.extend(extra_statement(&user));
        match store.write(statements).await? {
            WriteOutcome::Committed(_) => return Ok(user),
            WriteOutcome::Refused(position) if position >= claimed.len() => return Err(ChangeUserError::NotFound),
            WriteOutcome::Refused(position) => {
                if let Some(error) = find_conflict(store, &user, claimed.get(position).copied()).await? {
                    return Err(error);
                }
            }
        }
    }
    Err(anyhow!("a user of {} could not be created", domain.id).into())
}

/// Returns the error for a refused claim. `None` if another attempt may succeed: the generated username was taken, the
/// user has changed, or the other user has released the external ID.
async fn find_conflict(
    store: &Store,
    user: &HostedUser,
    refused: Option<ClaimedIdentifier>,
) -> Result<Option<ChangeUserError>, ChangeUserError> {
    match refused {
        None | Some(ClaimedIdentifier::Petname) => Ok(None),
        Some(ClaimedIdentifier::Username) => Ok(Some(ChangeUserError::UsernameTaken)),
        Some(ClaimedIdentifier::Email) => Ok(Some(ChangeUserError::EmailTaken)),
        Some(ClaimedIdentifier::ExternalId) => {
            let Some(external_id) = &user.external_id else { return Ok(None) };
            let other = find_by_external_id(store, &user.domain_id, external_id.as_str()).await?;
            Ok(other.map(ChangeUserError::ExternalIdExists))
        }
    }
}

/// Returns the changed members of a user for the event.
fn changes(before: &HostedUser, after: &HostedUser) -> UserChanges {
    let members: [(&str, Value, Value); 6] = [
        ("username", json!(before.username()), json!(after.username())),
        ("external_id", json!(before.external_id), json!(after.external_id)),
        ("email", json!(before.email), json!(after.email)),
        ("name", json!(before.name), json!(after.name)),
        ("groups", json!(before.groups), json!(after.groups)),
        ("metadata", json!(before.metadata), json!(after.metadata)),
    ];
    members.into_iter().fold(UserChanges::default(), |changes, (member, old, new)| changes.with(member, old, new))
}
