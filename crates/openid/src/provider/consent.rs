//! `<issuer>/authorize/consent/{request}`: a person is asked once whether a client may know who they are.

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use signpost_login::ids::UserId;
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::form::{FormRefusal, FormToken, PostedForm};
use signpost_platform::pages::icons::Sign;

use super::document::{application_of, name};
use super::outcomes;
use super::visit::RealmVisit;
use crate::authorizations::host_of;
use crate::claims::{OpenidScope, address_of};
use crate::clients::EmailClaim;
use crate::flows::{ConsentQuestion, RequestOutcome, deny, go_on, start_over};

/// `GET`
pub(super) async fn show(visit: RealmVisit, id: &str) -> Result<Response, Response> {
    let outcome = go_on(&visit.service, &visit.realm, &visit.browser, id, None).await;
    match outcome.map_err(IntoResponse::into_response)? {
        RequestOutcome::AskConsent(question) => Ok(HtmlPage::personal(draw(&visit, &question)).into_response()),
        other => Ok(visit.send(other)),
    }
}

/// `POST`: `answer=allow`, `answer=deny`, or `answer=other` from whoever is somebody else. The form is of whoever was asked: who is signed in now instead is asked anew.
pub(super) async fn answer(visit: RealmVisit, id: &str, request: Request) -> Result<Response, Response> {
    let form = PostedForm::receive(&visit.service.origin, request).await;
    let form = form.map_err(|refusal| refuse(&visit, id, refusal))?;
    let Some(who) = visit.find_signed_in().await? else { return show(visit, id).await };
    let checked = form.check(visit.page_cookie(), &purpose(id, &who.user.id));
    checked.map_err(|refusal| refuse(&visit, id, refusal))?;
    let outcome = match form.text("answer") {
        Some("allow") => go_on(&visit.service, &visit.realm, &visit.browser, id, Some(who.user.id.clone())).await,
        Some("deny") => deny(&visit.service, &visit.realm, &visit.browser, id).await,
        Some("other") => start_over(&visit.service, &visit.realm, &visit.browser, &who, id).await,
        _ => return Err(refuse(&visit, id, FormRefusal::Unreadable)),
    };
    match outcome.map_err(IntoResponse::into_response)? {
        RequestOutcome::Answered(url) => Ok(outcomes::leave(&visit, &url)),
        other => Ok(visit.send(other)),
    }
}

fn purpose(id: &str, user: &UserId) -> String {
    format!("consent {id} {user}")
}

fn refuse(visit: &RealmVisit, id: &str, refusal: FormRefusal) -> Response {
    let page = outcomes::render_stale(visit, &format!("authorize/consent/{id}"));
    HtmlPage::personal(page).with_status(refusal.status()).into_response()
}

fn draw(visit: &RealmVisit, question: &ConsentQuestion) -> String {
    let (words, asked) = (visit.words(), &question.asked);
    let id = question.id.as_str();
    let application = application_of(&asked.client, &asked.address.redirect_uri);
    let (petname, domain) = (question.who.user.petname.as_str(), visit.realm.name.as_str());
    let token = FormToken::new(&visit.browser.page_cookie, &purpose(id, &question.who.user.id));
    let body = html! {
        div {
            h1 #t {
                small { (words.consent_question) " " }
                bdi { (application) }
            }
            p.called { ((words.you_go_back_to)(&name(&host_of(&asked.address.redirect_uri)))) }
        }
        p { ((words.you_are)(&name(petname), &name(domain))) }
        div.stack-sm {
            p #learns { (words.it_learns) }
            ul.points aria-labelledby="learns" { @for learnt in learnt(visit, question) { li { (learnt) } } }
        }
        form #consent method="post" action=(visit.link_in_language(&format!("authorize/consent/{id}"))) {
            (token)
            div.grid2 {
                button #deny .btn.wide name="answer" value="deny" { (words.deny) }
                button #allow .btn.primary.wide name="answer" value="allow" { (Sign::Tick.draw(20)) (words.allow) }
            }
            p.sm { (words.not_you) " " button #not-you .link name="answer" value="other" { (words.log_in_as_other) } }
        }
        p.sm.soft { (words.asked_once) }
    };
    visit.draw(&(words.tab_consent)(&application), "consent", &body, true)
}

/// What the client learns, a line for each scope.
fn learnt(visit: &RealmVisit, question: &ConsentQuestion) -> Vec<Markup> {
    let (words, settings) = (visit.words(), &question.asked.client.settings);
    let line = |scope| match scope {
        OpenidScope::Openid => Some(html! { (words.learns_id) }),
        OpenidScope::Profile => Some(html! { (words.learns_profile) }),
        OpenidScope::Email if settings.email == EmailClaim::None => None,
        OpenidScope::Email => {
            let address = address_of(&question.who.user, &visit.realm);
            Some(html! { (words.learns_email) " " bdi.sm.soft { (address) } })
        }
        OpenidScope::OfflineAccess => Some(html! { (words.learns_offline) }),
    };
    question.scopes.iter().filter_map(line).collect()
}
