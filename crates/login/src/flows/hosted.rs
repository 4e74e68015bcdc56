//! The hosted handlers for wallets' answers: `/hosted/login`, `/hosted/register` and
//! `/hosted/link`.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Value, json};
use signpost_auth::receiver::{self, HandlerRefusal, HandlerResponse, Host, LoggedIn};
use signpost_auth::{Answer, Challenge, HostBoundChallenge, Mode, PublicKey, VerifiedAnswer};
use signpost_platform::accounts::Environment;
use signpost_platform::web::problem::Problem;

use crate::flows::answer_context::AnswerContext;
use crate::flows::lookup::domain_for_session;
use crate::flows::page_answers;
use crate::flows::refusals::{count_answer, internal_error};
use crate::flows::submit::accept_verified_answer;
use crate::service::LoginService;
use crate::sessions::{self, Session};
use crate::users::{Credential, sql};

/// Connects the handler contract of `signpost-auth` to this service.
struct HostedHandlers<'a> {
    service: &'a LoginService,
    environment: Environment,
    context: AnswerContext,
}

/// Handles the answer of a wallet by the handler contract (specification, §4).
pub(crate) async fn handle_answer(
    service: &LoginService,
    environment: Environment,
    mode: Mode,
    context: AnswerContext,
    body: &Bytes,
) -> HandlerResponse {
    let answer = match Answer::parse(body) {
        Ok(answer) => answer,
        Err(error) => return HandlerRefusal::InvalidAnswer(error).into(),
    };
    let handlers = HostedHandlers { service, environment, context };
    // On the heap, because the future contains several copies of the session and of its domain.
    let handled = Box::pin(receiver::handle_answer(&handlers, mode, answer.clone(), service.clock.now().as_second()));
    match handled.await {
        Ok(response) => response,
        Err(refusal) => {
            let Some(challenge) = handlers.read_challenge(&answer.challenge) else { return refusal.into() };
            page_answers::explain_refusal(service, environment, &answer, &challenge, refusal).await.into()
        }
    }
}

/// `GET /hosted/{mode}?challenge=`: returns the context that a wallet shows before its user signs.
pub(crate) async fn show_context(
    service: &LoginService,
    environment: Environment,
    mode: Mode,
    context: AnswerContext,
    challenge: Option<&str>,
) -> Response {
    match read_context(&HostedHandlers { service, environment, context }, mode, challenge).await {
        Ok(context) => ([(header::CACHE_CONTROL, "no-store")], Json(context)).into_response(),
        Err(refusal) => refusal.into_response(),
    }
}

async fn read_context(
    handlers: &HostedHandlers<'_>,
    mode: Mode,
    challenge: Option<&str>,
) -> Result<Value, HandlerRefusal> {
    let challenge = match Challenge::parse(challenge.unwrap_or_default()) {
        Ok(challenge) if challenge.mode == mode => challenge,
        _ => return Err(HandlerRefusal::NoPendingSession),
    };
    let session = handlers.find_session(&challenge, 0).await?.ok_or(HandlerRefusal::NoPendingSession)?;
    let domain = domain_for_session(handlers.service, &session).await.map_err(internal_error)?;
    let domain = domain.ok_or(HandlerRefusal::NoPendingSession)?;
    let mut context = json!({
        "domain": session.challenge.domain, "mode": session.challenge.mode, "expires_at": session.expires_at,
        "verified": domain.verified_at.is_some(),
        "number": session.confirm_code.is_some() && !handlers.context.owns(&session),
    });
    if session.confirm_code.is_some() {
        context["confirm"] = "code".into();
    }
    if let Some(requester) = &session.options.requester {
        context["requester"] = json!(requester);
    }
    Ok(context)
}

/// Returns an error before the handlers in the form of the handler contract.
pub(crate) fn to_response(error: &Problem) -> Response {
    (error.status_and_code().0, error.headers(), Json(json!({ "error": error.to_string() }))).into_response()
}

impl HostedHandlers<'_> {
    async fn accept(
        &self,
        session: Session,
        answer: &VerifiedAnswer,
        credential: Option<Credential>,
    ) -> Result<LoggedIn, HandlerRefusal> {
        if session.page.is_some() {
            page_answers::accept_scan(self.service, session, &self.context, answer).await?;
            return Ok(LoggedIn::default());
        }
        let method = self.context.method();
        let accepted = accept_verified_answer(self.service, session, method, answer, credential).await?;
        Ok(LoggedIn { redirect: accepted.redirect.map(String::from) })
    }
}

impl Host for HostedHandlers<'_> {
    type Session = Session;
    /// The credential with the key. `None` for sessions on a page: they look up the user after the
    /// signature and the number were checked.
    type User = Option<Credential>;

    fn read_challenge(&self, text: &str) -> Option<Challenge> {
        if let Ok(challenge) = Challenge::parse(text) {
            return Some(challenge);
        }
        HostBoundChallenge::parse(text).ok().map(|signed| signed.challenge().clone())
    }

    async fn find_session(&self, challenge: &Challenge, _: i64) -> Result<Option<Session>, HandlerRefusal> {
        let found = sessions::sql::find_hosted(&self.service.store, self.environment, challenge).await;
        let Some(session) = found.map_err(internal_error)? else { return Ok(None) };
        if session.check_open(self.service.clock.now()).is_err() {
            return Ok(None);
        }
        count_answer(self.service, &session.account).await?;
        Ok(Some(session))
    }

    async fn find_user(&self, session: &Session, key: &PublicKey) -> Result<Option<Self::User>, HandlerRefusal> {
        if session.page.is_some() {
            return Ok((session.challenge.mode == Mode::Login).then_some(None));
        }
        let key = key.clone().into();
        let credential =
            sql::find_by_key(&self.service.store, &session.domain_id, &key).await.map_err(internal_error)?;
        Ok(credential.map(Some))
    }

    async fn log_in(
        &self,
        session: Session,
        user: Self::User,
        answer: &VerifiedAnswer,
    ) -> Result<LoggedIn, HandlerRefusal> {
        self.accept(session, answer, user).await
    }

    async fn register(&self, session: Session, answer: &VerifiedAnswer) -> Result<LoggedIn, HandlerRefusal> {
        self.accept(session, answer, None).await
    }

    async fn link(&self, session: Session, answer: &VerifiedAnswer) -> Result<(), HandlerRefusal> {
        self.accept(session, answer, None).await?;
        Ok(())
    }
}
