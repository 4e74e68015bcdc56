//! Verification and login are two steps: a verified key is rejected for another challenge and after expiry.

use jiff::SignedDuration;
use signpost_auth::{Challenge, Nonce, QrData, Wallet};
use signpost_login::sessions::{Accepted, AnswerRefusal, Session, SessionState, VerifiedKey};

use crate::through::session;

const CHALLENGE: &str = "svc:login:example.com:1700000000:AAAAAAAAAAAAAAAAAAAAAA";

fn open_session(nonce: u8) -> Session {
    let challenge = Challenge { nonce: Nonce([nonce; 16]), ..Challenge::parse(CHALLENGE).expect("a challenge") };
    let webhook = "https://example.com/hook".parse().expect("a URL");
    session(&QrData::new(webhook, challenge, 1_700_000_300).expect("a code"), None)
}

fn prove(session: &Session) -> VerifiedKey {
    let wallet = Wallet::from_bytes([7; 32]).expect("a key");
    let answer = wallet.answer(&session.challenge, session.created_at.as_second(), None);
    session.verify(&answer, session.created_at).expect("a valid answer")
}

#[test]
fn verified_key_logs_in_with_its_evidence() {
    let session = open_session(1);
    let (key, now) = (prove(&session), session.created_at);
    let proof = key.proof().clone();
    let Ok(Accepted::Login(login)) = session.accept(key, now, [1; 16]) else { panic!("no login") };
    let SessionState::Authenticated { user, .. } = &login.session.state else { panic!("not authenticated") };
    let data = login.event.data.expect("a proof");
    assert_eq!(user.public_key, proof.public_key);
    assert_eq!((data.signature, data.signed_message), (proof.signature, proof.signed_message));
}

#[test]
fn key_of_another_session_is_rejected() {
    let (own, other) = (open_session(1), open_session(2));
    let (key, now) = (prove(&other), own.created_at);
    assert_eq!(own.accept(key, now, [1; 16]).expect_err("another challenge"), AnswerRefusal::UnknownChallenge);
}

#[test]
fn key_from_before_a_refresh_is_rejected() {
    let session = open_session(1);
    let (key, now) = (prove(&session), session.created_at);
    let refreshed = session.refresh(std::time::Duration::from_mins(5), now, [3; 16]).expect("a new challenge");
    assert_eq!(refreshed.accept(key, now, [1; 16]).expect_err("an old challenge"), AnswerRefusal::UnknownChallenge);
}

#[test]
fn verified_key_is_accepted_once_and_in_time() {
    let session = open_session(1);
    let (key, now) = (prove(&session), session.created_at);
    let late = now + SignedDuration::from_secs(300);
    assert_eq!(session.clone().accept(key.clone(), late, [1; 16]).expect_err("too late"), AnswerRefusal::Expired);
    let Ok(Accepted::Login(login)) = session.accept(key.clone(), now, [1; 16]) else { panic!("no login") };
    assert_eq!(login.session.accept(key, now, [1; 16]).expect_err("answered"), AnswerRefusal::Authenticated);
}
