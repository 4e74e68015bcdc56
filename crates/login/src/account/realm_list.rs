//! `GET /account`: where this browser is signed in.

use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use signpost_platform::accounts::Environment;
use signpost_platform::pages::icons::Sign;

use super::document::{headed, name};
use super::visit::AccountVisit;
use crate::browser_sessions::{BrowserSession, BrowserSessionState, sql};
use crate::domains::Domain;
use crate::error::Error;
use crate::flows::sign_in::read_signed_in;

/// A domain that this browser was signed in to.
struct ListedRealm {
    domain: Domain,
    /// Who is signed in there still.
    petname: Option<String>,
}

/// `GET /account`
pub(super) async fn show(visit: AccountVisit) -> Result<Response, Response> {
    visit.count(&visit.address).await?;
    let realms = find_realms(&visit).await.map_err(IntoResponse::into_response)?;
    let words = visit.words();
    let body = html! {
        @if realms.is_empty() {
            (headed(Sign::Key, &html! { (words.no_realms.head) }, &html! { (words.no_realms.text) }))
        } @else {
            div.stack-sm {
                h1 #t { ((words.realms)(&html! { bdi { (visit.service.origin.host()) } })) }
                p.lead { (words.realms_text) }
            }
            ul.keys { @for realm in &realms { li { (draw_realm(&visit, realm)) } } }
        }
    };
    let document = visit.draw(words.tab_realms, if realms.is_empty() { "signed-out" } else { "accounts" }, &body);
    Ok(visit.page(document).into_response())
}

/// Of two logins at one domain the newest counts; a login that no site completed is none.
async fn find_realms(visit: &AccountVisit) -> Result<Vec<ListedRealm>, Error> {
    let mut realms: Vec<ListedRealm> = Vec::new();
    for session in sql::list(&visit.service.store, &visit.cookie.hash()).await? {
        let is_begun = session.state == BrowserSessionState::Begun;
        if is_begun || realms.iter().any(|realm| realm.domain.id == session.domain_id) {
            continue;
        }
        realms.extend(find_realm(visit, session).await?);
    }
    Ok(realms)
}

async fn find_realm(visit: &AccountVisit, session: BrowserSession) -> Result<Option<ListedRealm>, Error> {
    let Some(domain) = visit.find_domain(session.domain_id.as_str()).await? else { return Ok(None) };
    let who = read_signed_in(&visit.service, session).await?;
    Ok(Some(ListedRealm { domain, petname: who.map(|who| who.user.petname.as_str().to_owned()) }))
}

fn draw_realm(visit: &AccountVisit, realm: &ListedRealm) -> Markup {
    let (words, domain) = (visit.words(), &realm.domain);
    let (id, shown) = (domain.id.as_str(), name(domain.name.as_str()));
    html! {
        span.ico { (Sign::Globe.draw(20)) }
        div.stack-sm {
            p { (shown) @if domain.account.environment == Environment::Sandbox { " " span.sm.soft { (words.sandbox) } } }
            @match &realm.petname {
                Some(petname) => {
                    p.sm.soft { ((words.known_as)(&html! { bdi { (petname) } })) }
                    p { a href=(visit.link(id, "")) { ((words.see_keys)(&shown)) } }
                }
                None => {
                    p.sm.soft { (words.sign_in_over) }
                    form method="post" action=(visit.link(id, "login")) {
                        (visit.token(id, "login"))
                        button.btn.small { span { ((words.log_in_at)(&shown)) } }
                    }
                }
            }
        }
    }
}
