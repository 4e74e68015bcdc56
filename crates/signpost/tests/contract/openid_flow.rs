//! Standard login from the application's first word to its tokens, as the other chapters about it need it.

use serde_json::Value;
use signpost_openid::clients::ClientSettings;

use crate::account::scans;
use crate::harness::{Browser, Integrator, Phone, RelyingParty, Service, ShownPage, text};
use crate::page_flow::{hosts, registers_at};

/// A realm with one user, an application of it, and a browser where nobody is signed in.
pub(crate) struct Realm {
    pub(crate) service: Service,
    pub(crate) integrator: Integrator,
    pub(crate) domain: Value,
    pub(crate) party: RelyingParty,
    pub(crate) browser: Browser,
    pub(crate) phone: Phone,
}

impl Realm {
    /// In the sandbox, with an application that asks for consent.
    pub(crate) async fn start() -> Self {
        Self::with(&[], |_| {}).await
    }

    /// With an application that is the operator's own: nobody is asked for consent.
    pub(crate) async fn trusted() -> Self {
        Self::with(&[], |settings| settings.is_trusted = true).await
    }

    pub(crate) async fn with(settings: &[(&str, &str)], change: impl FnOnce(&mut ClientSettings)) -> Self {
        Self::of(Service::with(settings).await, change).await
    }

    pub(crate) async fn of(service: Service, change: impl FnOnce(&mut ClientSettings)) -> Self {
        let integrator = service.integrator().await;
        let domain = hosts(&integrator, "shop.test").await;
        registers_at(&service, &integrator, "shop.test", &service.phone()).await;
        let party = RelyingParty::at(&service, &domain, change).await;
        let (browser, phone) = (Browser::at(&service), service.phone());
        Self { service, integrator, domain, party, browser, phone }
    }

    /// The application sends the browser with this in its request.
    pub(crate) async fn asks(&mut self, with: &[(&str, &str)]) -> ShownPage {
        self.browser.goes_to(&self.party.authorize(with)).await
    }

    /// The person, whom the application sent, logs in by wallet; what becomes of that when the browser is back.
    pub(crate) async fn logs_in(&mut self, sent: ShownPage) -> ShownPage {
        logs_in_by(&self.integrator, &mut self.browser, &self.phone, sent).await
    }

    /// The whole way to a code.
    pub(crate) async fn code(&mut self, with: &[(&str, &str)]) -> String {
        let sent = self.asks(with).await;
        let back = self.logs_in(sent).await;
        let back = if is_to(&back, "/authorize/consent/") {
            let asked = self.browser.goes_to(&place(&back)).await;
            self.browser.agrees(&asked).await
        } else {
            back
        };
        self.party.code(&back)
    }

    /// A code for whoever is signed in, who is asked nothing.
    pub(crate) async fn code_again(&mut self, with: &[(&str, &str)]) -> String {
        let back = self.asks(with).await;
        self.party.code(&back)
    }

    /// The whole way to tokens.
    pub(crate) async fn tokens(&mut self, with: &[(&str, &str)]) -> Value {
        let code = self.code(with).await;
        self.party.redeems(&code).await.with(200)
    }

    /// Refreshes with these scopes.
    pub(crate) async fn refreshes_with(&self, tokens: &Value, scope: &str) -> Value {
        let token = text(tokens, "refresh_token");
        let form = [("grant_type", "refresh_token"), ("refresh_token", token), ("scope", scope)];
        self.party.posts("/token", &form).await.with(200)
    }

    /// What becomes of a request while somebody is signed in.
    pub(crate) async fn asks_again(&mut self, with: &[(&str, &str)]) -> String {
        let sent = self.asks(with).await;
        if is_to(&sent, "/login/") {
            return "login page".to_owned();
        }
        if is_to(&sent, "/authorize/consent/") {
            return "consent page".to_owned();
        }
        self.party.gets(&sent).remove("error").unwrap_or_else(|| "code".to_owned())
    }

    /// The path of the interface for the domain's users.
    pub(crate) fn users(&self) -> String {
        format!("/domains/{}/users", text(&self.domain, "id"))
    }
}

/// The person logs in on the page where the application's request led, and the browser goes back.
pub(crate) async fn logs_in_by(
    integrator: &Integrator,
    browser: &mut Browser,
    phone: &Phone,
    sent: ShownPage,
) -> ShownPage {
    assert!(is_to(&sent, "/login/"), "{sent:?}");
    logs_in_at(integrator, browser, phone, &place(&sent)).await
}

/// The same on the login page at this address.
pub(crate) async fn logs_in_at(integrator: &Integrator, browser: &mut Browser, phone: &Phone, page: &str) -> ShownPage {
    let shown = browser.goes_to(page).await;
    assert_eq!(scans(integrator, phone, &shown).await, 200, "{}", shown.html);
    let done = browser.goes_to(page).await;
    let back = done.is(200, "done").link("continue");
    browser.goes_to(&format!("{}?{}", back.path(), back.query().expect("a code"))).await
}

/// Where a browser is sent, without the host.
#[track_caller]
pub(crate) fn place(sent: &ShownPage) -> String {
    let to = sent.headers.get("location").unwrap_or_else(|| panic!("nowhere: {sent:?}"));
    let url: reqwest::Url = to.to_str().expect("an address").parse().unwrap_or_else(|_| {
        reqwest::Url::parse("http://localhost").expect("a URL").join(to.to_str().expect("text")).expect("a URL")
    });
    format!("{}?{}", url.path(), url.query().unwrap_or_default())
}

pub(crate) fn is_to(sent: &ShownPage, part: &str) -> bool {
    let to = sent.headers.get("location").and_then(|to| to.to_str().ok()).unwrap_or_default();
    sent.status == 303 && !to.contains("app.test") && to.contains(part)
}
