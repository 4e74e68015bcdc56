//! Decides on an authorization request. The result is a code, a page for the user, or an error.

use jiff::Timestamp;
use signpost_auth::Mode;
use signpost_login::ids::UserId;

use super::error::{AuthorizationError, AuthorizationErrorCode};
use super::request::{PromptMode, ValidatedAuthorizationRequest};
use crate::claims::OpenidScopes;
use crate::clients::ClientSettings;

/// The user who is signed in at the issuer in the browser that sent the request.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct SignedInVisitor {
    pub user_id: UserId,
    pub authenticated_at: Timestamp,
    /// Whether the user logged in for this request.
    pub logged_in_for_request: bool,
    /// Whether the client admits the user.
    pub is_admitted: bool,
    /// The scopes of an earlier consent.
    pub consented_scopes: Option<OpenidScopes>,
    /// Whether the user consented to this request just now.
    pub consents: bool,
}

/// The decision on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Report this error to the client.
    Refuse(AuthorizationError),
    /// Let the user log in or create an account first.
    LoginRequired(Mode),
    /// Ask the user for consent.
    ConsentRequired,
    /// Issue an authorization code.
    Grant,
}

/// Decides on a request. `visitor` is the user who is signed in, `hinted` the user named by `id_token_hint`.
#[must_use]
pub fn decide(
    request: &ValidatedAuthorizationRequest,
    client: &ClientSettings,
    visitor: Option<&SignedInVisitor>,
    hinted: Option<&UserId>,
    now: Timestamp,
) -> Decision {
    let Some(visitor) = visitor.filter(|visitor| !must_log_in(request, visitor, hinted, now)) else {
        return match request.prompt {
            PromptMode::None => {
                refuse(AuthorizationErrorCode::LoginRequired, "no login session satisfies this request")
            }
            PromptMode::Interactive(options) if options.account => Decision::LoginRequired(Mode::Register),
            PromptMode::Interactive(_) => Decision::LoginRequired(Mode::Login),
        };
    };
    if hinted.is_some_and(|hinted| *hinted != visitor.user_id) {
        return refuse(AuthorizationErrorCode::LoginRequired, "the user differs from the one in id_token_hint");
    }
    if !visitor.is_admitted {
        return refuse(AuthorizationErrorCode::AccessDenied, "this client does not admit the user who logged in");
    }
    let has_consented =
        visitor.consented_scopes.is_some_and(|consented_scopes| consented_scopes.contain_all(request.scopes));
    let must_ask = matches!(request.prompt, PromptMode::Interactive(options) if options.consent);
    let can_skip_consent = !must_ask && (client.skips_consent() || has_consented);
    match request.prompt {
        _ if visitor.consents || can_skip_consent => Decision::Grant,
        PromptMode::None => {
            refuse(AuthorizationErrorCode::ConsentRequired, "the user has not yet consented_scopes to this")
        }
        PromptMode::Interactive(_) => Decision::ConsentRequired,
    }
}

/// Returns true if the user must log in although they are signed in. A user who logged in for this request does not
/// have to do so again, unless the consent page was open for so long that the login is too old for the request.
fn must_log_in(
    request: &ValidatedAuthorizationRequest,
    visitor: &SignedInVisitor,
    hinted: Option<&UserId>,
    now: Timestamp,
) -> bool {
    let since = now.duration_since(visitor.authenticated_at);
    if visitor.logged_in_for_request {
        return request.max_age.is_some_and(|max_age| !max_age.is_zero() && since > max_age);
    }
    let is_old = request.max_age.is_some_and(|max_age| max_age.is_zero() || since > max_age);
    let is_another = hinted.is_some_and(|hinted| *hinted != visitor.user_id);
    match request.prompt {
        PromptMode::None => is_old,
        PromptMode::Interactive(options) => options.login || options.account || is_old || is_another,
    }
}

fn refuse(code: AuthorizationErrorCode, description: &'static str) -> Decision {
    Decision::Refuse(code.with_description(description))
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;
    use crate::authorizations::parameters::Parameters;
    use crate::authorizations::test_client;

    const LOGIN: Timestamp = Timestamp::UNIX_EPOCH;
    const MINUTE: SignedDuration = SignedDuration::from_mins(1);

    fn user(number: u8) -> UserId {
        UserId::new(LOGIN, [number; 16])
    }

    fn request(more: &str) -> ValidatedAuthorizationRequest {
        let query = format!("response_type=code&scope=openid+email&{more}");
        let client = ClientSettings { requires_pkce: false, ..test_client() };
        ValidatedAuthorizationRequest::read(&Parameters::read(&query), &client).unwrap()
    }

    fn visitor() -> SignedInVisitor {
        SignedInVisitor {
            user_id: user(1),
            authenticated_at: LOGIN,
            logged_in_for_request: false,
            is_admitted: true,
            consented_scopes: Some(OpenidScopes::parse("openid email")),
            consents: false,
        }
    }

    /// Returns the decision as a word.
    fn word(more: &str, visitor: Option<&SignedInVisitor>, hinted: Option<&UserId>) -> &'static str {
        match decide(&request(more), &test_client(), visitor, hinted, LOGIN + MINUTE) {
            Decision::Refuse(refusal) => refusal.code.as_str(),
            Decision::LoginRequired(asked) => asked.as_str(),
            Decision::ConsentRequired => "consent",
            Decision::Grant => "code",
        }
    }

    #[test]
    fn signed_in_user_with_consent_gets_a_code() {
        assert_eq!(word("", Some(&visitor()), None), "code");
        assert_eq!(word("prompt=none", Some(&visitor()), None), "code");
        assert_eq!(word("", Some(&visitor()), Some(&user(1))), "code");
    }

    #[test]
    fn signed_out_visitor_gets_no_code() {
        for (more, decision) in
            [("", "login"), ("prompt=create", "register"), ("prompt=login", "login"), ("prompt=none", "login_required")]
        {
            assert_eq!(word(more, None, None), decision, "{more}");
        }
    }

    #[test]
    fn new_login_is_required_once() {
        let returned = SignedInVisitor { logged_in_for_request: true, ..visitor() };
        for (more, decision) in [
            ("prompt=login", "login"),
            ("prompt=select_account", "login"),
            ("prompt=create", "register"),
            ("max_age=0", "login"),
            ("max_age=59", "login"),
            ("max_age=60", "code"),
            ("max_age=10000", "code"),
        ] {
            assert_eq!(word(more, Some(&visitor()), None), decision, "{more}");
            let again = if more == "max_age=59" { "login" } else { "code" };
            assert_eq!(word(more, Some(&returned), None), again, "{more}");
        }
        assert_eq!(word("max_age=59&prompt=none", Some(&visitor()), None), "login_required");
    }

    #[test]
    fn id_token_hint_of_another_user_is_honored() {
        let returned = SignedInVisitor { logged_in_for_request: true, ..visitor() };
        assert_eq!(word("", Some(&visitor()), Some(&user(2))), "login");
        assert_eq!(word("prompt=none", Some(&visitor()), Some(&user(2))), "login_required");
        assert_eq!(word("", Some(&returned), Some(&user(2))), "login_required");
        assert_eq!(word("", None, Some(&user(2))), "login");
    }

    #[test]
    fn unadmitted_user_gets_no_code() {
        let out = SignedInVisitor { is_admitted: false, consents: true, logged_in_for_request: true, ..visitor() };
        for more in ["", "prompt=none", "prompt=consent"] {
            assert_eq!(word(more, Some(&out), None), "access_denied", "{more}");
        }
    }

    #[test]
    fn missing_scopes_require_consent() {
        let (none, less) = (None, Some(OpenidScopes::parse("openid")));
        for consented_scopes in [none, less] {
            let visitor = SignedInVisitor { consented_scopes, ..visitor() };
            assert_eq!(word("", Some(&visitor), None), "consent");
            assert_eq!(word("prompt=none", Some(&visitor), None), "consent_required");
            assert_eq!(word("", Some(&SignedInVisitor { consents: true, ..visitor }), None), "code");
        }
        assert_eq!(word("prompt=consent", Some(&visitor()), None), "consent");
        assert_eq!(word("prompt=consent", Some(&SignedInVisitor { consents: true, ..visitor() }), None), "code");
    }

    #[test]
    fn trusted_client_skips_consent() {
        let trusted = ClientSettings { is_trusted: true, ..test_client() };
        let visitor = SignedInVisitor { consented_scopes: None, ..visitor() };
        let decided = |more: &str| decide(&request(more), &trusted, Some(&visitor), None, LOGIN);
        assert_eq!((decided(""), decided("prompt=none")), (Decision::Grant, Decision::Grant));
        assert_eq!(decided("prompt=consent"), Decision::ConsentRequired);
    }
}
