//! Records refusals of passkeys in the log and in the audit log, at a limited rate.

use serde_json::json;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_platform::limits::Caller;

use crate::domains::audit::insert_domain_entry;
use crate::service::LoginService;
use crate::sessions::{PasskeyAnswerRefusal, Session};

/// Records that a passkey was refused, at most once a minute for each reason, because everyone can cause refusals. A
/// failed write is only logged.
pub(crate) async fn log_refused_passkey(
    service: &LoginService,
    session: &Session,
    caller: &Caller,
    refusal: PasskeyAnswerRefusal,
) {
    if !service.passkey_refusals.is_due(refusal.kind(), service.clock.elapsed()) {
        return;
    }
    let reason = refusal.as_str();
    tracing::warn!(session = %session.id, domain = %session.challenge.domain, reason, "passkey refused");
    let actor = Actor::Address(caller.to_string());
    let details = json!({ "reason": reason, "session_id": session.id });
    let now = service.clock.now();
    let entry = insert_domain_entry(&actor, Action::PasskeyRefused, &session.domain_id, &details, now);
    if let Err(error) = service.store.write([entry]).await {
        tracing::warn!(error = format!("{error:#}"), "could not write the audit log");
    }
}
