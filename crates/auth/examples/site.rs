//! A website whose users log in on the login page of the service:
//! `API=http://localhost:8080/sandbox/v1 KEY=svc_test_… cargo run --example site`.
use std::collections::HashMap;
use std::env::VarError;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::request::Parts;
use axum::{Router, response::Html, routing::get};
use signpost_auth::client::{Runtime, Signpost, SystemRuntime};
use signpost_auth::login::{self, CurrentUser, LoginOptions, LoginSite, SignedIn, SiteError};
use signpost_auth::{Event, WebhookSecret, receiver::SiteOrigin};

/// The origin of the site and its sessions; a real site stores sessions in its database, with an expiry.
#[derive(Clone)]
struct Shop(SiteOrigin, Arc<Mutex<HashMap<String, String>>>);

impl LoginSite for Shop {
    async fn sign_in(&self, login: SignedIn, _: &Parts) -> Result<Vec<String>, SiteError> {
        let value = random(); // never the one from before the login
        self.1.lock().unwrap_or_else(PoisonError::into_inner).insert(value.clone(), login.user.id);
        Ok(vec![self.0.set_cookie("login", &value, 24 * 60 * 60)])
    }
    async fn on_event(&self, event: Event) -> Result<(), SiteError> {
        println!("{} {}", event.event, event.session_id);
        Ok(())
    }
    async fn sign_out(&self, request: &Parts) -> Result<Option<Vec<String>>, SiteError> {
        if let Some(login) = self.login(request) {
            self.1.lock().unwrap_or_else(PoisonError::into_inner).remove(login);
        }
        Ok(Some(vec![self.0.set_cookie("login", "", 0)]))
    }
    async fn current_user(&self, request: &Parts) -> CurrentUser {
        self.user(request).into()
    }
}

impl Shop {
    fn login<'a>(&self, request: &'a Parts) -> Option<&'a str> {
        self.0.cookie("login", request.headers.get("cookie")?.to_str().ok()?)
    }
    fn user(&self, request: &Parts) -> Option<String> {
        self.1.lock().unwrap_or_else(PoisonError::into_inner).get(self.login(request)?).cloned()
    }
}

#[tokio::main]
async fn main() -> Result<(), SiteError> {
    let port = setting("PORT").unwrap_or("9001".into());
    let site = setting("SITE").unwrap_or(format!("http://localhost:{port}"));
    let shop = Shop(SiteOrigin::parse(&site)?, Arc::default());
    let cookie_secret = setting("COOKIE_SECRET").unwrap_or_else(|_| random());
    let options = LoginOptions::new(setting("DOMAIN").unwrap_or("localhost".into()), &site, cookie_secret)?;
    let secrets = setting("WEBHOOK_SECRET").ok().map(|secret| WebhookSecret::parse(&secret)).transpose()?;
    let signpost = Signpost::new(setting("KEY")?)?.with_base_url(&setting("API")?)?;
    let login = login::router(signpost, options.with_webhook_secrets(secrets), shop.clone());
    let home = get(async move |request: axum::extract::Request| {
        let user = shop.user(&request.into_parts().0);
        let links = "<a href=\"/signpost/link\">Add a key</a> <a href=\"/signpost/logout\">Log out</a>";
        let hello = user.map(|user| format!("You are <b id=\"user\">{user}</b>. {links}"));
        Html(hello.unwrap_or("<a href=\"/signpost/login\">Log in</a>".into()))
    });
    let listener = tokio::net::TcpListener::bind(format!("localhost:{port}")).await?;
    Ok(axum::serve(listener, Router::new().route("/", home).merge(login)).await?)
}

fn random() -> String {
    data_encoding::BASE64URL_NOPAD.encode(&SystemRuntime.random())
}

#[expect(clippy::disallowed_methods, reason = "a program may read its environment")]
fn setting(name: &str) -> Result<String, VarError> {
    std::env::var(name)
}
