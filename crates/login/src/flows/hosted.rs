//! `/hosted/login` and `/hosted/register`, where wallets post, and `/domains/{id}/users`.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Value, json};
use signpost_auth::receiver::{
    HandlerRefusal, HandlerResponse, Host, LoggedIn, handle_link, handle_login, handle_register,
};
use signpost_auth::{Answer, Challenge, Mode, PublicKey, Through, VerifiedAnswer};
use signpost_platform::accounts::Environment;
use signpost_platform::web::problem::Problem;

use crate::flows::asker::Asker;
use crate::flows::lookup::find_domain_of;
use crate::flows::page_answers;
use crate::flows::refusals::{count_answer, log_failure, to_refusal};
use crate::flows::submit::accept_verified_answer;
use crate::service::LoginService;
use crate::sessions::{self, Session, SessionStatus};
use crate::users::{Credential, sql};

/// The service as the application that answers a wallet.
struct Wallets<'a> {
    service: &'a LoginService,
    environment: Environment,
    asker: Asker,
}

/// Answers a wallet as the handler contract says (specification, §4).
pub(crate) async fn handle_answer(
    service: &LoginService,
    environment: Environment,
    mode: Mode,
    asker: Asker,
    body: &Bytes,
) -> HandlerResponse {
    let wallets = Wallets { service, environment, asker };
    let now = service.clock.now().as_second();
    let response = match mode {
        Mode::Login => handle_login(&wallets, body, now).await,
        Mode::Register => handle_register(&wallets, body, now).await,
        Mode::Link => handle_link(&wallets, body, now).await,
    };
    if ![404, 408].contains(&response.status) {
        return response;
    }
    let Ok(answer) = Answer::parse(body) else { return response };
    let Some(challenge) = wallets.read_challenge(&answer.challenge) else { return response };
    page_answers::explain_refusal(service, environment, &answer, &challenge, response).await.into()
}

/// `POST /hosted/{mode}`; who may ask is counted before.
pub(crate) async fn handle_post(
    service: LoginService,
    environment: Environment,
    mode: Mode,
    asker: Asker,
    body: Result<Bytes, Problem>,
) -> Response {
    match body {
        Ok(body) => handle_answer(&service, environment, mode, asker, &body).await.into_response(),
        Err(error) => to_response(&error),
    }
}

/// `GET /hosted/{mode}?challenge=`: what a wallet shows before its person signs.
pub(crate) async fn show_context(
    service: &LoginService,
    environment: Environment,
    mode: Mode,
    asker: Asker,
    challenge: Option<&str>,
) -> Response {
    match read_context(&Wallets { service, environment, asker }, mode, challenge).await {
        Ok(context) => ([(header::CACHE_CONTROL, "no-store")], Json(context)).into_response(),
        Err(refusal) => refusal.into_response(),
    }
}

async fn read_context(wallets: &Wallets<'_>, mode: Mode, challenge: Option<&str>) -> Result<Value, HandlerRefusal> {
    let challenge = challenge.and_then(|text| Challenge::parse(text).ok()).filter(|challenge| challenge.mode == mode);
    let challenge = challenge.ok_or(HandlerRefusal::NotHeld)?;
    let session = wallets.find_session(&challenge, 0).await?.ok_or(HandlerRefusal::NotHeld)?;
    let domain =
        find_domain_of(wallets.service, &session).await.map_err(log_failure)?.ok_or(HandlerRefusal::NotHeld)?;
    let mut context = json!({
        "domain": session.challenge.domain, "mode": session.challenge.mode, "expires_at": session.expires_at,
        "verified": domain.verified_at.is_some(),
        "number": session.confirm_code.is_some() && !wallets.asker.owns(&session),
    });
    if session.confirm_code.is_some() {
        context["confirm"] = "code".into();
    }
    if let Some(requester) = &session.options.requester {
        context["requester"] = json!(requester);
    }
    Ok(context)
}

/// A refusal before the handlers, in their words.
pub(crate) fn to_response(error: &Problem) -> Response {
    (error.status_and_code().0, error.headers(), Json(json!({ "error": error.to_string() }))).into_response()
}

impl Wallets<'_> {
    async fn accept(
        &self,
        session: Session,
        answer: &VerifiedAnswer,
        holder: Option<Credential>,
    ) -> Result<LoggedIn, HandlerRefusal> {
        if session.page.is_some() {
            return page_answers::accept_scan(self.service, session, &self.asker, answer)
                .await
                .map(|()| LoggedIn::default());
        }
        let accepted = accept_verified_answer(self.service, session, self.asker.method(), answer, holder)
            .await
            .map_err(|error| to_refusal(&error))?;
        Ok(LoggedIn { redirect: accepted.redirect.map(String::from) })
    }
}

impl Host for Wallets<'_> {
    type Session = Session;
    /// On a page nobody yet, who is looked for behind the proof and the number.
    type User = Option<Credential>;

    fn read_challenge(&self, text: &str) -> Option<Challenge> {
        let through = || Through::parse(text).ok().map(|through| through.challenge().clone());
        Challenge::parse(text).ok().or_else(through)
    }

    async fn find_session(&self, challenge: &Challenge, _: i64) -> Result<Option<Session>, HandlerRefusal> {
        let now = self.service.clock.now();
        let session =
            sessions::sql::find_hosted(&self.service.store, self.environment, challenge).await.map_err(log_failure)?;
        let is_held = |session: &Session| session.status(now) == SessionStatus::Pending && !session.is_answered();
        let Some(session) = session.filter(is_held) else { return Ok(None) };
        count_answer(self.service, &session.account).await?;
        Ok(Some(session))
    }

    async fn find_user(&self, session: &Session, key: &PublicKey) -> Result<Option<Self::User>, HandlerRefusal> {
        if session.page.is_some() {
            return Ok((session.challenge.mode == Mode::Login).then_some(None));
        }
        let user = sql::find_by_key(&self.service.store, &session.domain_id, &key.clone().into())
            .await
            .map_err(log_failure)?;
        Ok(user.map(Some))
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
        self.accept(session, answer, None).await.map(|_| ())
    }
}
