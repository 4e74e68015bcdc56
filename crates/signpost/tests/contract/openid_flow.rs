//! The OpenID Connect flow from the authorization request to the tokens, for the other test modules.

use serde_json::Value;
use signpost_openid::clients::ClientSettings;

use crate::account::scan_and_answer;
use crate::harness::{Browser, Integrator, Phone, RelyingParty, Service, ShownPage, text};
use crate::page_flow::{create_user_at, register_hosted_domain};

/// An issuer with a user, a client, and a browser without a session.
pub(crate) struct Tenant {
    pub(crate) service: Service,
    pub(crate) integrator: Integrator,
    pub(crate) domain: Value,
    pub(crate) party: RelyingParty,
    pub(crate) browser: Browser,
    pub(crate) phone: Phone,
}

impl Tenant {
    /// Creates a sandbox issuer with a client that requires consent.
    pub(crate) async fn start() -> Self {
        Self::with(&[], |_| {}).await
    }

    /// Creates a sandbox issuer with a trusted client, without consent.
    pub(crate) async fn trusted() -> Self {
        Self::with(&[], |settings| settings.is_trusted = true).await
    }

    pub(crate) async fn with(settings: &[(&str, &str)], change: impl FnOnce(&mut ClientSettings)) -> Self {
        Self::of(Service::with(settings).await, change).await
    }

    pub(crate) async fn of(service: Service, change: impl FnOnce(&mut ClientSettings)) -> Self {
        let integrator = service.integrator().await;
        let domain = register_hosted_domain(&integrator, "shop.test").await;
        create_user_at(&service, &integrator, "shop.test", &service.phone()).await;
        let party = RelyingParty::at(&service, &domain, change).await;
        let (browser, phone) = (Browser::at(&service), service.phone());
        Self { service, integrator, domain, party, browser, phone }
    }

    /// Sends an authorization request with these parameters.
    pub(crate) async fn authorize(&mut self, with: &[(&str, &str)]) -> ShownPage {
        self.browser.visit(&self.party.authorize(with)).await
    }

    /// Logs in by wallet after the request, and returns the reply to the login callback.
    pub(crate) async fn log_in(&mut self, sent: ShownPage) -> ShownPage {
        log_in_by(&self.integrator, &mut self.browser, &self.phone, sent).await
    }

    /// Completes the flow up to the code.
    pub(crate) async fn code(&mut self, with: &[(&str, &str)]) -> String {
        let sent = self.authorize(with).await;
        let back = self.log_in(sent).await;
        let back = if is_to(&back, "/authorize/consent/") {
            let asked = self.browser.visit(&place(&back)).await;
            self.browser.give_consent(&asked).await
        } else {
            back
        };
        self.party.code(&back)
    }

    /// Returns a code for the signed-in user, without interaction.
    pub(crate) async fn code_again(&mut self, with: &[(&str, &str)]) -> String {
        let back = self.authorize(with).await;
        self.party.code(&back)
    }

    /// Completes the flow up to the tokens.
    pub(crate) async fn tokens(&mut self, with: &[(&str, &str)]) -> Value {
        let code = self.code(with).await;
        self.party.exchange_code(&code).await.with(200)
    }

    /// Refreshes with these scopes.
    pub(crate) async fn refresh_with(&self, tokens: &Value, scope: &str) -> Value {
        let token = text(tokens, "refresh_token");
        let form = [("grant_type", "refresh_token"), ("refresh_token", token), ("scope", scope)];
        self.party.post("/token", &form).await.with(200)
    }

    /// Returns the outcome of a request by a signed-in user.
    pub(crate) async fn repeat_authorization(&mut self, with: &[(&str, &str)]) -> String {
        let sent = self.authorize(with).await;
        if is_to(&sent, "/login/") {
            return "login page".to_owned();
        }
        if is_to(&sent, "/authorize/consent/") {
            return "consent page".to_owned();
        }
        self.party.authorization_response(&sent).remove("error").unwrap_or_else(|| "code".to_owned())
    }

    /// Returns the API path of the domain's users.
    pub(crate) fn users(&self) -> String {
        format!("/domains/{}/users", text(&self.domain, "id"))
    }
}

/// Logs in by wallet on the page to which the authorization request redirects.
pub(crate) async fn log_in_by(
    integrator: &Integrator,
    browser: &mut Browser,
    phone: &Phone,
    sent: ShownPage,
) -> ShownPage {
    assert!(is_to(&sent, "/login/"), "{sent:?}");
    log_in_at(integrator, browser, phone, &place(&sent)).await
}

/// Logs in by wallet on this login page.
pub(crate) async fn log_in_at(integrator: &Integrator, browser: &mut Browser, phone: &Phone, page: &str) -> ShownPage {
    let shown = browser.visit(page).await;
    assert_eq!(scan_and_answer(integrator, phone, &shown).await, 200, "{}", shown.html);
    let done = browser.visit(page).await;
    let back = done.is(200, "done").link("continue");
    browser.visit(&format!("{}?{}", back.path(), back.query().expect("a code"))).await
}

/// Returns the path and query of a redirect.
#[track_caller]
pub(crate) fn place(sent: &ShownPage) -> String {
    let to = sent.headers.get("location").unwrap_or_else(|| panic!("no location: {sent:?}"));
    let url: reqwest::Url = to.to_str().expect("an address").parse().unwrap_or_else(|_| {
        reqwest::Url::parse("http://localhost").expect("a URL").join(to.to_str().expect("text")).expect("a URL")
    });
    format!("{}?{}", url.path(), url.query().unwrap_or_default())
}

pub(crate) fn is_to(sent: &ShownPage, part: &str) -> bool {
    let to = sent.headers.get("location").and_then(|to| to.to_str().ok()).unwrap_or_default();
    sent.status == 303 && !to.contains("app.test") && to.contains(part)
}
