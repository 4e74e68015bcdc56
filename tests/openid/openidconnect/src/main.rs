//! `openidconnect-client ISSUER CLIENT_ID [nonce|at_hash]`: a native application, without a secret and with another
//! port each time. It prints the URL for the user, waits for the callback, and prints the user's claims, as JSON lines.
//! With a third argument it expects another value.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

use openidconnect::core::{CoreAuthenticationFlow, CoreClient, CoreGenderClaim, CoreProviderMetadata};
use openidconnect::reqwest::blocking::Client as HttpClient;
use openidconnect::reqwest::redirect::Policy;
use openidconnect::url::Url;
use openidconnect::{
    AccessToken, AccessTokenHash, AdditionalClaims, AuthorizationCode, ClientId, CsrfToken, IssuerUrl, Nonce,
    OAuth2TokenResponse, PkceCodeChallenge, RedirectUrl, Scope, TokenResponse, UserInfoClaims,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Claims of this provider in addition to the standard claims.
#[derive(Debug, Deserialize, Serialize)]
struct Groups {
    groups: Vec<String>,
}
impl AdditionalClaims for Groups {}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (issuer, client_id) = arguments.next().zip(arguments.next()).ok_or("an issuer and a client")?;
    let spoil = arguments.next().unwrap_or_default();
    let told = log_in(issuer, client_id, &spoil).unwrap_or_else(|error| json!({ "error": format!("{error:?}") }));
    println!("{told}");
    Ok(())
}

fn log_in(issuer: String, client_id: String, spoil: &str) -> Result<Value, Box<dyn Error>> {
    let http = HttpClient::builder().redirect(Policy::none()).build()?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let here = format!("http://{}/callback", listener.local_addr()?);
    let provider = CoreProviderMetadata::discover(&IssuerUrl::new(issuer)?, &http)?;
    let client = CoreClient::from_provider_metadata(provider, ClientId::new(client_id), None)
        .set_redirect_uri(RedirectUrl::new(here)?);
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let scopes = ["profile", "email", "offline_access"].map(|name| Scope::new(name.to_owned()));
    let (address, state, nonce) = client
        .authorize_url(CoreAuthenticationFlow::AuthorizationCode, CsrfToken::new_random, Nonce::new_random)
        .add_scopes(scopes)
        .set_pkce_challenge(challenge)
        .url();
    println!("{}", json!({ "open": address }));

    let code = wait_for_return(&listener, state.secret())?;
    let tokens = client.exchange_code(code)?.set_pkce_verifier(verifier).request(&http)?;
    let expected = if spoil == "nonce" { Nonce::new("another".to_owned()) } else { nonce };
    let id_token = tokens.id_token().ok_or("no ID token")?;
    let keys = client.id_token_verifier();
    let claims = id_token.claims(&keys, &expected)?;
    let another = AccessToken::new("another".to_owned());
    let access_token = if spoil == "at_hash" { &another } else { tokens.access_token() };
    let hash = AccessTokenHash::from_token(access_token, id_token.signing_alg()?, id_token.signing_key(&keys)?)?;
    if claims.access_token_hash() != Some(&hash) {
        return Err("another at_hash".into());
    }

    let before = tokens.refresh_token().ok_or("no refresh token")?;
    let refreshed = client.exchange_refresh_token(before)?.request(&http)?;
    let after = refreshed.refresh_token().ok_or("no refresh token the second time")?;
    let rotated = before.secret() != after.secret();
    let refreshed = client.exchange_refresh_token(after)?.request(&http)?;
    // The subject must match the ID token's.
    let subject = claims.subject().clone();
    let userinfo: UserInfoClaims<Groups, CoreGenderClaim> =
        client.user_info(refreshed.access_token().clone(), Some(subject))?.request(&http)?;
    Ok(json!({
        "claims": claims,
        "userinfo": userinfo,
        "algorithm": format!("{:?}", id_token.signing_alg()?),
        "rotated": rotated,
    }))
}

/// Returns the code of the callback, if its state is the state of this login.
fn wait_for_return(listener: &TcpListener, state: &str) -> Result<AuthorizationCode, Box<dyn Error>> {
    let (mut stream, _) = listener.accept()?;
    let mut lines = BufReader::new(&stream).lines();
    let first = lines.next().ok_or("an empty request")??;
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let page = "Go back to the application.";
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{page}", page.len())?;
    let path = first.split(' ').nth(1).ok_or("no path")?;
    let returned = Url::parse("http://127.0.0.1")?.join(path)?;
    let value =
        |wanted: &str| returned.query_pairs().find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned());
    if let Some(error) = value("error") {
        return Err(error.into());
    }
    if value("state").as_deref() != Some(state) {
        return Err("another state".into());
    }
    Ok(AuthorizationCode::new(value("code").ok_or("no code")?))
}
