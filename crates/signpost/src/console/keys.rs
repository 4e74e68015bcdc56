//! API keys, and the operators. Whoever makes or ends one proved a moment ago who they are.

use axum::Router;
use axum::extract::{Path, Query, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use jiff::SignedDuration;
use maud::{Markup, html};
use secrecy::ExposeSecret;
use serde::Deserialize;
use signpost_login::ids::UserId;
use signpost_login::users;
use signpost_platform::accounts::keys::{NewKey, StoredKey, sql};
use signpost_platform::accounts::{Account, Environment, KeyId, Scope};
use signpost_platform::pages::form::PostedForm;
use signpost_platform::pages::icons::Sign;
use signpost_platform::web::problem::Problem;
use signpost_store::{WriteError, random};

use super::Console;
use super::dates::moment;
use super::document::{ConsolePage, Screen};
use super::operators::{self, LINK_LASTS, MAX_OPERATORS};
use super::proof::{Confirmation, MAX_LABEL, Question, read_account_name, read_label, receive_asked, receive_proven};
use super::tables::{chip, older, panel, table};
use super::visit::{OperatorVisit, failed, to};

/// How long a key works that was replaced.
const GRACE: SignedDuration = SignedDuration::from_hours(24);
/// How many keys a page has.
const SHOWN: u32 = 100;
const PATH: &str = "/console/keys";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct KeyPage {
    before: String,
}

pub(super) fn router() -> Router<Console> {
    Router::new()
        .route(PATH, get(show).post(create))
        .route("/console/keys/{id}/rotate", post(rotate))
        .route("/console/keys/{id}/revoke", post(revoke))
        .route("/console/operators", post(make_link))
        .route("/console/operators/{id}/remove", post(remove_operator))
}

/// `GET /console/keys`
async fn show(visit: OperatorVisit, Query(page): Query<KeyPage>) -> Result<Response, Response> {
    render(&visit, &page, html! {}).await
}

async fn render(visit: &OperatorVisit, page: &KeyPage, above: Markup) -> Result<Response, Response> {
    let (origin, store) = (&visit.console.origin, &visit.console.store);
    let before = match KeyId::parse(&page.before) {
        Some(id) => sql::find(store, &id).await.map_err(failed)?,
        None => None,
    };
    let keys = sql::list_page(store, before.as_ref(), SHOWN).await.map_err(failed)?;
    let rows: Vec<_> = keys.iter().map(|key| key_row(visit, key)).collect();
    let next = keys.last().filter(|_| keys.len() == SHOWN as usize);
    let next = next.map(|last| origin.link(&format!("{PATH}?before={}", last.id)));
    let empty = html! { p { "No key was made yet. A site's server calls the API with one." } };
    let body = html! {
        (above)
        (panel("new", "New key", &html! {}, &new_key_form(visit)))
        (panel("keys", "Keys", &html! {}, &html! {
            (table("Keys", &["Name", "Opens", "State", "Last used", "Change"], &rows, &empty))
            (older(next))
        }))
        (draw_operators(visit).await?)
    };
    let aside = html! {
        div.row {
            a.btn.small href=(origin.link("/console/log")) { "Audit log" }
            a.btn.small href=(origin.link("/console/settings")) { "Settings" }
        }
    };
    let note = html! { "To make or end a key, log in within the five minutes before." };
    let page = ConsolePage { note, aside, ..ConsolePage::new(visit, Screen::Keys, "Keys and log", body) };
    Ok(page.respond().await)
}

fn new_key_form(visit: &OperatorVisit) -> Markup {
    html! {
        form.inset.columns method="post" action=(visit.console.origin.link(PATH)) {
            (visit.token("new key"))
            div.field { label for="name" { "Name" } input #name name="name" required maxlength=(MAX_LABEL); p.hint { "Such as the site that uses it" } }
            div.field { label for="account" { "Account" } input #account name="account" value="default" required maxlength=(MAX_LABEL); p.hint { "Keys of one account see the same sites" } }
            div.field { label for="environment" { "Environment" } select #environment name="environment" { option value="sandbox" { "Sandbox" } option value="live" { "Live" } } }
            div.field { label for="scope" { "Opens" } select #scope name="scope" { option value="auth" { "The login API" } option value="atms" { "Submissions of ATMs" } } }
            button.btn.primary { "Make the key" }
        }
    }
}

fn key_row(visit: &OperatorVisit, key: &StoredKey) -> Vec<Markup> {
    let is_over = key.expires_at.is_some_and(|at| at <= visit.now);
    let state = match (key.revoked_at, key.expires_at) {
        (Some(_), _) => chip("fail", "Revoked"),
        (None, Some(_)) if is_over => chip("fail", "Ended"),
        (None, Some(at)) => html! { (chip("wait", "Replaced")) " works until " (moment(at)) },
        (None, None) => chip("ok", "Works"),
    };
    let opens = match key.scope {
        Scope::Auth => "the login API",
        Scope::Atms => "submissions of ATMs",
    };
    let form = |what: &str, class: &str, name: &str| {
        let action = visit.console.origin.link(&format!("/console/keys/{}/{what}", key.id));
        html! { form method="post" action=(action) { (visit.token(&format!("{what} {}", key.id))) button class={ "btn small " (class) } { (name) } } }
    };
    let works = key.revoked_at.is_none() && !is_over;
    vec![
        html! { b { (signpost_text::line(&key.name)) } br; code { (key.id.as_str()) } },
        html! { (opens) ", " (key.environment.as_str()) ", account " (signpost_text::line(&key.account)) },
        state,
        key.last_used_at.map_or_else(|| html! { "never" }, moment),
        html! { @if works { div.row { @if key.expires_at.is_none() { (form("rotate", "", "Replace")) } (form("revoke", "danger", "Revoke")) } } },
    ]
}

async fn draw_operators(visit: &OperatorVisit) -> Result<Markup, Response> {
    let operators = operators::list(&visit.console.store).await.map_err(failed)?;
    let mut rows = Vec::new();
    for operator in &operators {
        let domain = &visit.who.session.domain_id;
        let found = users::sql::find(&visit.console.store, domain, &operator.user_id).await.map_err(failed)?;
        let name = found.map_or_else(|| "gone".to_owned(), |(user, _)| user.petname.as_str().to_owned());
        let is_self = operator.user_id == visit.who.user.id;
        let action = visit.console.origin.link(&format!("/console/operators/{}/remove", operator.user_id));
        rows.push(vec![
            html! { b { (name) } @if is_self { " (you)" } br; code { (operator.user_id) } },
            moment(operator.added_at),
            html! { (operator.added_by) },
            html! { @if !is_self { form method="post" action=(action) { (visit.token(&format!("remove {}", operator.user_id))) button.btn.small.danger { "Remove" } } } },
        ]);
    }
    let add = html! {
        form method="post" action=(visit.console.origin.link("/console/operators")) {
            (visit.token("new operator"))
            button.btn.small { "Add an operator" }
        }
    };
    Ok(panel(
        "operators",
        "Operators",
        &add,
        &table("Operators", &["Operator", "Since", "Added by", "Change"], &rows, &html! {}),
    ))
}

/// `POST /console/keys`: `name`, `account`, `environment`, `scope`. The key is on the page that answers, and nowhere else.
async fn create(visit: OperatorVisit, request: Request) -> Result<Response, Response> {
    let form = receive_proven(&visit, request, "new key", PATH).await?;
    let (account, name, scope) = match read_new_key(&form) {
        Ok(new) => new,
        Err(reason) => {
            let above = html! { div.notice.danger role="alert" { (Sign::Stop.draw(20)) p { (reason) } } };
            let page = render(&visit, &KeyPage::default(), above).await?;
            return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
        }
    };
    let key = NewKey::new(account.environment, random(), random()).for_scope(scope);
    let (store, by) = (&visit.console.store, visit.actor());
    sql::insert(store, &by, &account, &name, &key, visit.now).await.map_err(failed)?;
    show_key(&visit, &key, "The key is made.").await
}

fn read_new_key(form: &PostedForm) -> Result<(Account, String, Scope), &'static str> {
    let name = read_label(form, "name").ok_or("Type a name of 1 to 64 characters for the key.")?;
    let account = read_account_name(form)?;
    let environment = form.text("environment").and_then(Environment::parse).ok_or("Choose sandbox or live.")?;
    let scope = match form.text("scope") {
        Some("auth") => Scope::Auth,
        Some("atms") => Scope::Atms,
        _ => return Err("Choose what the key opens."),
    };
    Ok((Account { name: account, environment }, name, scope))
}

async fn show_key(visit: &OperatorVisit, key: &NewKey, head: &str) -> Result<Response, Response> {
    let above = html! {
        div.notice.ok role="status" {
            (Sign::Tick.draw(20))
            div.stack-sm {
                p { b { (head) } " Save it now: it is not shown again." }
                code.address #new-key { (key.key.expose_secret()) }
            }
        }
    };
    render(visit, &KeyPage::default(), above).await
}

/// `POST /console/keys/{id}/rotate`
async fn rotate(visit: OperatorVisit, Path(id): Path<String>, request: Request) -> Result<Response, Response> {
    receive_proven(&visit, request, &format!("rotate {id}"), PATH).await?;
    let (store, now) = (&visit.console.store, visit.now);
    let key = KeyId::parse(&id).ok_or_else(|| Problem::NotFound.into_response())?;
    let old = sql::find(store, &key).await.map_err(failed)?;
    let old = old.ok_or_else(|| Problem::NotFound.into_response())?;
    let new = NewKey::in_place_of(&old, random(), random());
    match sql::rotate(store, &visit.actor(), &old, &new, now + GRACE, now).await {
        Ok(()) => show_key(&visit, &new, "This key replaces the old one, which works for 24 hours more.").await,
        Err(WriteError::Conflict) => {
            explain_conflict(&visit, "This key was replaced or revoked already. No new one was made.").await
        }
        Err(WriteError::Internal(error)) => Err(failed(error)),
    }
}

/// `POST /console/keys/{id}/revoke`: asks first; the button of the question revokes.
async fn revoke(visit: OperatorVisit, Path(id): Path<String>, request: Request) -> Result<Response, Response> {
    let purpose = format!("revoke {id}");
    let form = receive_asked(&visit, request, &purpose, PATH).await?;
    let key = KeyId::parse(&id).ok_or_else(|| Problem::NotFound.into_response())?;
    if form == Confirmation::First {
        let question = Question {
            screen: Screen::Keys,
            title: "Revoke this key?",
            text: "Whoever calls the API with it is refused within five seconds. This cannot be undone.",
            action: &format!("/console/keys/{id}/revoke"),
            purpose: &purpose,
            button: "Revoke it",
            back: PATH,
        };
        return Ok(question.ask(&visit).await);
    }
    match sql::revoke(&visit.console.store, &visit.actor(), &key, visit.now).await {
        Ok(()) => Ok(to(&visit.console, PATH)),
        Err(WriteError::Conflict) => explain_conflict(&visit, "This key was revoked already.").await,
        Err(WriteError::Internal(error)) => Err(failed(error)),
    }
}

/// The keys, and above them why nothing was done: somebody was first, or there is no room.
async fn explain_conflict(visit: &OperatorVisit, text: &str) -> Result<Response, Response> {
    let above = html! { div.notice.warn role="alert" { (Sign::Info.draw(20)) p { (text) } } };
    let page = render(visit, &KeyPage::default(), above).await?;
    Ok((StatusCode::CONFLICT, page).into_response())
}

/// `POST /console/operators`: a link that makes somebody an operator, shown once.
async fn make_link(visit: OperatorVisit, request: Request) -> Result<Response, Response> {
    receive_proven(&visit, request, "new operator", PATH).await?;
    let made = operators::make_link(&visit.console.store, &visit.actor(), visit.now).await.map_err(failed)?;
    let Some(token) = made else {
        return explain_conflict(&visit, &format!("{MAX_OPERATORS} operators are the most. Remove one first.")).await;
    };
    let link = operators::setup_link(&visit.console.public_address, &token);
    let minutes = LINK_LASTS.as_secs() / 60;
    let above = html! {
        div.notice.ok role="status" {
            (Sign::Tick.draw(20))
            div.stack-sm {
                p { b { "Give this link to the new operator." } " It works once, for " (minutes) " minutes, and makes whoever opens it first an operator." }
                code.address #new-link { (link) }
            }
        }
    };
    render(&visit, &KeyPage::default(), above).await
}

/// `POST /console/operators/{id}/remove`: of somebody else; nobody locks themselves out.
async fn remove_operator(visit: OperatorVisit, Path(id): Path<String>, request: Request) -> Result<Response, Response> {
    let purpose = format!("remove {id}");
    let asked = receive_asked(&visit, request, &purpose, PATH).await?;
    let user = UserId::parse(&id).filter(|user| *user != visit.who.user.id);
    let user = user.ok_or_else(|| Problem::NotFound.into_response())?;
    if asked == Confirmation::First {
        let question = Question {
            screen: Screen::Keys,
            title: "Remove this operator?",
            text: "They see nothing of the console from the next page on.",
            action: &format!("/console/operators/{id}/remove"),
            purpose: &purpose,
            button: "Remove them",
            back: PATH,
        };
        return Ok(question.ask(&visit).await);
    }
    match operators::remove(&visit.console.store, &user, &visit.actor(), visit.now).await {
        Ok(()) => Ok(to(&visit.console, PATH)),
        Err(WriteError::Conflict) => explain_conflict(&visit, "They were removed already.").await,
        Err(WriteError::Internal(error)) => Err(failed(error)),
    }
}
