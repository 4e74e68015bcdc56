//! The page for API keys and operators. Changes require a recent login.

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
use signpost_platform::pages::icons::PageIcon;
use signpost_platform::web::problem::Problem;
use signpost_store::{WriteError, random};

use super::Console;
use super::context::{ConsoleError, OperatorContext};
use super::dates::render_time;
use super::document::{ConsolePage, ConsoleSection};
use super::operators::{self, LINK_LIFETIME, MAX_OPERATORS};
use super::proof::{
    ConfirmationStep, MAX_LABEL, Question, read_account_name, read_label, receive_confirmation,
    receive_with_recent_login,
};
use super::tables::{chip, older, panel, table};

/// Grace period in which a replaced key stays valid.
const GRACE: SignedDuration = SignedDuration::from_hours(24);
/// Number of keys on a page.
const PAGE_LEN: u32 = 100;
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

/// `GET /console/keys`: lists the API keys and the operators.
async fn show(context: OperatorContext, Query(page): Query<KeyPage>) -> Result<Response, ConsoleError> {
    render(&context, &page, html! {}).await
}

async fn render(context: &OperatorContext, page: &KeyPage, above: Markup) -> Result<Response, ConsoleError> {
    let origin = &context.origin;
    let mut before = None;
    if let Some(id) = KeyId::parse(&page.before) {
        before = sql::find(&context.store, &id).await?;
    }
    let keys = sql::list_page(&context.store, before.as_ref(), PAGE_LEN).await?;
    let rows = keys.iter().map(|key| key_row(context, key));
    let next = keys.last().filter(|_| keys.len() == PAGE_LEN as usize);
    let next = next.map(|last| origin.link(&format!("{PATH}?before={}", last.id)));
    let empty = html! { p { "No key was made yet. A site's server calls the API with one." } };
    let body = html! {
        (above)
        (panel("new", "New key", &html! {}, &new_key_form(context)))
        (panel("keys", "Keys", &html! {}, &html! {
            (table("Keys", &["Name", "Opens", "State", "Last used", "Change"], rows, &empty))
            (older(next))
        }))
        (draw_operators(context).await?)
    };
    let aside = html! {
        div.row {
            a.btn.small href=(origin.link("/console/log")) { "Audit log" }
            a.btn.small href=(origin.link("/console/settings")) { "Settings" }
        }
    };
    let note = html! { "To make or end a key, log in within the five minutes before." };
    let page =
        ConsolePage { note, aside, ..ConsolePage::new(context, ConsoleSection::KeysAndLog, "Keys and log", body) };
    page.respond().await
}

fn new_key_form(context: &OperatorContext) -> Markup {
    html! {
        form.inset.columns method="post" action=(context.origin.link(PATH)) {
            (context.token("new key"))
            div.field { label for="name" { "Name" } input #name name="name" required maxlength=(MAX_LABEL); p.hint { "Such as the site that uses it" } }
            div.field { label for="account" { "Account" } input #account name="account" value="default" required maxlength=(MAX_LABEL); p.hint { "Keys of one account see the same sites" } }
            div.field { label for="environment" { "Environment" } select #environment name="environment" { option value="sandbox" { "Sandbox" } option value="live" { "Live" } } }
            div.field { label for="scope" { "Opens" } select #scope name="scope" { option value="auth" { "The login API" } option value="manage" { "The login API with usernames and addresses" } option value="atms" { "Submissions of ATMs" } } }
            button.btn.primary { "Make the key" }
        }
    }
}

fn key_row(context: &OperatorContext, key: &StoredKey) -> Vec<Markup> {
    let has_expired = key.expires_at.is_some_and(|at| at <= context.now);
    let state = match (key.revoked_at, key.expires_at) {
        (Some(_), _) => chip("fail", "Revoked"),
        (None, Some(_)) if has_expired => chip("fail", "Ended"),
        (None, Some(at)) => html! { (chip("wait", "Replaced")) " works until " (render_time(at)) },
        (None, None) => chip("ok", "Works"),
    };
    let opens = match key.scope.api() {
        _ if key.scope.includes(Scope::Manage) => "the login API with usernames and addresses",
        Scope::Auth | Scope::Manage => "the login API",
        Scope::Atms => "submissions of ATMs",
    };
    let works = key.revoked_at.is_none() && !has_expired;
    vec![
        html! { b { (signpost_text::clean_line(&key.name)) } br; code { (key.id.as_str()) } },
        html! { (opens) ", " (key.environment.as_str()) ", account " (signpost_text::clean_line(&key.account)) },
        state,
        key.last_used_at.map_or_else(|| html! { "never" }, render_time),
        html! {
            @if works {
                div.row {
                    @if key.expires_at.is_none() { (key_form(context, key, "rotate", &html! { button.btn.small { "Replace" } })) }
                    (key_form(context, key, "revoke", &html! { button.btn.small.danger { "Revoke" } }))
                }
            }
        },
    ]
}

fn key_form(context: &OperatorContext, key: &StoredKey, action: &str, button: &Markup) -> Markup {
    let path = context.origin.link(&format!("/console/keys/{}/{action}", key.id));
    html! { form method="post" action=(path) { (context.token(&format!("{action} {}", key.id))) (button) } }
}

async fn draw_operators(context: &OperatorContext) -> Result<Markup, ConsoleError> {
    let operators = operators::list(&context.store).await?;
    let mut rows = Vec::new();
    for operator in &operators {
        let domain = &context.signed_in.session.domain_id;
        let found = users::sql::find(&context.store, domain, &operator.user_id).await?;
        let name = found.map_or_else(|| "gone".to_owned(), |(user, _)| user.username().to_owned());
        let is_current_operator = operator.user_id == context.signed_in.user.id;
        let action = context.origin.link(&format!("/console/operators/{}/remove", operator.user_id));
        rows.push(vec![
            html! { b { (name) } @if is_current_operator { " (you)" } br; code { (operator.user_id) } },
            render_time(operator.added_at),
            html! { (operator.added_by) },
            html! { @if !is_current_operator { form method="post" action=(action) { (context.token(&format!("remove {}", operator.user_id))) button.btn.small.danger { "Remove" } } } },
        ]);
    }
    let add = html! {
        form method="post" action=(context.origin.link("/console/operators")) {
            (context.token("new operator"))
            button.btn.small { "Add an operator" }
        }
    };
    Ok(panel(
        "operators",
        "Operators",
        &add,
        &table("Operators", &["Operator", "Since", "Added by", "Change"], rows, &html! {}),
    ))
}

/// `POST /console/keys`: creates an API key with the form fields `name`, `account`, `environment`
/// and `scope`. Only the response contains the key.
async fn create(context: OperatorContext, request: Request) -> Result<Response, ConsoleError> {
    let form = receive_with_recent_login(&context, request, "new key", PATH).await?;
    let (account, name, scope) = match read_new_key(&form) {
        Ok(new) => new,
        Err(reason) => {
            let above = html! { div.notice.danger role="alert" { (PageIcon::Stop.draw(20)) p { (reason) } } };
            let page = render(&context, &KeyPage::default(), above).await?;
            return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
        }
    };
    let key = NewKey::new(account.environment, random(), random()).with_scope(scope);
    sql::insert(&context.store, &context.actor(), &account, &name, &key, context.now).await?;
    show_key(&context, &key, "The key is made.").await
}

fn read_new_key(form: &PostedForm) -> Result<(Account, String, Scope), &'static str> {
    let name = read_label(form, "name").ok_or("Type a name of 1 to 64 characters for the key.")?;
    let account = read_account_name(form)?;
    let environment = form.text("environment").and_then(Environment::parse).ok_or("Choose sandbox or live.")?;
    let scope = match form.text("scope") {
        Some("auth") => Scope::Auth,
        Some("manage") => Scope::Manage,
        Some("atms") => Scope::Atms,
        _ => return Err("Choose what the key opens."),
    };
    Ok((Account { name: account, environment }, name, scope))
}

async fn show_key(context: &OperatorContext, key: &NewKey, head: &str) -> Result<Response, ConsoleError> {
    let above = html! {
        div.notice.ok role="status" {
            (PageIcon::Tick.draw(20))
            div.stack-sm {
                p { b { (head) } " Save it now: it is not shown again." }
                code.address #new-key { (key.key.expose_secret()) }
            }
        }
    };
    render(context, &KeyPage::default(), above).await
}

/// `POST /console/keys/{id}/rotate`: replaces an API key. Only the response contains the new key.
async fn rotate(context: OperatorContext, Path(id): Path<String>, request: Request) -> Result<Response, ConsoleError> {
    receive_with_recent_login(&context, request, &format!("rotate {id}"), PATH).await?;
    let now = context.now;
    let key = KeyId::parse(&id).ok_or(Problem::NotFound)?;
    let old = sql::find(&context.store, &key).await?.ok_or(Problem::NotFound)?;
    let new = NewKey::replacing(&old, random(), random());
    match sql::rotate(&context.store, &context.actor(), &old, &new, now + GRACE, now).await {
        Ok(()) => show_key(&context, &new, "This key replaces the old one, which works for 24 hours more.").await,
        Err(WriteError::Conflict) => {
            explain_conflict(&context, "This key was replaced or revoked already. No new one was made.").await
        }
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}

/// `POST /console/keys/{id}/revoke`: revokes an API key after a confirmation.
async fn revoke(context: OperatorContext, Path(id): Path<String>, request: Request) -> Result<Response, ConsoleError> {
    let purpose = format!("revoke {id}");
    let step = receive_confirmation(&context, request, &purpose, PATH).await?;
    let key = KeyId::parse(&id).ok_or(Problem::NotFound)?;
    if step == ConfirmationStep::Requested {
        let question = Question {
            section: ConsoleSection::KeysAndLog,
            title: "Revoke this key?",
            text: "Whoever calls the API with it is refused within five seconds. This cannot be undone.",
            action: &format!("/console/keys/{id}/revoke"),
            purpose: &purpose,
            button: "Revoke it",
            back: PATH,
        };
        return question.ask(&context).await;
    }
    match sql::revoke(&context.store, &context.actor(), &key, context.now).await {
        Ok(()) => Ok(context.redirect_to(PATH)),
        Err(WriteError::Conflict) => explain_conflict(&context, "This key was revoked already.").await,
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}

/// Returns the keys with the reason why no change was made.
async fn explain_conflict(context: &OperatorContext, text: &str) -> Result<Response, ConsoleError> {
    let above = html! { div.notice.warn role="alert" { (PageIcon::Info.draw(20)) p { (text) } } };
    let page = render(context, &KeyPage::default(), above).await?;
    Ok((StatusCode::CONFLICT, page).into_response())
}

/// `POST /console/operators`: creates a link for a new operator. Only the response contains the link.
async fn make_link(context: OperatorContext, request: Request) -> Result<Response, ConsoleError> {
    receive_with_recent_login(&context, request, "new operator", PATH).await?;
    let token = operators::make_link(&context.store, &context.actor(), context.now).await?;
    let Some(token) = token else {
        return explain_conflict(&context, &format!("{MAX_OPERATORS} operators are the most. Remove one first.")).await;
    };
    let link = operators::setup_link(&context.public_address, &token);
    let minutes = LINK_LIFETIME.as_secs() / 60;
    let above = html! {
        div.notice.ok role="status" {
            (PageIcon::Tick.draw(20))
            div.stack-sm {
                p { b { "Give this link to the new operator." } " It works once, for " (minutes) " minutes, and makes whoever opens it first an operator." }
                code.address #new-link { (link) }
            }
        }
    };
    render(&context, &KeyPage::default(), above).await
}

/// `POST /console/operators/{id}/remove`: removes an operator after a confirmation. Operators
/// cannot remove themselves.
async fn remove_operator(
    context: OperatorContext,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ConsoleError> {
    let purpose = format!("remove {id}");
    let step = receive_confirmation(&context, request, &purpose, PATH).await?;
    let user = UserId::parse(&id).filter(|user| *user != context.signed_in.user.id);
    let user = user.ok_or(Problem::NotFound)?;
    if step == ConfirmationStep::Requested {
        let question = Question {
            section: ConsoleSection::KeysAndLog,
            title: "Remove this operator?",
            text: "They see nothing of the console from the next page on.",
            action: &format!("/console/operators/{id}/remove"),
            purpose: &purpose,
            button: "Remove them",
            back: PATH,
        };
        return question.ask(&context).await;
    }
    match operators::remove(&context.store, &user, &context.actor(), context.now).await {
        Ok(()) => Ok(context.redirect_to(PATH)),
        Err(WriteError::Conflict) => explain_conflict(&context, "They were removed already.").await,
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}
