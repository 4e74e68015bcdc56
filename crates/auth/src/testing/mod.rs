//! Logs users in at a site without a browser, for tests. Works only in the sandbox.
//!
//! The login goes through the site's own login handlers: the requests are those of a browser
//! without scripts, and the service simulates the wallet. Enable the feature `testing` only for
//! tests, in `[dev-dependencies]`.
//!
//! ```no_run
//! # async fn example(key: &str) -> Result<(), signpost_auth::testing::LogInError> {
//! use signpost_auth::testing::{LogInOptions, log_in};
//!
//! let login = log_in("http://localhost:9001", &LogInOptions::new(key)).await?;
//! println!("{} {}", login.location, login.cookie());
//! # Ok(())
//! # }
//! ```

mod browser;
mod page;

use std::collections::BTreeMap;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use crate::client::{SessionUser, Signpost, SignpostError, Simulated};
use browser::{ScriptlessBrowser, to_header};
use page::{LoginPage, ShownPage};

/// Maximum number of redirects between the site and the login page.
const MAX_REDIRECTS: usize = 5;

/// The options of [`log_in`].
#[derive(Clone, Debug)]
pub struct LogInOptions {
    /// The site's API key, of the sandbox: `svc_test_…`.
    pub key: SecretString,
    /// The base URL of the sandbox, which ends in `/sandbox/v1`. The default is the sandbox of a
    /// service on this machine.
    pub base_url: Option<String>,
    /// The number of the simulated wallet, 1 to 100. Each wallet is one user, at every login. The
    /// first login of a wallet creates its user.
    pub wallet: u8,
    /// The path of the site to continue at.
    pub next: String,
    /// Whether the user cancels the login.
    pub denied: bool,
    /// The path of the login handlers.
    pub path: String,
}

/// The result of a login at a site.
#[derive(Clone, Debug)]
pub struct SiteLogin {
    /// The site's cookies after the login, by name.
    pub cookies: BTreeMap<String, String>,
    /// The URL that the site redirected to after the login.
    pub location: Url,
    /// The user, as the service returns it. `None` if the login was cancelled.
    pub user: Option<SessionUser>,
}

/// A reason for a failed [`log_in`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogInError {
    /// The service rejected a call, or an option is invalid.
    #[error(transparent)]
    Service(#[from] SignpostError),
    /// The login failed. The text names the cause.
    #[error("{0}")]
    Failed(String),
}

impl LogInOptions {
    /// Creates the options for a login of the first wallet, at the sandbox of a service on this
    /// machine.
    pub fn new(key: impl Into<SecretString>) -> Self {
        let (next, path) = ("/".to_owned(), "/signpost".to_owned());
        Self { key: key.into(), base_url: None, wallet: 1, next, denied: false, path }
    }
}

impl SiteLogin {
    /// Returns the value of a `Cookie` header with the cookies.
    #[must_use]
    pub fn cookie(&self) -> String {
        to_header(&self.cookies)
    }
}

/// Logs a user in at a running site, through the site's own login handlers. `site` is the origin of
/// the site, such as `http://localhost:9001`.
///
/// # Errors
/// Returns `invalid_argument` if the key or the base URL is not of the sandbox, the errors of the
/// service, or [`LogInError::Failed`] with the cause.
pub async fn log_in(site: &str, options: &LogInOptions) -> Result<SiteLogin, LogInError> {
    let site = parse_origin(site)?;
    let signpost = sandbox_client(options)?;
    let mut browser = ScriptlessBrowser::new()?;
    let page = open_login_page(&mut browser, start_url(&site, options)?).await?;
    if !options.denied {
        answer(&signpost, &mut browser, &page, options.wallet).await?;
    }
    let back = leave(&mut browser, &page, options.denied).await?;
    let location = return_to_site(&mut browser, &site, &back, options.denied).await?;
    let user = if options.denied { None } else { signpost.sessions().get(&page.session).await?.user };
    Ok(SiteLogin { cookies: browser.cookies(&site), location, user })
}

/// Creates a client of the sandbox.
///
/// # Errors
/// Returns `invalid_argument` for every other environment.
fn sandbox_client(options: &LogInOptions) -> Result<Signpost, SignpostError> {
    if !options.key.expose_secret().starts_with("svc_test_") {
        return Err(SignpostError::invalid_argument("log_in needs an API key of the sandbox, svc_test_…"));
    }
    let mut signpost = Signpost::new(options.key.clone())?;
    if let Some(base_url) = &options.base_url {
        signpost = signpost.with_base_url(base_url)?;
    }
    if !signpost.base_url().path().trim_end_matches('/').ends_with("/sandbox/v1") {
        return Err(SignpostError::invalid_argument("log_in needs a base URL of the sandbox, …/sandbox/v1"));
    }
    Ok(signpost)
}

fn parse_origin(site: &str) -> Result<Url, SignpostError> {
    match Url::parse(site) {
        Ok(url)
            if matches!(url.scheme(), "http" | "https")
                && url.path() == "/"
                && url.query().is_none()
                && url.fragment().is_none()
                && url.username().is_empty() =>
        {
            Ok(url)
        }
        _ => Err(SignpostError::invalid_argument("the site is an origin, such as http://localhost:9001")),
    }
}

fn start_url(site: &Url, options: &LogInOptions) -> Result<Url, LogInError> {
    let mut start = format!("{}/login", options.path);
    if options.next != "/" {
        start = format!("{start}?next={}", utf8_percent_encode(&options.next, NON_ALPHANUMERIC));
    }
    site.join(&start).map_err(|error| failed(format!("{start} is no path of the site: {error}")))
}

/// Follows the redirects from the site to the login page.
async fn open_login_page(browser: &mut ScriptlessBrowser, start: Url) -> Result<LoginPage, LogInError> {
    let mut url = start.clone();
    for _ in 0..=MAX_REDIRECTS {
        let session = page::session_of(&url)?;
        let shown = browser.open(&url).await?;
        if let Some(session) = session {
            if shown.status != 200 {
                return Err(failed(format!("the login page has status {}: {}", shown.status, shown.text())));
            }
            return Ok(LoginPage { url, session, shown });
        }
        if let Some(reason) = shown.login_error() {
            let advice = "LoginSite::on_error has the reason";
            return Err(failed(format!("the site could not start a login (login_error={reason}); {advice}")));
        }
        let Some(location) = shown.location else {
            let status = shown.status;
            let expected = "a redirect to the login page: are the login handlers mounted there?";
            return Err(failed(format!("{url} has status {status} instead of {expected}")));
        };
        url = location;
    }
    Err(failed(format!("{start} redirected more than {MAX_REDIRECTS} times, and not to the login page")))
}

/// Answers the code of the page with a simulated wallet. For a new wallet, the page shows another
/// code.
async fn answer(
    signpost: &Signpost,
    browser: &mut ScriptlessBrowser,
    page: &LoginPage,
    wallet: u8,
) -> Result<(), LogInError> {
    for is_new in [false, true] {
        let simulated = Simulated { wallet: Some(wallet), fault: None };
        let simulation = signpost.sessions().simulate(&page.session, &simulated).await?;
        if simulation.status == Some(200) {
            return Ok(());
        }
        let reply = simulation.body.or(simulation.error).unwrap_or_default();
        if is_new || !reply.contains("account_needed") {
            let status = simulation.status.unwrap_or_default();
            return Err(failed(format!("the simulated wallet was refused with status {status}: {reply}")));
        }
        browser.open(&page.url).await?;
    }
    Ok(())
}

/// Returns the URL that the page sends the browser back to.
async fn leave(browser: &mut ScriptlessBrowser, page: &LoginPage, denied: bool) -> Result<Url, LogInError> {
    let (shown, link) = if denied {
        (cancel(browser, page).await?, "<a id=\"back\"")
    } else {
        (browser.open(&page.url).await?, "<a id=\"continue\"")
    };
    if let Some(location) = shown.location {
        return Ok(location);
    }
    let Some(back) = shown.attribute(link, "href") else {
        let (status, text) = (shown.status, shown.text());
        return Err(failed(format!("the login page has no link back to the site; its status is {status}: {text}")));
    };
    page.resolve(&back)
}

async fn cancel(browser: &mut ScriptlessBrowser, page: &LoginPage) -> Result<ShownPage, LogInError> {
    let Some((action, token)) = page.shown.form("cancel") else {
        return Err(failed(format!("the login cannot be cancelled: {}", page.shown.text())));
    };
    browser.submit(&page.resolve(&action)?, &[("token", &token)]).await
}

/// Opens the site's return, and returns the URL that the site redirects to.
async fn return_to_site(
    browser: &mut ScriptlessBrowser,
    site: &Url,
    back: &Url,
    denied: bool,
) -> Result<Url, LogInError> {
    if back.origin() != site.origin() {
        let (there, here) = (back.origin().ascii_serialization(), site.origin().ascii_serialization());
        let advice = format!("log in there instead of at {here}");
        return Err(failed(format!("the login returns to {there}, the site of the login handlers: {advice}")));
    }
    let shown = browser.open(back).await?;
    if let Some(reason) = shown.login_error().filter(|reason| !denied || reason != "access_denied") {
        return Err(failed(format!("the login failed with login_error={reason}; LoginSite::on_error has the reason")));
    }
    let status = shown.status;
    shown.location.ok_or_else(|| failed(format!("the site answered the return of the login with status {status}")))
}

fn failed(message: String) -> LogInError {
    LogInError::Failed(message)
}
