//! The events of a login: the event of the session itself, and the events about credentials that the
//! login adds to a user.

use jiff::Timestamp;
use signpost_auth::Mode;
use signpost_store::Statement;
use url::Url;

use crate::domains::Domain;
use crate::events::{UserEvent, queue_user_event};
use crate::sessions::Session;
use crate::users::Credential;

/// The recipients of the events of a login.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoginEvents<'a> {
    /// The URL for the event of the session, if it is sent.
    pub(crate) url: Option<&'a Url>,
    domain: Option<&'a Domain>,
    session: &'a Session,
}

impl<'a> LoginEvents<'a> {
    /// Returns the recipients for the session of a domain. `domain` is `None` if it was deleted, and for the system
    /// domain.
    pub(crate) fn new(domain: Option<&'a Domain>, session: &'a Session) -> Self {
        Self { url: session_event_url(domain, session), domain, session }
    }

    /// Returns the statement that queues the event about a credential that the login adds to a user.
    pub(crate) fn credential_added(&self, credential: &Credential, now: Timestamp) -> Option<Statement> {
        let added = UserEvent::CredentialAdded(credential, Some(&self.session.id));
        queue_user_event(self.domain?, &credential.user_id, added, now)
    }
}

/// Returns the URL for the session's event: the domain's event URL, or else the webhook URL of the session. There is none
/// at a system domain, for a login at the account pages, and for kinds that the domain has not selected. The events of
/// OpenID Connect logins, which the client receives as a response, are sent only to an event URL.
fn session_event_url<'a>(domain: Option<&'a Domain>, session: &'a Session) -> Option<&'a Url> {
    let mode = session.challenge.mode;
    if session.account.is_server() || (session.is_for_account() && mode != Mode::Link) {
        return None;
    }
    if domain.is_some_and(|domain| !domain.receives(&mode.into())) {
        return None;
    }
    match domain.and_then(|domain| domain.event_url.as_ref()) {
        Some(url) => Some(url),
        None if session.is_for_client() => None,
        None => Some(&session.webhook_url),
    }
}
