//! `GET /account`: the accounts that this browser has logged in to.

use axum::response::Result;
use maud::{Markup, html};
use signpost_platform::accounts::Environment;
use signpost_platform::pages::HtmlPage;
use signpost_platform::pages::icons::PageIcon;

use super::context::AccountContext;
use super::document::{message, name};
use crate::browser_sessions::{BrowserSession, BrowserSessionState, sql};
use crate::domains::Domain;
use crate::error::Error;
use crate::flows::sign_in::read_signed_in;

/// An entry of the list: a domain at which this browser has logged in.
struct ListedAccount {
    domain: Domain,
    /// The username of the user, if the browser is still signed in.
    username: Option<String>,
}

/// `GET /account`: lists the accounts of the browser.
pub(super) async fn show(context: AccountContext) -> Result<HtmlPage> {
    context.count(&context.address).await?;
    let accounts = find_accounts(&context).await?;
    let words = context.words();
    let body = html! {
        @if accounts.is_empty() {
            (message(PageIcon::Key, &words.no_accounts))
        } @else {
            div.stack-sm {
                h1 #t { ((words.accounts)(&html! { bdi { (context.service.origin.host()) } })) }
                p.lead { (words.accounts_text) }
            }
            ul.keys { @for account in &accounts { li { (render_account(&context, account)) } } }
        }
    };
    let state = if accounts.is_empty() { "signed-out" } else { "accounts" };
    Ok(context.page(context.render(words.tab_accounts, state, &body)))
}

/// Returns the account of the newest login at each domain. Incomplete logins are omitted.
async fn find_accounts(context: &AccountContext) -> Result<Vec<ListedAccount>, Error> {
    let mut accounts: Vec<ListedAccount> = Vec::new();
    for session in sql::list(&context.service.store, &context.cookie.hash()).await? {
        let is_pending = session.state == BrowserSessionState::Pending;
        if is_pending || accounts.iter().any(|account| account.domain.id == session.domain_id) {
            continue;
        }
        accounts.extend(find_account(context, session).await?);
    }
    Ok(accounts)
}

async fn find_account(context: &AccountContext, session: BrowserSession) -> Result<Option<ListedAccount>, Error> {
    let Some(domain) = context.find_domain(session.domain_id.as_str()).await? else { return Ok(None) };
    let sign_in = read_signed_in(&context.service, session).await?;
    let username = sign_in.map(|sign_in| sign_in.user.username().to_owned());
    Ok(Some(ListedAccount { domain, username }))
}

fn render_account(context: &AccountContext, account: &ListedAccount) -> Markup {
    let words = context.words();
    let domain = &account.domain;
    let id = domain.id.as_str();
    let shown = name(domain.name.as_str());
    html! {
        span.ico { (PageIcon::Globe.draw(20)) }
        div.stack-sm {
            p { (shown) @if domain.account.environment == Environment::Sandbox { " " span.sm.soft { (words.sandbox) } } }
            @match &account.username {
                Some(username) => {
                    p.sm.soft { ((words.username_line)(&html! { bdi { (username) } })) }
                    p { a href=(context.link_at(id)) { ((words.show_keys)(&shown)) } }
                }
                None => {
                    p.sm.soft { (words.sign_in_expired) }
                    form method="post" action=(context.form_link_at(id, "login")) {
                        (context.token_at(id, "login"))
                        button.btn.small { span { ((words.log_in_at)(&shown)) } }
                    }
                }
            }
        }
    }
}
