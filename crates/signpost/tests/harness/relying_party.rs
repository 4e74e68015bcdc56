//! An OpenID Connect client: it sends browsers to the authorization endpoint and exchanges the authorization codes.

use std::collections::BTreeMap;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, LOCATION};
use reqwest::{Client as Http, Method, RequestBuilder};
use serde_json::Value;
use signpost_login::domains;
use signpost_login::ids::DomainId;
use signpost_openid::clients::{self, Client, ClientEntropy, ClientSettings, RedirectUris};
use signpost_platform::accounts::audit::Actor;
use url::form_urlencoded;

use super::{Browser, Reply, Service, ShownPage, send, text};

/// The code verifier of RFC 7636, appendix B.
pub(crate) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// A registered client of a domain.
#[derive(Clone, Debug)]
pub(crate) struct RelyingParty {
    http: Http,
    /// The base URL of the test's server.
    base: String,
    /// The public origin of the server.
    origin: String,
    /// The path of the issuer.
    pub(crate) path: String,
    pub(crate) client: Client,
    pub(crate) secret: Option<String>,
    pub(crate) redirect_uri: String,
}

/// The parameters of an authorization response.
pub(crate) type Answer = BTreeMap<String, String>;

impl RelyingParty {
    /// Registers a client at a domain, with changed settings.
    pub(crate) async fn at(service: &Service, domain: &Value, change: impl FnOnce(&mut ClientSettings)) -> Self {
        let (store, now) = (&service.app.store, service.clock.now());
        let id = DomainId::parse(text(domain, "id")).expect("an id");
        let domain = domains::sql::find_in_any_account(store, &id).await.expect("a database").expect("a domain");
        let mut settings = ClientSettings::new(RedirectUris::parse(["https://app.test/cb"]).expect("URIs"));
        settings.post_logout_uris = RedirectUris::parse(["https://app.test/out"]).expect("URIs");
        change(&mut settings);
        let redirect_uri = settings.redirect_uris.as_slice()[0].as_str().to_owned();
        let registered = Client::register(&id, settings, now, &ClientEntropy::draw()).expect("settings");
        clients::sql::insert(store, &domain, &registered.client, &Actor::Operator).await.expect("a client");
        let origin = format!("http://localhost:{}", service.app.listen.port());
        Self {
            http: service.visitor().http,
            base: service.url(""),
            origin,
            path: format!("{}/{id}", domain.account.environment.page_path()),
            client: registered.client,
            secret: registered.secret.map(|secret| secret.reveal().to_owned()),
            redirect_uri,
        }
    }

    /// Returns this client for another server of the deployment.
    pub(crate) fn moved_to(&self, service: &Service) -> Self {
        Self { base: service.url(""), ..self.clone() }
    }

    /// Sets the public origin of the server.
    pub(crate) fn at_address(&mut self, origin: &str) {
        origin.clone_into(&mut self.origin);
    }

    /// Returns this client for another issuer.
    pub(crate) fn at_issuer(&self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self.clone() }
    }

    pub(crate) fn issuer(&self) -> String {
        format!("{}{}", self.origin, self.path)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{}{path}", self.base, self.path)
    }

    /// Returns the query of an authorization request. `set` replaces parameters; an empty value omits the parameter.
    pub(crate) fn query(&self, set: &[(&str, &str)]) -> String {
        let usual = [
            ("client_id", self.client.id.as_str()),
            ("redirect_uri", &self.redirect_uri),
            ("response_type", "code"),
            ("scope", "openid profile email"),
            ("state", "a state"),
            ("nonce", "a nonce"),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
        ];
        let is_set = |name: &str| set.iter().any(|(other, _)| *other == name);
        let usual = usual.into_iter().filter(|(name, _)| !is_set(name));
        let pairs = usual.chain(set.iter().copied()).filter(|(_, value)| !value.is_empty());
        form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
    }

    /// Returns the authorization URL.
    pub(crate) fn authorize(&self, set: &[(&str, &str)]) -> String {
        format!("{}/authorize?{}", self.path, self.query(set))
    }

    /// Returns the authorization response, from a redirect or from a page that submits it.
    #[track_caller]
    pub(crate) fn authorization_response(&self, shown: &ShownPage) -> Answer {
        let url = if let Some(to) = shown.headers.get(LOCATION) {
            assert_eq!(shown.status, 303, "{shown:?}");
            to.to_str().expect("an address").to_owned()
        } else {
            let url = shown.is(200, "leaving").link("continue").to_string();
            let refresh = shown.between("http-equiv=\"refresh\" content=\"0;url=", "\"").replace("&amp;", "&");
            assert_eq!(refresh, url);
            url
        };
        let query = url.strip_prefix(&self.redirect_uri).unwrap_or_else(|| panic!("not at the application: {url}"));
        assert!(!query.contains('+'), "{query}");
        let answer: Answer = form_urlencoded::parse(query.trim_start_matches('?').as_bytes()).into_owned().collect();
        assert_eq!(answer.get("iss"), Some(&self.issuer()), "{url}");
        answer
    }

    /// Returns the authorization code from the response.
    #[track_caller]
    pub(crate) fn code(&self, shown: &ShownPage) -> String {
        let answer = self.authorization_response(shown);
        assert_eq!(answer.get("state").map(String::as_str), Some("a state"), "{answer:?}");
        answer.get("code").unwrap_or_else(|| panic!("no code: {answer:?}")).clone()
    }

    /// Returns the error code from the response.
    #[track_caller]
    pub(crate) fn error(&self, shown: &ShownPage) -> String {
        let answer = self.authorization_response(shown);
        assert!(answer.contains_key("error_description") && !answer.contains_key("code"), "{answer:?}");
        answer.get("error").unwrap_or_else(|| panic!("no error: {answer:?}")).clone()
    }

    pub(crate) fn request(&self, path: &str, form: &[(&str, &str)]) -> RequestBuilder {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let request = self.http.request(Method::POST, self.url(path));
        request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body)
    }

    /// Posts a form with client authentication.
    pub(crate) async fn post(&self, path: &str, form: &[(&str, &str)]) -> Reply {
        let id = self.client.id.as_str();
        match &self.secret {
            Some(secret) => send(self.request(path, form).basic_auth(id, Some(secret))).await,
            None => send(self.request(path, &[form, &[("client_id", id)]].concat())).await,
        }
    }

    pub(crate) async fn exchange_code(&self, code: &str) -> Reply {
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &self.redirect_uri),
            ("code_verifier", VERIFIER),
        ];
        self.post("/token", &form).await
    }

    pub(crate) async fn refresh(&self, token: &str) -> Reply {
        self.post("/token", &[("grant_type", "refresh_token"), ("refresh_token", token)]).await
    }

    pub(crate) async fn userinfo(&self, token: &str) -> Reply {
        let request = self.http.request(Method::GET, self.url("/userinfo"));
        send(request.header(AUTHORIZATION, format!("Bearer {token}"))).await
    }

    /// Returns the discovery document of the issuer.
    pub(crate) async fn discovery(&self) -> Value {
        let reply = self.http.get(self.url("/.well-known/openid-configuration")).send().await.expect("a reply");
        serde_json::from_str(&reply.text().await.expect("a whole body")).expect("JSON")
    }

    /// Returns the claims of an ID token without verification of the signature.
    #[track_caller]
    pub(crate) fn claims(tokens: &Value) -> Value {
        let part = text(tokens, "id_token").split('.').nth(1).expect("three parts");
        let json = data_encoding::BASE64URL_NOPAD.decode(part.as_bytes()).expect("base64url");
        serde_json::from_slice(&json).expect("JSON")
    }
}

impl Browser {
    /// Confirms the consent page.
    pub(crate) async fn give_consent(&mut self, asked: &ShownPage) -> ShownPage {
        self.submit(asked.is(200, "consent"), "consent", "&answer=allow").await
    }
}
