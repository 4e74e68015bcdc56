//! Builds the discovery document of an issuer (OpenID Connect Discovery 1.0, 3; RFC 8414, 2).

use serde_json::{Value, json};

use crate::jose::SigningAlgorithm;

/// The authentication methods of the token endpoint.
const CLIENT_AUTHENTICATION: [&str; 3] = ["client_secret_basic", "client_secret_post", "none"];

/// Returns the discovery document of an issuer.
#[must_use]
pub(super) fn describe(issuer: &str) -> Value {
    let [basic, post, none] = CLIENT_AUTHENTICATION;
    json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "userinfo_endpoint": format!("{issuer}/userinfo"),
        "jwks_uri": format!("{issuer}/jwks"),
        "revocation_endpoint": format!("{issuer}/revoke"),
        "introspection_endpoint": format!("{issuer}/introspect"),
        "end_session_endpoint": format!("{issuer}/logout"),
        "scopes_supported": ["openid", "profile", "email", "offline_access"],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "subject_types_supported": ["public"],
        // The order matters, because some relying parties use the first algorithm.
        "id_token_signing_alg_values_supported": SigningAlgorithm::ALL,
        "token_endpoint_auth_methods_supported": [basic, post, none],
        "revocation_endpoint_auth_methods_supported": [basic, post, none],
        "introspection_endpoint_auth_methods_supported": [basic, post],
        "code_challenge_methods_supported": ["S256"],
        "prompt_values_supported": ["none", "login", "consent", "create"],
        "acr_values_supported": ["urn:signpost:wallet", "urn:signpost:wallet+match", "phr"],
        "claim_types_supported": ["normal"],
        "claims_supported": [
            "iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "sid", "acr", "amr", "at_hash",
            "name", "preferred_username", "nickname", "groups", "email", "email_verified",
        ],
        "ui_locales_supported": ["en", "es"],
        "authorization_response_iss_parameter_supported": true,
        "claims_parameter_supported": false,
        "request_parameter_supported": false,
        // Declared explicitly, because the default is true.
        "request_uri_parameter_supported": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The required members of OpenID Connect Discovery 1.0, section 3; RFC 8414, section 2; and RFC 9700, section 2.
    #[test]
    fn discovery_has_the_required_members() {
        let document = describe("https://login.test/dom_1");
        for (member, value) in [
            ("issuer", json!("https://login.test/dom_1")),
            ("authorization_endpoint", json!("https://login.test/dom_1/authorize")),
            ("token_endpoint", json!("https://login.test/dom_1/token")),
            ("jwks_uri", json!("https://login.test/dom_1/jwks")),
            ("end_session_endpoint", json!("https://login.test/dom_1/logout")),
            ("response_types_supported", json!(["code"])),
            ("id_token_signing_alg_values_supported", json!(["RS256", "ES256"])),
            ("code_challenge_methods_supported", json!(["S256"])),
            ("authorization_response_iss_parameter_supported", json!(true)),
            ("request_uri_parameter_supported", json!(false)),
        ] {
            assert_eq!(document[member], value, "{member}");
        }
        let scopes = document["scopes_supported"].as_array().unwrap();
        assert!(scopes.contains(&json!("openid")) && !document.to_string().contains("null"));
    }
}
