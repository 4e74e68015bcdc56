//! The code samples of sdk/README.md, compiled as a single file.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::http::request::Parts;
use data_encoding::BASE64URL_NOPAD;
use signpost_auth::client::{AtmSearch, Confirm, NewSession, Paging, Runtime, SessionStatus, Signpost, SystemRuntime};
use signpost_auth::login::{self, CurrentUser, LoginOptions, LoginSite, SignedIn, SiteError};
use signpost_auth::receiver::{EventHeaders, EventRules, SiteOrigin, read_event};
use signpost_auth::{Event, WebhookSecret};

type Done = Result<(), Box<dyn Error>>;

/// The logged-in users. A real site would store them in its database, with an expiry.
static PEOPLE: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// Starts a session of the site. Returns its cookie value, which is always new.
fn start_login(user: &str) -> String {
    let value = BASE64URL_NOPAD.encode(&SystemRuntime.random());
    PEOPLE.lock().unwrap_or_else(PoisonError::into_inner).insert(value.clone(), user.to_owned());
    value
}

/// Returns the user of the site's session cookie.
fn find_login(site: &SiteOrigin, request: &Parts) -> Option<String> {
    let value = site.cookie("login", request.headers.get("cookie")?.to_str().ok()?)?;
    PEOPLE.lock().unwrap_or_else(PoisonError::into_inner).get(value).cloned()
}

/// The site with its origin. Over https, no other host can set its cookies.
struct Shop(SiteOrigin);

impl LoginSite for Shop {
    async fn sign_in(&self, login: SignedIn, _: &Parts) -> Result<Vec<String>, SiteError> {
        Ok(vec![self.0.set_cookie("login", &start_login(&login.user.id), 24 * 60 * 60)])
    }

    async fn current_user(&self, request: &Parts) -> CurrentUser {
        find_login(&self.0, request).into()
    }

    async fn on_event(&self, event: Event) -> Result<(), SiteError> {
        println!("{} {}", event.event, event.session_id);
        Ok(())
    }
}

/// Returns the login routes. `cookie_secret` has at least 32 characters and is equal on all servers
/// of the site.
fn log_people_in(signpost: Signpost, cookie_secret: String, secret: WebhookSecret) -> Result<Router, SiteError> {
    let options = LoginOptions::new("localhost", "http://localhost:9001", cookie_secret)?;
    let shop = Shop(SiteOrigin::parse("http://localhost:9001")?);
    let app = Router::new().merge(login::router(signpost, options.with_webhook_secrets([secret]), shop));
    Ok(app)
}

/// Handles an event at the site's own endpoint.
fn receive_event(headers: &EventHeaders<'_>, body: &[u8], secrets: Vec<WebhookSecret>, now: i64) -> Option<Event> {
    let rules = EventRules { secrets, allowed_sources: Vec::new() };
    let event = read_event(headers, body, &rules, now).ok()?;
    Some(event)
}

#[expect(clippy::disallowed_methods, reason = "the settings of a site are its own")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Done {
    let signpost = Signpost::new(env::var("KEY")?)?.with_base_url("http://localhost:8080/sandbox/v1")?;
    let _ = (log_people_in, receive_event);
    show_code(&signpost).await?;
    for domain in signpost.domains().list(&Paging::default()).await?.domains {
        list_users(&signpost, &domain.id).await?;
    }
    handle_errors(&signpost).await;
    find_atms(&signpost).await
}

async fn show_code(signpost: &Signpost) -> Done {
    let session =
        signpost.sessions().create(&NewSession { confirm: Some(Confirm::Code), ..NewSession::on("localhost") }).await?;
    println!("{} {:?}", signpost.sessions().qr_svg(&session.id).await?, session.confirm_code);
    let answered = signpost.sessions().wait_for(&session.id, Duration::from_mins(2)).await?;
    if answered.status == SessionStatus::Authenticated {
        println!("{:?}", answered.user);
    }
    Ok(())
}

async fn list_users(signpost: &Signpost, domain_id: &str) -> Done {
    let mut paging = Paging::default();
    loop {
        let page = signpost.users().list(domain_id, &paging).await?;
        for user in page.users {
            let has_one_key = signpost.users().get(domain_id, &user.id).await?.credentials.len() == 1;
            println!("{} {:?} {has_one_key}", user.petname, user.last_login_at);
        }
        let Some(cursor) = page.next_cursor else { break };
        paging.cursor = Some(cursor);
    }
    Ok(())
}

async fn handle_errors(signpost: &Signpost) {
    if let Err(error) = signpost.sessions().create(&NewSession::on("shop.exmaple")).await {
        // domain_not_registered 422 …
        eprintln!("{} {:?} {:?} {:?}", error.code, error.status, error.details, error.request_id);
    }
}

async fn find_atms(signpost: &Signpost) -> Done {
    let search = AtmSearch { location: Some("Miami, FL".into()), limit: Some(3), ..AtmSearch::default() };
    let found = signpost.atms().nearest(&search).await?;
    for atm in &found.atms {
        println!("{} {:?} {:?}", atm.distance, atm.name, atm.address);
    }
    for advisory in &found.advisories {
        println!("{}", advisory.text);
    }
    println!("{:?} {}", found.notice, signpost.atms().mcp_url());
    Ok(())
}
