//! What a client asks for (OpenID Connect Core, 3.1.2.1), once it is known who asks and where the answer goes.

use jiff::SignedDuration;

use super::parameters::Parameters;
use super::refusal::{AuthorizationRefusal, RefusalCode};
use crate::claims::{COMMAS, OpenidScope, OpenidScopes, has_commas};
use crate::clients::ClientSettings;
use crate::pkce::CodeChallenge;

/// Most bytes of a nonce, which are random ones in some spelling.
const MAX_NONCE_LEN: usize = 512;

/// A request of a known client, whose answer goes to an address that it registered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the specification")]
pub struct AuthorizationRequest {
    pub scopes: OpenidScopes,
    pub nonce: Option<String>,
    pub code_challenge: Option<CodeChallenge>,
    pub prompt: PromptWish,
    /// How long ago the person may have logged in.
    pub max_age: Option<SignedDuration>,
    pub id_token_hint: Option<String>,
    /// What an `id_token_hint` said that was posted, encrypted for the browser that posted it.
    pub posted_hint: Option<String>,
    /// The languages that the application speaks with the person, the best first.
    pub ui_locales: Option<String>,
}

/// What the application wants the person to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptWish {
    /// `none`: nothing, and no page is shown.
    Nothing,
    /// Whatever is needed, and this.
    Also(PromptedFor),
}

/// What the person is asked though it may not be needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PromptedFor {
    /// `login`, or `select_account`, for a browser has one account of a realm: to log in, whoever is signed in.
    pub login: bool,
    /// `consent`: whether they agree, even if they have.
    pub consent: bool,
    /// `create` (Initiating User Registration via `OpenID` Connect): to create an account.
    pub account: bool,
}

impl AuthorizationRequest {
    /// Reads a request of a client with these settings.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn read(given: &Parameters, client: &ClientSettings) -> Result<Self, AuthorizationRefusal> {
        use RefusalCode::InvalidRequest;

        if given.is_repeated() {
            return Err(InvalidRequest.because("a parameter is given twice; send each once"));
        }
        check_kind(given)?;
        let scope = given.text("scope").unwrap_or_default();
        let scopes = OpenidScopes::of_request(scope);
        if !scopes.contains(OpenidScope::Openid) {
            let description = if has_commas(scope) { COMMAS } else { "the scope must contain 'openid'" };
            return Err(RefusalCode::InvalidScope.because(description));
        }
        let max_age = given.text("max_age").map(read_seconds).transpose()?;
        Ok(Self {
            scopes,
            nonce: given.text("nonce").map(read_nonce).transpose()?,
            code_challenge: read_challenge(given, client)?,
            prompt: PromptWish::read(given.text("prompt").unwrap_or_default())?,
            max_age,
            id_token_hint: given.text("id_token_hint").map(str::to_owned),
            posted_hint: given.text("posted_hint").map(str::to_owned),
            ui_locales: given.text("ui_locales").map(str::to_owned),
        })
    }
}

/// What is not built here is refused by name, so that no client believes that it counted.
fn check_kind(given: &Parameters) -> Result<(), AuthorizationRefusal> {
    use RefusalCode::{InvalidRequest, RegistrationNotSupported, RequestNotSupported, RequestUriNotSupported};

    for (name, code) in [
        ("request", RequestNotSupported),
        ("request_uri", RequestUriNotSupported),
        ("registration", RegistrationNotSupported),
    ] {
        if given.text(name).is_some() {
            return Err(code.because("send the parameters themselves, without request, request_uri and registration"));
        }
    }
    if given.text("response_mode").is_some_and(|mode| mode != "query") {
        return Err(InvalidRequest.because("response_mode must be 'query', or left out"));
    }
    match given.text("response_type") {
        Some("code") => Ok(()),
        Some(_) => Err(RefusalCode::UnsupportedResponseType.because("response_type must be 'code'")),
        None => Err(InvalidRequest.because("response_type is missing; it must be 'code'")),
    }
}

fn read_challenge(given: &Parameters, client: &ClientSettings) -> Result<Option<CodeChallenge>, AuthorizationRefusal> {
    let refuse = |description| Err(RefusalCode::InvalidRequest.because(description));
    match (given.text("code_challenge"), given.text("code_challenge_method")) {
        (Some(challenge), Some("S256")) => match CodeChallenge::parse(challenge) {
            Some(challenge) => Ok(Some(challenge)),
            None => refuse("code_challenge must be a SHA-256 hash in base64url without padding: 43 characters"),
        },
        (Some(_), _) => refuse("code_challenge_method must be 'S256'"),
        (None, Some(_)) => refuse("code_challenge is missing, though code_challenge_method is there"),
        (None, None) if client.requires_pkce || client.is_public => {
            refuse("code_challenge is missing: this client must use PKCE with S256")
        }
        (None, None) => Ok(None),
    }
}

/// It is stored for a day and is in the ID token, which comes back in addresses.
fn read_nonce(text: &str) -> Result<String, AuthorizationRefusal> {
    let is_fine = text.len() <= MAX_NONCE_LEN && !text.contains(char::is_control);
    let refusal = RefusalCode::InvalidRequest.because("nonce must have at most 512 bytes, and no control characters");
    is_fine.then(|| text.to_owned()).ok_or(refusal)
}

fn read_seconds(text: &str) -> Result<SignedDuration, AuthorizationRefusal> {
    let is_number = !text.is_empty() && text.len() <= 10 && text.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = text.parse().ok().filter(|_| is_number).map(SignedDuration::from_secs);
    seconds.ok_or(RefusalCode::InvalidRequest.because("max_age must be a number of seconds, 0 or more"))
}

impl PromptWish {
    fn read(words: &str) -> Result<Self, AuthorizationRefusal> {
        let refuse = |description| Err(RefusalCode::InvalidRequest.because(description));
        let mut wanted = PromptedFor::default();
        for word in words.split(' ').filter(|word| !word.is_empty()) {
            match word {
                "none" if words == "none" => return Ok(Self::Nothing),
                "none" => return refuse("prompt must not contain 'none' beside anything else"),
                "login" | "select_account" => wanted.login = true,
                "consent" => wanted.consent = true,
                "create" => wanted.account = true,
                _ => return refuse("prompt must contain 'none', 'login', 'consent' or 'create', and nothing else"),
            }
        }
        Ok(Self::Also(wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authorizations::test_client;

    const CHALLENGE: &str = "code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256";

    fn read(query: &str) -> Result<AuthorizationRequest, &'static str> {
        let read = AuthorizationRequest::read(&Parameters::read(query), &test_client());
        read.map_err(|refusal| refusal.code.as_str())
    }

    fn refused(more: &str) -> &'static str {
        let query = format!("response_type=code&scope=openid&{CHALLENGE}&{more}");
        read(&query).err().unwrap_or_default()
    }

    #[test]
    fn a_request_is_read_with_all_that_it_says() {
        let query = format!(
            "response_type=code&scope=openid%20email+phone&{CHALLENGE}&nonce=n&max_age=0&prompt=login%20consent\
             &unheard_of=1&display=popup&acr_values=x&claims=%7B%7D&login_hint=ann&response_mode=query"
        );
        let request = read(&query).unwrap();
        assert_eq!(request.scopes, OpenidScopes::of_request("openid email"));
        assert_eq!((request.nonce.as_deref(), request.max_age), (Some("n"), Some(SignedDuration::ZERO)));
        assert!(request.code_challenge.is_some());
        let wanted = PromptedFor { login: true, consent: true, account: false };
        assert_eq!(request.prompt, PromptWish::Also(wanted));
    }

    #[test]
    fn what_is_wrong_is_refused_by_its_name() {
        for (more, code) in [
            ("", ""),
            ("nonce=1&nonce=2", "invalid_request"),
            ("state=1&state=1", "invalid_request"),
            (&format!("nonce={}", "n".repeat(512)), ""),
            (&format!("nonce={}", "n".repeat(513)), "invalid_request"),
            ("nonce=a%00b", "invalid_request"),
            ("nonce=a%0Ab", "invalid_request"),
            ("request=eyJ", "request_not_supported"),
            ("request_uri=https://shop.test/r", "request_uri_not_supported"),
            ("registration=%7B%7D", "registration_not_supported"),
            ("response_mode=fragment", "invalid_request"),
            ("response_mode=form_post", "invalid_request"),
            ("max_age=-1", "invalid_request"),
            ("max_age=soon", "invalid_request"),
            ("max_age=99999999999", "invalid_request"),
            ("prompt=none", ""),
            ("prompt=none%20login", "invalid_request"),
            ("prompt=dance", "invalid_request"),
            ("prompt=select_account", ""),
        ] {
            assert_eq!(refused(more), code, "{more}");
        }
        for (query, code) in [
            (format!("scope=openid&{CHALLENGE}"), "invalid_request"),
            (format!("response_type=&scope=openid&{CHALLENGE}"), "invalid_request"),
            (format!("response_type=token&scope=openid&{CHALLENGE}"), "unsupported_response_type"),
            (format!("response_type=code+id_token&scope=openid&{CHALLENGE}"), "unsupported_response_type"),
            (format!("response_type=code&{CHALLENGE}"), "invalid_scope"),
            (format!("response_type=code&scope=profile&{CHALLENGE}"), "invalid_scope"),
        ] {
            assert_eq!(read(&query), Err(code), "{query}");
        }
    }

    #[test]
    fn commas_between_scopes_are_named_as_the_mistake() {
        let description = |scope: &str| {
            let query = format!("response_type=code&scope={scope}&{CHALLENGE}");
            let read = AuthorizationRequest::read(&Parameters::read(&query), &test_client());
            read.err().map(|refusal| (refusal.code.as_str(), refusal.description))
        };
        for scope in ["openid,profile", "openid,", "profile,openid email"] {
            assert_eq!(description(scope), Some(("invalid_scope", COMMAS)), "{scope}");
        }
        assert_eq!(description("profile"), Some(("invalid_scope", "the scope must contain 'openid'")));
        // A scope that is not known here may have a comma in it.
        assert_eq!(description("openid a,b"), None);
    }

    #[test]
    fn pkce_is_s256_and_left_out_only_where_the_operator_said_so() {
        let hash = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        let with = |requires_pkce, is_public, more: &str| {
            let client = ClientSettings { is_public, requires_pkce, ..test_client() };
            let query = format!("response_type=code&scope=openid&{more}");
            AuthorizationRequest::read(&Parameters::read(&query), &client).is_ok()
        };
        for (more, is_fine) in [
            (format!("code_challenge={hash}&code_challenge_method=S256"), true),
            (format!("code_challenge={hash}"), false),
            (format!("code_challenge={hash}&code_challenge_method=plain"), false),
            ("code_challenge_method=S256".to_owned(), false),
            ("code_challenge=short&code_challenge_method=S256".to_owned(), false),
        ] {
            assert_eq!((with(true, false, &more), with(false, false, &more)), (is_fine, is_fine), "{more}");
        }
        assert!(with(false, false, "") && !with(true, false, "") && !with(false, true, ""));
    }
}
