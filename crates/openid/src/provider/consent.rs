//! Handlers of `<issuer>/authorize/consent/{request}`, the page that asks a user for consent to a
//! client.

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use signpost_login::ids::UserId;
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::form::{CsrfToken, PostedForm, PostedFormError};
use signpost_platform::pages::icons::PageIcon;
use signpost_platform::web::PathParams;

use super::context::IssuerContext;
use super::document::{application_of, name};
use super::outcomes;
use crate::authorizations::host_of;
use crate::claims::{OpenidScope, address_of};
use crate::clients::EmailClaim;
use crate::flows::{AuthorizeOutcome, ConsentQuestion, continue_authorization, deny, restart};

/// `GET`: shows the consent page.
pub(super) async fn show(
    context: IssuerContext,
    PathParams((_, id)): PathParams<(String, String)>,
) -> Result<Response, Response> {
    show_question(&context, &id).await
}

async fn show_question(context: &IssuerContext, id: &str) -> Result<Response, Response> {
    let IssuerContext { service, domain, browser, .. } = context;
    match continue_authorization(service, domain, browser, id, None).await.map_err(IntoResponse::into_response)? {
        AuthorizeOutcome::ConsentRequired(question) => Ok(HtmlPage::personal(draw(context, &question)).into_response()),
        other => Ok(context.respond(other)),
    }
}

/// `POST`: accepts `answer=allow`, `answer=deny`, or `answer=other` to log in as another user. The
/// form is valid only for the user that its page shows; if another user is signed in now, the page
/// is shown again.
pub(super) async fn answer(
    context: IssuerContext,
    PathParams((_, id)): PathParams<(String, String)>,
    request: Request,
) -> Result<Response, Response> {
    let IssuerContext { service, domain, browser, .. } = &context;
    let form = PostedForm::receive(&service.origin, request).await;
    let form = form.map_err(|refusal| refuse(&context, &id, refusal))?;
    let Some(signed_in) = context.find_signed_in().await? else { return show_question(&context, &id).await };
    let checked = form.check(context.page_cookie(), &purpose(&id, &signed_in.user.id));
    checked.map_err(|refusal| refuse(&context, &id, refusal))?;
    let outcome = match form.text("answer") {
        Some("allow") => continue_authorization(service, domain, browser, &id, Some(signed_in.user.id)).await,
        Some("deny") => deny(service, domain, browser, &id).await,
        Some("other") => restart(service, domain, browser, &signed_in, &id).await,
        _ => return Err(refuse(&context, &id, PostedFormError::Malformed)),
    };
    match outcome.map_err(IntoResponse::into_response)? {
        AuthorizeOutcome::Redirect(url) => Ok(outcomes::redirect_after_form(&context, &url)),
        other => Ok(context.respond(other)),
    }
}

/// Returns the purpose of the form's CSRF token.
fn purpose(id: &str, user: &UserId) -> String {
    format!("consent {id} {user}")
}

fn refuse(context: &IssuerContext, id: &str, refusal: PostedFormError) -> Response {
    let page = outcomes::render_stale(context, &format!("authorize/consent/{id}"));
    HtmlPage::personal(page).with_status(refusal.status()).into_response()
}

fn draw(context: &IssuerContext, question: &ConsentQuestion) -> String {
    let words = context.words();
    let ConsentQuestion { id, request, signed_in, .. } = question;
    let redirect_uri = &request.target.redirect_uri;
    let application = application_of(&request.client, redirect_uri);
    let token = CsrfToken::new(&context.browser.page_cookie, &purpose(id.as_str(), &signed_in.user.id));
    let body = html! {
        div {
            h1 #t {
                small { (words.consent_question) " " }
                bdi { (application) }
            }
            p.called { ((words.returns_to)(&name(&host_of(redirect_uri)))) }
        }
        p { ((words.signed_in_as)(&name(signed_in.user.username()), &name(context.domain.name.as_str()))) }
        div.stack-sm {
            p #learns { (words.client_receives) }
            ul.points aria-labelledby="learns" {
                @for scope in question.scopes.iter() {
                    @if let Some(line) = describe_scope(context, question, scope) { li { (line) } }
                }
            }
        }
        form #consent method="post" action=(context.link_in_language(&format!("authorize/consent/{id}"))) {
            (token)
            div.grid2 {
                button #deny .btn.wide name="answer" value="deny" { (words.deny) }
                button #allow .btn.primary.wide name="answer" value="allow" { (PageIcon::Tick.draw(20)) (words.allow) }
            }
            p.sm { (words.not_you) " " button #not-you .link name="answer" value="other" { (words.log_in_as_other) } }
        }
        p.sm.soft { (words.consent_is_stored) }
    };
    context.draw(&(words.tab_consent)(&application), "consent", &body, true)
}

/// Describes the access that a scope gives the client. `None` if the scope gives no access.
fn describe_scope(context: &IssuerContext, question: &ConsentQuestion, scope: OpenidScope) -> Option<Markup> {
    let words = context.words();
    Some(match scope {
        OpenidScope::Openid => html! { (words.receives_id) },
        OpenidScope::Profile => html! { (words.receives_profile) },
        OpenidScope::Email if question.request.client.settings.email == EmailClaim::None => return None,
        OpenidScope::Email => {
            let address = address_of(&question.signed_in.user, &context.domain);
            html! { (words.receives_email) " " bdi.sm.soft { (address) } }
        }
        OpenidScope::OfflineAccess => html! { (words.receives_offline) },
    })
}
