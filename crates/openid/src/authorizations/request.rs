//! Validates the parameters of an authorization request (OpenID Connect Core, 3.1.2.1).

use jiff::SignedDuration;

use super::error::{AuthorizationError, AuthorizationErrorCode};
use super::parameters::Parameters;
use crate::claims::{COMMA_SEPARATED_SCOPES, OpenidScope, OpenidScopes, has_commas};
use crate::clients::ClientSettings;
use crate::pkce::CodeChallenge;

/// Maximum length of a nonce, in bytes.
const MAX_NONCE_LEN: usize = 512;

/// The validated parameters of an authorization request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the specification")]
pub struct ValidatedAuthorizationRequest {
    pub scopes: OpenidScopes,
    pub nonce: Option<String>,
    pub code_challenge: Option<CodeChallenge>,
    pub prompt: PromptMode,
    /// Maximum age of the login.
    pub max_age: Option<SignedDuration>,
    pub id_token_hint: Option<String>,
    /// The claims of an `id_token_hint` that was posted, encrypted for the browser that posted it.
    pub posted_hint: Option<String>,
    /// The preferred languages of the user, in order.
    pub ui_locales: Option<String>,
}

/// The value of the parameter `prompt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptMode {
    /// `none`: no page may be shown.
    None,
    /// The needed pages are shown, and also the pages in these options.
    Interactive(PromptOptions),
}

/// The pages that are shown even if they are not needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PromptOptions {
    /// `login` or `select_account`: the login page. To select another account is to log in again, because a browser has
    /// a single account at an issuer.
    pub login: bool,
    /// `consent`: the consent page.
    pub consent: bool,
    /// `create` (Initiating User Registration via `OpenID` Connect): the registration page.
    pub account: bool,
}

impl ValidatedAuthorizationRequest {
    /// Validates the parameters of a client with these settings.
    ///
    /// # Errors
    /// Returns the first error that is found.
    pub fn read(given: &Parameters, client: &ClientSettings) -> Result<Self, AuthorizationError> {
        use AuthorizationErrorCode::InvalidRequest;

        if given.is_repeated() {
            return Err(InvalidRequest.with_description("a parameter is given twice; send each once"));
        }
        check_kind(given)?;
        let scope = given.text("scope").unwrap_or_default();
        let scopes = OpenidScopes::parse(scope);
        if !scopes.contains(OpenidScope::Openid) {
            let description =
                if has_commas(scope) { COMMA_SEPARATED_SCOPES } else { "the scope must contain 'openid'" };
            return Err(AuthorizationErrorCode::InvalidScope.with_description(description));
        }
        let max_age = given.text("max_age").map(read_seconds).transpose()?;
        Ok(Self {
            scopes,
            nonce: given.text("nonce").map(read_nonce).transpose()?,
            code_challenge: read_challenge(given, client)?,
            prompt: PromptMode::read(given.text("prompt").unwrap_or_default())?,
            max_age,
            id_token_hint: given.owned_text("id_token_hint"),
            posted_hint: given.owned_text("posted_hint"),
            ui_locales: given.owned_text("ui_locales"),
        })
    }
}

/// Rejects unsupported parameters explicitly, so that clients do not assume that they took effect.
fn check_kind(given: &Parameters) -> Result<(), AuthorizationError> {
    use AuthorizationErrorCode::{
        InvalidRequest, RegistrationNotSupported, RequestNotSupported, RequestUriNotSupported,
    };

    for (name, code) in [
        ("request", RequestNotSupported),
        ("request_uri", RequestUriNotSupported),
        ("registration", RegistrationNotSupported),
    ] {
        if given.text(name).is_some() {
            return Err(
                code.with_description("send the parameters themselves, without request, request_uri and registration")
            );
        }
    }
    if given.text("response_mode").is_some_and(|mode| mode != "query") {
        return Err(InvalidRequest.with_description("response_mode must be 'query', or left out"));
    }
    match given.text("response_type") {
        Some("code") => Ok(()),
        Some(_) => {
            Err(AuthorizationErrorCode::UnsupportedResponseType.with_description("response_type must be 'code'"))
        }
        None => Err(InvalidRequest.with_description("response_type is missing; it must be 'code'")),
    }
}

fn read_challenge(given: &Parameters, client: &ClientSettings) -> Result<Option<CodeChallenge>, AuthorizationError> {
    let description = match (given.text("code_challenge"), given.text("code_challenge_method")) {
        (Some(challenge), Some("S256")) => match CodeChallenge::parse(challenge) {
            Some(challenge) => return Ok(Some(challenge)),
            None => "code_challenge must be a SHA-256 hash in base64url without padding: 43 characters",
        },
        (Some(_), _) => "code_challenge_method must be 'S256'",
        (None, Some(_)) => "code_challenge is missing, though code_challenge_method is there",
        (None, None) if client.requires_pkce || client.is_public => {
            "code_challenge is missing: this client must use PKCE with S256"
        }
        (None, None) => return Ok(None),
    };
    Err(AuthorizationErrorCode::InvalidRequest.with_description(description))
}

/// Reads a nonce. It is stored for a day and is in the ID token, which clients send back in URLs.
fn read_nonce(text: &str) -> Result<String, AuthorizationError> {
    if text.len() > MAX_NONCE_LEN || text.contains(char::is_control) {
        let description = "nonce must have at most 512 bytes, and no control characters";
        return Err(AuthorizationErrorCode::InvalidRequest.with_description(description));
    }
    Ok(text.to_owned())
}

fn read_seconds(text: &str) -> Result<SignedDuration, AuthorizationError> {
    let is_number = text.len() <= 10 && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(seconds) if is_number => Ok(SignedDuration::from_secs(seconds)),
        _ => {
            let description = "max_age must be a number of seconds, 0 or more";
            Err(AuthorizationErrorCode::InvalidRequest.with_description(description))
        }
    }
}

impl PromptMode {
    fn read(words: &str) -> Result<Self, AuthorizationError> {
        let code = AuthorizationErrorCode::InvalidRequest;
        let mut options = PromptOptions::default();
        for word in words.split(' ').filter(|word| !word.is_empty()) {
            match word {
                "none" if words == "none" => return Ok(Self::None),
                "none" => return Err(code.with_description("prompt must not contain 'none' and another value")),
                "login" | "select_account" => options.login = true,
                "consent" => options.consent = true,
                "create" => options.account = true,
                _ => {
                    let description = "prompt must contain 'none', 'login', 'consent' or 'create', and nothing else";
                    return Err(code.with_description(description));
                }
            }
        }
        Ok(Self::Interactive(options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authorizations::test_client;

    const CHALLENGE: &str = "code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256";

    fn read(query: &str) -> Result<ValidatedAuthorizationRequest, &'static str> {
        let read = ValidatedAuthorizationRequest::read(&Parameters::read(query), &test_client());
        read.map_err(|refusal| refusal.code.as_str())
    }

    fn refused(more: &str) -> &'static str {
        let query = format!("response_type=code&scope=openid&{CHALLENGE}&{more}");
        read(&query).err().unwrap_or_default()
    }

    #[test]
    fn request_is_parsed_completely() {
        let query = format!(
            "response_type=code&scope=openid%20email+phone&{CHALLENGE}&nonce=n&max_age=0&prompt=login%20consent\
             &unheard_of=1&display=popup&acr_values=x&claims=%7B%7D&login_hint=ann&response_mode=query"
        );
        let request = read(&query).unwrap();
        assert_eq!(request.scopes, OpenidScopes::parse("openid email"));
        assert_eq!((request.nonce.as_deref(), request.max_age), (Some("n"), Some(SignedDuration::ZERO)));
        assert!(request.code_challenge.is_some());
        let expected = PromptOptions { login: true, consent: true, account: false };
        assert_eq!(request.prompt, PromptMode::Interactive(expected));
    }

    #[test]
    fn invalid_parameters_are_named_in_the_error() {
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
    fn error_names_commas_between_scopes() {
        let description = |scope: &str| {
            let query = format!("response_type=code&scope={scope}&{CHALLENGE}");
            let read = ValidatedAuthorizationRequest::read(&Parameters::read(&query), &test_client());
            read.err().map(|refusal| (refusal.code.as_str(), refusal.description))
        };
        for scope in ["openid,profile", "openid,", "profile,openid email"] {
            assert_eq!(description(scope), Some(("invalid_scope", COMMA_SEPARATED_SCOPES)), "{scope}");
        }
        assert_eq!(description("profile"), Some(("invalid_scope", "the scope must contain 'openid'")));
        // Unknown scopes may contain commas.
        assert_eq!(description("openid a,b"), None);
    }

    #[test]
    fn pkce_is_required_with_s256() {
        let hash = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        let with = |requires_pkce, is_public, more: &str| {
            let client = ClientSettings { is_public, requires_pkce, ..test_client() };
            let query = format!("response_type=code&scope=openid&{more}");
            ValidatedAuthorizationRequest::read(&Parameters::read(&query), &client).is_ok()
        };
        for (more, is_valid) in [
            (format!("code_challenge={hash}&code_challenge_method=S256"), true),
            (format!("code_challenge={hash}"), false),
            (format!("code_challenge={hash}&code_challenge_method=plain"), false),
            ("code_challenge_method=S256".to_owned(), false),
            ("code_challenge=short&code_challenge_method=S256".to_owned(), false),
        ] {
            assert_eq!((with(true, false, &more), with(false, false, &more)), (is_valid, is_valid), "{more}");
        }
        assert!(with(false, false, "") && !with(true, false, "") && !with(false, true, ""));
    }
}
