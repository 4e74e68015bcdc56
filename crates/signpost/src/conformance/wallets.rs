//! Tests the page with the code, and the endpoints that wallets post to (specification, §4).

use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use signpost_auth::{Challenge, Mode, Nonce, Wallet};
use signpost_store::random;

use super::{FetchedPage, Kit};

/// Wait until a code with the short lifetime has expired: its lifetime and about one second more.
const UNTIL_EXPIRED: Duration = Duration::from_millis(3200);

/// Checks the content of the page.
pub(super) fn check_page(kit: &mut Kit, page: &FetchedPage) {
    let issued = kit.service.issued(page.qr.challenge());
    let challenge = page.qr.challenge().to_string();
    kit.report.note(
        "the page shows a code that the service issued",
        issued,
        "a challenge of POST /sessions",
        challenge,
    );
    let is_key_exposed = kit.service.keys().into_iter().filter(|key| key.len() > 8).any(|key| page.text.contains(&key));
    let got = if is_key_exposed { "the API key is on the page" } else { "no API key" };
    kit.report.note("the page does not show the API key", !is_key_exposed, "no API key", got);
}

/// Tests wrong answers. None of them may consume the code.
pub(super) async fn refusals(kit: &mut Kit, page: &FetchedPage) -> Result<()> {
    let wallet = Kit::wallet();
    let challenge = page.qr.challenge();
    let now = kit.now();
    let right = json!(wallet.answer(challenge, now, None));
    let other = Challenge { nonce: Nonce(random()), ..challenge.clone() };
    let unknown = json!(wallet.answer(&other, now, None));
    let unknown_unsigned = json!({ "public_key": right["public_key"], "signature": "3006020101020101",
                                   "challenge": other.sentence(), "timestamp": now });
    let mut stale_unknown = unknown;
    stale_unknown["timestamp"] = (now - 40).into();
    let other_key = json!(Kit::wallet().public_key().canonical());
    let forged = json!(wallet.sign("another text"));
    for (rule, status, answer) in [
        ("a body without public_key is 400", 400, without(&right, "public_key")),
        ("a body without signature is 400", 400, without(&right, "signature")),
        ("a body without challenge is 400", 400, without(&right, "challenge")),
        ("a body without timestamp is 400", 400, without(&right, "timestamp")),
        ("a timestamp that is not an integer is 400", 400, with(&right, "timestamp", json!("now"))),
        ("a public_key that is not a string is 400", 400, with(&right, "public_key", json!(2))),
        ("a body that is not an object is 400", 400, json!("text")),
        ("a timestamp 40 s in the past is 408", 408, with(&right, "timestamp", json!(now - 40))),
        ("a timestamp 40 s in the future is 408", 408, with(&right, "timestamp", json!(now + 40))),
        ("the timestamp is checked before the challenge", 408, stale_unknown),
        ("the challenge is checked before the signature", 404, unknown_unsigned),
        ("a signature that is not DER is 406", 406, with(&right, "signature", json!("00"))),
        ("a signature over another text is 406", 406, with(&right, "signature", forged)),
        ("a signature by another key is 406", 406, with(&right, "public_key", other_key)),
        ("an invalid public key is 406", 406, with(&right, "public_key", json!("02"))),
        ("a login by an unregistered key is 404", 404, right.clone()),
    ] {
        let reply = kit.post_answer(page.qr.webhook(), &answer).await?;
        kit.report.expect_refusal(rule, status, &reply);
    }
    Ok(())
}

/// Returns the answer with another value of a member.
fn with(answer: &Value, member: &str, value: Value) -> Value {
    let mut answer = answer.clone();
    answer[member] = value;
    answer
}

/// Returns the answer without a member.
fn without(answer: &Value, member: &str) -> Value {
    let mut answer = answer.clone();
    answer.as_object_mut().expect("an object").remove(member);
    answer
}

/// Registers a user, and returns the wallet if that succeeded.
pub(super) async fn registration(kit: &mut Kit) -> Result<Option<Wallet>> {
    const RULES: [&str; 5] = [
        "a registration is 200 with status registered",
        "an answer is accepted once: the same registration again is 404",
        "a registration by a registered key is 409",
        "a login code does not register",
        "a registration code does not log in",
    ];
    if kit.endpoints.register.is_none() {
        for rule in RULES {
            kit.report.not_tested(rule, "no registration page was found: pass it with --register");
        }
        return Ok(None);
    }
    let wallet = Kit::wallet();
    let page = kit.open(Mode::Register).await?;
    let webhook = page.qr.webhook().clone();
    let answer = json!(wallet.answer(page.qr.challenge(), kit.now(), None));
    let login = kit.open(Mode::Login).await?;
    let crossed = json!(Kit::wallet().answer(login.qr.challenge(), kit.now(), None));
    let reply = kit.post_answer(&webhook, &crossed).await?;
    kit.report.expect_refusal(RULES[3], 404, &reply);
    let reply = kit.post_answer(&webhook, &answer).await?;
    kit.report.expect_status_word(RULES[0], 200, "registered", &reply);
    let is_registered = reply.status == 200;
    let reply = kit.post_answer(&webhook, &answer).await?;
    kit.report.expect_refusal(RULES[1], 404, &reply);
    let again = kit.open(Mode::Register).await?;
    let answer = json!(wallet.answer(again.qr.challenge(), kit.now(), None));
    let reply = kit.post_answer(&webhook, &answer).await?;
    kit.report.expect_refusal(RULES[2], 409, &reply);
    // The key is registered, because an unknown key would be rejected in any case.
    let reply = kit.post_answer(login.qr.webhook(), &answer).await?;
    kit.report.expect_refusal(RULES[4], 404, &reply);
    Ok(is_registered.then_some(wallet))
}

/// Tests logins of the registered user.
pub(super) async fn logins(kit: &mut Kit, user: Option<&Wallet>) -> Result<()> {
    const RULES: [&str; 8] = [
        "a login is 200 with status authenticated and a message",
        "an answer is accepted once: the same login again is 404",
        "either rendering of the challenge may be signed",
        "a key in capital letters is the same user",
        "an expired code is 404",
        "an answer that the service refuses is not a login",
        "a challenge that was never issued is 404",
        "a challenge with extra characters is 404",
    ];
    let Some(wallet) = user else {
        for rule in RULES {
            kit.report.not_tested(rule, "no registration succeeded");
        }
        return Ok(());
    };
    let page = kit.open(Mode::Login).await?;
    let other = Challenge { nonce: Nonce(random()), ..page.qr.challenge().clone() };
    let reply = kit.post_answer(page.qr.webhook(), &json!(wallet.answer(&other, kit.now(), None))).await?;
    kit.report.expect_refusal(RULES[6], 404, &reply);
    let padded = format!("{} ", page.qr.challenge());
    let reply = kit.post_answer(page.qr.webhook(), &json!(wallet.answer_text(padded, kit.now(), None))).await?;
    kit.report.expect_refusal(RULES[7], 404, &reply);
    let answer = json!(wallet.answer(page.qr.challenge(), kit.now(), None));
    let reply = kit.post_answer(page.qr.webhook(), &answer).await?;
    let body = reply.json();
    let is_authenticated = body["message"].is_string() && body["status"] == "authenticated";
    let expected = "200 {status: 'authenticated', message: <text>}";
    kit.report.note(RULES[0], reply.status == 200 && is_authenticated, expected, reply.describe());
    let reply = kit.post_answer(page.qr.webhook(), &answer).await?;
    kit.report.expect_refusal(RULES[1], 404, &reply);
    let page = kit.open(Mode::Login).await?;
    let answer = json!(wallet.answer_text(page.qr.challenge().to_string(), kit.now(), None));
    let reply = kit.post_answer(page.qr.webhook(), &answer).await?;
    kit.report.expect_status_word(RULES[2], 200, "authenticated", &reply);
    let page = kit.open(Mode::Login).await?;
    let mut answer = json!(wallet.answer(page.qr.challenge(), kit.now(), None));
    answer["public_key"] = wallet.public_key().canonical().to_uppercase().into();
    let reply = kit.post_answer(page.qr.webhook(), &answer).await?;
    kit.report.expect_status_word(RULES[3], 200, "authenticated", &reply);
    kit.service.issue_short_codes(true);
    let page = kit.open(Mode::Login).await;
    kit.service.issue_short_codes(false);
    let page = page?;
    kit.clock.sleep(UNTIL_EXPIRED).await;
    let answer = json!(wallet.answer(page.qr.challenge(), kit.now(), None));
    let reply = kit.post_answer(page.qr.webhook(), &answer).await?;
    kit.report.expect_refusal(RULES[4], 404, &reply);
    check_service_rejection(kit, wallet, RULES[5]).await
}

/// Tests that a site that uses `/verify` rejects the answers that the service rejects.
async fn check_service_rejection(kit: &mut Kit, wallet: &Wallet, rule: &'static str) -> Result<()> {
    let page = kit.open(Mode::Login).await?;
    let before = kit.service.answers_received();
    kit.service.refuse_answers(true);
    let reply = kit.post_answer(page.qr.webhook(), &json!(wallet.answer(page.qr.challenge(), kit.now(), None))).await;
    kit.service.refuse_answers(false);
    let reply = reply?;
    if kit.service.answers_received() == before {
        kit.report.not_tested(rule, "the site checks signatures itself and never asks the service");
    } else {
        kit.report.note(rule, reply.status >= 400, "an error", reply.describe());
    }
    Ok(())
}
