//! The form that registers a site, with the rules of `signpost domains add` and `POST /domains`.
//! Only its response contains the secret.

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use maud::{Markup, html};
use signpost_auth::EventKind;
use signpost_login::domains::{
    self, Domain, DomainEntropy, EventSelection, HandlerKind, MAX_DOMAINS, NewDomain, RegisterDomainError,
    RegisteredDomain, SHARED_LOGIN_HOST, register,
};
use signpost_platform::accounts::{Account, Environment};
use signpost_platform::pages::form::PostedForm;
use signpost_platform::pages::icons::PageIcon;

use super::Console;
use super::context::{ConsoleError, FormError, OperatorContext};
use super::document::{ConsolePage, ConsoleSection};
use super::proof::{MAX_LABEL, read_account_name, receive_with_recent_login};
use super::tables::panel;

/// The path of the form.
pub(super) const NEW_SITE_PATH: &str = "/console/sites/new";
/// Maximum length of a host name and of a URL, in characters.
const MAX_HOST: usize = 253;
const MAX_URL: usize = 2_000;
/// Name of the field that shows that the form has boxes for the kinds of events. A browser sends no field for a box
/// without a check.
const EVENTS_FIELD: &str = "events";

pub(super) fn router() -> Router<Console> {
    Router::new().route(NEW_SITE_PATH, get(show).post(create))
}

/// The submitted values of the form, for rendering it again after an error.
#[derive(Debug, Default)]
struct TypedSite {
    domain: String,
    account: String,
    environment: String,
    handler: String,
    webhook_url: String,
    event_url: String,
    /// The checked kinds of events. `None` if the form had no boxes for them.
    events: Option<Vec<EventKind>>,
}

impl TypedSite {
    fn read(form: &PostedForm) -> Self {
        let [domain, account, environment, handler, webhook_url, event_url] =
            ["domain", "account", "environment", "handler", "webhook_url", "event_url"]
                .map(|field| form.text(field).unwrap_or_default().trim().to_owned());
        let events = EventKind::SELECTABLE.into_iter().filter(|kind| form.text(&events_field(kind)).is_some());
        let events = form.text(EVENTS_FIELD).map(|_| events.collect());
        Self { domain, account, environment, handler, webhook_url, event_url, events }
    }

    /// Returns the checked kinds of events. `None` if they are the default.
    fn events(&self, handler: HandlerKind) -> Option<EventSelection> {
        let checked = EventSelection::parse(self.events.as_ref()?.iter().map(EventKind::as_str)).ok()?;
        // A direct site has no links: the boxes that are checked at first are its default too.
        let is_default = match handler {
            HandlerKind::Hosted => checked == EventSelection::default_for(HandlerKind::Hosted),
            HandlerKind::Direct => {
                [HandlerKind::Direct, HandlerKind::Hosted].map(EventSelection::default_for).contains(&checked)
            }
        };
        (!is_default).then_some(checked)
    }

    /// Returns the domain to be registered.
    fn new_domain(&self) -> Result<NewDomain, &'static str> {
        let handler = match self.handler.as_str() {
            "hosted" => HandlerKind::Hosted,
            "direct" => HandlerKind::Direct,
            _ => return Err("Choose who answers wallets."),
        };
        let mut webhook_url = self.webhook_url.clone();
        if webhook_url.is_empty() {
            webhook_url = NewDomain::default_webhook_url(&self.domain);
        }
        let event_url = (!self.event_url.is_empty()).then(|| self.event_url.clone());
        let events = self.events(handler);
        Ok(NewDomain { domain: self.domain.clone(), webhook_url, event_url, handler, events })
    }
}

/// `GET /console/sites/new`: shows the form.
async fn show(context: OperatorContext) -> Result<Response, ConsoleError> {
    render_form(&context, &TypedSite { account: "default".to_owned(), ..TypedSite::default() }, None).await
}

/// `POST /console/sites/new`: registers a site with the form fields `domain`, `account`,
/// `environment`, `handler`, `webhook_url` and `event_url`, and a field for each kind of event.
async fn create(context: OperatorContext, request: Request) -> Result<Response, ConsoleError> {
    let form = receive_with_recent_login(&context, request, "new site", NEW_SITE_PATH).await?;
    let typed = TypedSite::read(&form);
    match register_site(&context, &form, &typed).await {
        Ok(registered) => show_registered(&context, &registered).await,
        Err(FormError::Invalid(reason)) => {
            let page = render_form(&context, &typed, Some(&reason)).await?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
        Err(FormError::Other(error)) => Err(error),
    }
}

async fn register_site(
    context: &OperatorContext,
    form: &PostedForm,
    typed: &TypedSite,
) -> Result<RegisteredDomain, FormError> {
    let name = read_account_name(form).map_err(FormError::invalid)?;
    let environment =
        Environment::parse(&typed.environment).ok_or_else(|| FormError::invalid("Choose sandbox or live."))?;
    let new_domain = typed.new_domain().map_err(FormError::invalid)?;
    let settings = &context.login.settings;
    let egress = settings.egress_policy(environment, context.is_loopback_only);
    let registered = register(&new_domain, Account { name, environment }, egress, context.now, DomainEntropy::draw())
        .map_err(|(field, reason)| FormError::Invalid(format!("{}: {reason}.", label(field))))?;
    match domains::sql::insert(&context.store, &settings.seal(), &registered, &context.actor()).await {
        Ok(()) => Ok(registered),
        Err(RegisterDomainError::Exists(existing)) => Err(FormError::Invalid(format!(
            "The account has this site already, as {}. Nothing has changed.",
            existing.id
        ))),
        Err(RegisterDomainError::TooMany) => {
            Err(FormError::Invalid(format!("An account can have at most {MAX_DOMAINS} sites.")))
        }
        Err(RegisterDomainError::SharedLoginHost) => {
            Err(FormError::Invalid(format!("It was not registered: {SHARED_LOGIN_HOST}.")))
        }
        Err(RegisterDomainError::Internal(error)) => Err(error.into()),
    }
}

/// Returns the label of a field.
fn label(field: &str) -> &str {
    match field {
        "domain" => "Host name",
        "webhook_url" => "Webhook URL",
        "event_url" => "Event URL",
        other => other,
    }
}

async fn render_form(
    context: &OperatorContext,
    typed: &TypedSite,
    refused: Option<&str>,
) -> Result<Response, ConsoleError> {
    let origin = &context.origin;
    let body = html! {
        @if let Some(reason) = refused {
            div.notice.danger role="alert" { (PageIcon::Stop.draw(20)) div { p { b { "The site was not added." } } p { (signpost_text::clean_line(reason)) } } }
        }
        (panel("site", "A site", &html! {}, &html! {
            form.inset.columns method="post" action=(origin.link(NEW_SITE_PATH)) {
                (context.token("new site"))
                div.field { label for="domain" { "Host name" } input #domain name="domain" value=(typed.domain) required maxlength=(MAX_HOST); p.hint { "Such as shop.example; in the sandbox also localhost" } }
                div.field { label for="account" { "Account" } input #account name="account" value=(typed.account) required maxlength=(MAX_LABEL); p.hint { "Keys of this account see the site" } }
                div.field { label for="environment" { "Environment" } select #environment name="environment" {
                    (option("sandbox", &typed.environment, "Sandbox: for trying, no proof")) (option("live", &typed.environment, "Live: with a proof that it is yours")) } }
                div.field { label for="handler" { "Wallets are answered by" } select #handler name="handler" {
                    (option("hosted", &typed.handler, "This server (hosted)")) (option("direct", &typed.handler, "The site (direct)")) } }
                div.field { label for="webhook_url" { "Webhook URL" } input #webhook_url name="webhook_url" type="url" value=(typed.webhook_url) maxlength=(MAX_URL); p.hint { "Empty: https://HOST/webhooks/login" } }
                div.field { label for="event_url" { "Event URL" } input #event_url name="event_url" type="url" value=(typed.event_url) maxlength=(MAX_URL); p.hint { "Where events go. Empty: the webhook URL" } }
                fieldset.field { legend { "Events" } @for kind in EventKind::SELECTABLE { (events_box(&kind, typed.events.as_deref())) }
                    p.hint { "A direct site has no users here, and gets login and register alone" }
                    input type="hidden" name=(EVENTS_FIELD) value="chosen"; }
                button.btn.primary { "Add the site" }
            }
        }))
    };
    let note = html! { "To add a site, log in within the five minutes before: its secret is shown once." };
    let page = ConsolePage { note, ..ConsolePage::new(context, ConsoleSection::Sites, "Add a site", body) };
    page.respond().await
}

/// Returns the name of the form field for a kind of event.
fn events_field(kind: &EventKind) -> String {
    format!("event {kind}")
}

/// Draws the box of a kind of event. The kinds of hosted sites are checked at first.
fn events_box(kind: &EventKind, checked: Option<&[EventKind]>) -> Markup {
    let is_checked = match checked {
        Some(checked) => checked.contains(kind),
        None => EventSelection::default_for(HandlerKind::Hosted).contains(kind),
    };
    html! {
        label.choice { input type="checkbox" name=(events_field(kind)) value="on" checked[is_checked]; code { (kind.as_str()) } }
    }
}

fn option(value: &str, chosen: &str, text: &str) -> Markup {
    html! { option value=(value) selected[value == chosen] { (text) } }
}

async fn show_registered(context: &OperatorContext, registered: &RegisteredDomain) -> Result<Response, ConsoleError> {
    let RegisteredDomain { domain, secret } = registered;
    let site = context.origin.link(&format!("/console/sites/{}", domain.id));
    let is_live = domain.account.environment == Environment::Live;
    let needs_https =
        is_live && domain.handler == HandlerKind::Hosted && !context.origin.as_str().starts_with("https:");
    let body = html! {
        div.notice.ok role="status" {
            (PageIcon::Tick.draw(20))
            div.stack-sm {
                p { b { "The site is added." } " Give it this signing secret now: it is not shown again." }
                code.address #new-secret { (secret.reveal()) }
            }
        }
        @if is_live { (panel("proof", "Show that it is yours", &html! {}, &draw_proof(domain))) }
        @if needs_https {
            div.notice.warn { (PageIcon::Info.draw(20)) p { "Live logins of a hosted site need this server at an https address: set " code { "public_url" } "." } }
        }
        p { a.btn.primary href=(site) { "To the site" } }
    };
    ConsolePage::new(context, ConsoleSection::Sites, domain.name.as_str(), body).respond().await
}

/// Draws the instructions for the ownership proof of a live site.
pub(super) fn draw_proof(domain: &Domain) -> Markup {
    let Domain { name, verification_token, .. } = domain;
    html! {
        div.inset.stack-sm {
            p { "Until then no login is opened on it. Do one of these, then press “Look for the proof now” on its page:" }
            ul.points {
                li { "A TXT record at " code { "_svc-challenge." (name.as_str()) } " or at " code { (name.as_str()) } " with this text." }
                li { "A file at " code { "https://" (name.as_str()) "/.well-known/svc-verify" } " with this text on a line of its own." }
            }
            code.address #proof-token { (verification_token.as_str()) }
        }
    }
}
