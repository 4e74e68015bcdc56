//! `GET /account/{domain}`: the user's own keys.

use axum::http::Uri;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use signpost_platform::pages::icons::Sign;
use url::form_urlencoded;

use super::document::{domain_heading, name};
use super::outcomes;
use super::visit::{AccountVisit, Deed, OwnRealm};
use super::words::AccountWords;
use crate::users::{Credential, CredentialKind, MAX_CREDENTIALS};

/// How many digits of a key are shown: enough to tell one's own apart.
const SHOWN_DIGITS: usize = 8;

/// What a form that was refused held, to be shown again.
#[derive(Clone, Debug)]
pub(super) struct BadName {
    pub(super) credential: String,
    pub(super) typed: String,
}

/// `GET /account/{domain}`
pub(super) async fn show(visit: AccountVisit, id: &str, deed: Option<Deed>) -> Result<Response, Response> {
    let document = match visit.find_own(id).await? {
        Some(own) => draw_keys(&visit, &own, deed, None),
        None => outcomes::render_out(&visit, id),
    };
    Ok(visit.page(document).into_response())
}

/// What was done, as the address says.
pub(super) fn read_deed(uri: &Uri) -> Option<Deed> {
    let query = uri.query().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes()).find_map(|(name, word)| (name == "said").then(|| Deed::parse(&word)))?
}

/// The page of a realm, with what was done before it was loaded, or what was wrong.
pub(super) fn draw_keys(visit: &AccountVisit, own: &OwnRealm, deed: Option<Deed>, bad: Option<&BadName>) -> String {
    let (words, id) = (visit.words(), own.domain.id.as_str());
    let (is_fresh, credentials) = (own.who.proof.is_fresh(visit.now), &own.who.credentials);
    let body = html! {
        (domain_heading(words, &own.domain))
        @if let Some(bad) = bad { (name_summary(words, bad)) }
        @if let Some(deed) = deed { (notice(words, deed)) }
        p.lead { ((words.known_as)(&html! { bdi { (own.who.user.petname.as_str()) } })) }
        @if credentials.len() == 1 { (spare_missing(visit, own)) }
        h2 { (words.keys) }
        ul.keys {
            @for credential in credentials {
                li {
                    span.ico { (sign(credential.kind).draw(20)) }
                    div.stack-sm {
                        (facts(words, own, credential))
                        @if is_fresh { (changes(visit, own, credential, bad)) }
                    }
                }
            }
        }
        @if !is_fresh {
            (outcomes::old_proof(visit, own))
        } @else if credentials.len() < MAX_CREDENTIALS as usize {
            div.stack-sm {
                form #add method="post" action=(visit.link(id, "add")) {
                    (visit.token(id, "add"))
                    button.btn.primary.wide { (Sign::Key.draw(20)) (words.add_key) }
                }
                p.sm.soft { (words.add_hint) }
            }
        } @else {
            p.soft { (words.too_many) }
        }
        (sign_out(visit, own))
        p { a href=(visit.link_to_list()) { (words.all_accounts) } }
    };
    visit.draw(&(words.tab_keys)(own.domain.name.as_str()), "account", &body)
}

fn notice(words: &AccountWords, deed: Deed) -> Markup {
    let (class, sign, text) = match deed {
        Deed::Renamed => ("notice ok", Sign::Tick, words.renamed),
        Deed::Added => ("notice ok", Sign::Tick, words.was_added),
        Deed::Gone => ("notice", Sign::Info, words.was_gone),
        Deed::Nothing => ("notice", Sign::Info, words.nothing_changed),
    };
    html! { div class=(class) role="status" { (sign.draw(20)) p { (text) } } }
}

fn name_summary(words: &AccountWords, bad: &BadName) -> Markup {
    html! {
        div #errors .notice.danger role="alert" tabindex="-1" autofocus {
            (Sign::Stop.draw(20))
            p { a href={ "#name-" (bad.credential) } { (words.bad_name) } }
        }
    }
}

fn spare_missing(visit: &AccountVisit, own: &OwnRealm) -> Markup {
    let words = visit.words();
    html! {
        div.notice.warn {
            (Sign::Info.draw(20))
            p { b { (words.spare_missing) } " " ((words.only_key)(&name(own.domain.name.as_str()))) }
        }
    }
}

fn facts(words: &AccountWords, own: &OwnRealm, credential: &Credential) -> Markup {
    let digits = &credential.public_key[credential.public_key.len().saturating_sub(SHOWN_DIGITS)..];
    html! {
        h3 { bdi { (credential.name) } }
        p.sm.soft {
            ((words.kind)(credential.kind)) " · " ((words.ends_in)(&html! { code { (digits) } }))
            " · " ((words.added)(&day(words, credential.added_at)))
            " · "
            @match credential.last_used_at {
                Some(at) => ((words.last_used)(&day(words, at))),
                None => (words.never_used),
            }
        }
        @if credential.public_key == own.who.proof.public_key { p.sm { (words.signed_in_with) } }
    }
}

fn day(words: &AccountWords, at: Timestamp) -> Markup {
    let date = at.to_zoned_datetime(TimeZone::UTC).date();
    html! { time datetime=(date) { ((words.day)(date)) } }
}

/// The name in a field, and the button that asks whether to remove the key.
fn changes(visit: &AccountVisit, own: &OwnRealm, credential: &Credential, bad: Option<&BadName>) -> Markup {
    let (words, realm, id) = (visit.words(), own.domain.id.as_str(), credential.id.as_str());
    let bad = bad.filter(|bad| bad.credential == id);
    let typed = bad.map_or(credential.name.as_str(), |bad| &bad.typed);
    let about = |what: &str| format!("{what}: {}", credential.name);
    html! {
        details open[bad.is_some()] {
            summary aria-label=(about(words.change)) { (words.change) }
            div.stack {
                form id={ "rename-" (id) } method="post" action=(visit.link(realm, "rename")) {
                    (visit.token(realm, "rename"))
                    input type="hidden" name="credential" value=(id);
                    div class={ "field" @if bad.is_some() { " bad" } } {
                        label for={ "name-" (id) } { (words.name) }
                        input id={ "name-" (id) } name="name" value=(typed) required maxlength="60" autocomplete="off"
                            aria-describedby={ "hint-" (id) } aria-invalid=[bad.map(|_| "true")];
                        @if bad.is_some() {
                            span.error id={ "hint-" (id) } { (Sign::Stop.draw(16)) (words.bad_name) }
                        } @else {
                            span.hint id={ "hint-" (id) } { (words.name_hint) }
                        }
                    }
                    button.btn.small { (words.save_name) }
                }
                @if own.who.credentials.len() > 1 {
                    form id={ "remove-" (id) } method="post" action=(visit.link(realm, "remove")) {
                        (visit.token(realm, "ask"))
                        input type="hidden" name="credential" value=(id);
                        button.btn.small.danger aria-label=(about(words.remove)) { (words.remove) }
                    }
                } @else {
                    p.sm.soft { (words.last_key) }
                }
            }
        }
    }
}

fn sign_out(visit: &AccountVisit, own: &OwnRealm) -> Markup {
    let (words, id) = (visit.words(), own.domain.id.as_str());
    let form = |form: &str, button: &str| {
        html! {
            form id=(form) method="post" action=(visit.link(id, form)) {
                (visit.token(id, form))
                button.btn { (button) }
            }
        }
    };
    html! {
        h2 { (words.sign_out) }
        p.sm.soft { ((words.sign_out_text)(&name(own.domain.name.as_str()))) }
        div.row { (form("sign-out", words.sign_out_here)) (form("sign-out-everywhere", words.sign_out_everywhere)) }
    }
}

fn sign(kind: CredentialKind) -> Sign {
    match kind {
        CredentialKind::Wallet => Sign::Wallet,
        CredentialKind::Lightning => Sign::Lightning,
        CredentialKind::Passkey => Sign::Key,
    }
}
