//! Metadata and keys of an issuer (OpenID Connect Discovery 1.0; RFC 8414).

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use signpost_platform::accounts::Environment;

use crate::harness::{Integrator, Service, send, text, until};

const NAMES: [&str; 2] = ["openid-configuration", "oauth-authorization-server"];

/// Registers a hosted domain and returns its ID.
async fn hosted(integrator: &Integrator) -> String {
    let domain = integrator.register_domain_at("shop.test", "https://shop.test/hook").await;
    let id = text(&domain, "id").to_owned();
    integrator.patch(&format!("/domains/{id}"), &json!({ "handler": "hosted" })).await.with(200);
    id
}

#[tokio::test]
async fn discovery_urls_return_identical_documents() {
    let service = Service::start().await;
    for (environment, place) in [(Environment::Live, ""), (Environment::Sandbox, "/sandbox")] {
        let id = hosted(&service.integrator_of("acme", environment).await).await;
        let issuer = format!("{}{place}/{id}", service.app.public_address);
        let mut seen: Vec<Value> = Vec::new();
        for name in NAMES {
            for path in [format!("{place}/{id}/.well-known/{name}"), format!("/.well-known/{name}{place}/{id}")] {
                let reply = service.visitor().get(&path).await;
                assert_eq!(reply.header("content-type"), Some("application/json"));
                assert_eq!(reply.header("cache-control"), Some("public, max-age=3600"));
                assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
                seen.push(reply.with(200));
            }
        }
        assert!(seen.iter().all(|document| *document == seen[0]));
        assert_eq!(seen[0]["issuer"], issuer);
        let endpoints = seen[0].as_object().expect("a document").iter();
        let mut endpoints = endpoints.filter(|(name, _)| name.ends_with("_endpoint") || *name == "jwks_uri");
        assert!(endpoints.all(|(_, url)| url.as_str().is_some_and(|url| url.starts_with(&format!("{issuer}/")))));
        let keys = text(&seen[0], "jwks_uri").strip_prefix(&service.app.public_address).expect("a URL");
        assert_eq!(service.visitor().get(keys).await.with(200)["keys"].as_array().map(Vec::len), Some(2));
    }
}

#[tokio::test]
async fn discovery_accepts_preflights_of_any_origin() {
    let service = Service::start().await;
    let mut paths = Vec::new();
    for (environment, place) in [(Environment::Live, ""), (Environment::Sandbox, "/sandbox")] {
        let id = hosted(&service.integrator_of("acme", environment).await).await;
        paths.push(format!("{place}/{id}/jwks"));
        for name in NAMES {
            paths.push(format!("{place}/{id}/.well-known/{name}"));
            paths.push(format!("/.well-known/{name}{place}/{id}"));
        }
    }
    for path in paths {
        let preflight = service.visitor().request(Method::OPTIONS, &path).header("origin", "https://inspector.test");
        let preflight = preflight
            .header("access-control-request-method", "GET")
            .header("access-control-request-headers", "authorization,mcp-protocol-version");
        let reply = send(preflight).await;
        assert_eq!((reply.status, reply.header("access-control-allow-origin")), (204, Some("*")), "{path}");
        let allowed = reply.header("access-control-allow-headers").expect("a list of headers");
        for header in ["authorization", "content-type", "accept", "mcp-protocol-version"] {
            assert!(allowed.split(", ").any(|one| one == header), "{path} {header}: {allowed}");
        }
        assert_eq!(reply.header("access-control-allow-credentials"), None, "{path}");
    }
}

/// Ported from the only module of the Config OP plan of the OpenID Foundation's conformance suite. This is not a
/// certification.
#[tokio::test]
async fn discovery_endpoint_verification() {
    let service = Service::with(&[("public_url", "https://login.test")]).await;
    let id = hosted(&service.integrator_of("acme", Environment::Live).await).await;
    let response = service.visitor().get(&format!("/{id}/.well-known/openid-configuration")).await.with(200);
    assert_eq!(response["issuer"], format!("https://login.test/{id}"));
    let urls = response.as_object().expect("a document").iter();
    let urls: Vec<_> = urls.filter(|(name, _)| name.ends_with("_endpoint") || name.ends_with("_uri")).collect();
    for (name, url) in &urls {
        let url: reqwest::Url =
            url.as_str().and_then(|url| url.parse().ok()).unwrap_or_else(|| panic!("{name}: {url}"));
        assert_eq!((url.scheme(), url.fragment()), ("https", None), "{name}");
    }
    for name in ["authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri"] {
        assert!(urls.iter().any(|(known, _)| *known == name), "{name}");
    }
    for (name, value) in [
        ("response_types_supported", "code"),
        ("subject_types_supported", "public"),
        ("id_token_signing_alg_values_supported", "RS256"),
        ("scopes_supported", "openid"),
        ("claims_supported", "sub"),
        ("grant_types_supported", "authorization_code"),
        ("token_endpoint_auth_methods_supported", "client_secret_basic"),
    ] {
        let all = response[name].as_array().unwrap_or_else(|| panic!("{name}: {response}"));
        assert!(all.iter().all(Value::is_string) && all.contains(&json!(value)), "{name}: {all:?}");
    }
    // The key set contains public keys only, each with a unique ID.
    let keys = service.visitor().get(&format!("/{id}/jwks")).await.with(200)["keys"].clone();
    let keys = keys.as_array().expect("keys");
    let names: std::collections::BTreeSet<_> = keys.iter().map(|key| text(key, "kid")).collect();
    assert!(names.len() == keys.len() && keys.iter().any(|key| key["kty"] == "RSA"), "{keys:?}");
    for key in keys {
        assert!(["d", "p", "q", "dp", "dq", "qi", "k"].iter().all(|part| key.get(*part).is_none()), "{key}");
        let parts = if key["kty"] == "RSA" { ["n", "e"] } else { ["x", "y"] };
        for part in parts {
            let bytes = data_encoding::BASE64URL_NOPAD.decode(text(key, part).as_bytes()).expect("base64url");
            assert!(part != "n" || bytes.len() >= 256, "{key}");
        }
        assert_eq!(key["use"], "sig");
    }
}

#[tokio::test]
async fn discovery_supports_conditional_requests() {
    let service = Service::start().await;
    let id = hosted(&service.integrator().await).await;
    let visitor = service.visitor();
    for path in ["jwks", ".well-known/openid-configuration"] {
        let path = format!("/sandbox/{id}/{path}");
        let tag = visitor.get(&path).await.header("etag").expect("a tag").to_owned();
        let again = visitor.request(Method::GET, &path).header("if-none-match", &tag);
        let again = again.send().await.expect("a reply");
        assert_eq!((again.status(), again.headers()["etag"].to_str().ok()), (StatusCode::NOT_MODIFIED, Some(&*tag)));
        let head = send(visitor.request(Method::HEAD, &path)).await;
        assert_eq!((head.status, head.text.as_str(), head.header("etag")), (200, "", Some(&*tag)));
        let other = visitor.request(Method::GET, &path).header("if-none-match", "\"other\"");
        assert_eq!(send(other).await.status, 200);
    }
}

#[tokio::test]
async fn non_issuers_have_no_documents() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let hosted = hosted(&integrator).await;
    let direct = text(&integrator.register_domain("direct.test").await, "id").to_owned();
    let gone = text(&integrator.register_domain("gone.test").await, "id").to_owned();
    integrator.patch(&format!("/domains/{gone}"), &json!({ "handler": "hosted" })).await.with(200);
    let jwks = format!("/sandbox/{gone}/jwks");
    assert_eq!(service.visitor().get(&jwks).await.status, 200);
    assert_eq!(send(integrator.request(Method::DELETE, &format!("/domains/{gone}"))).await.status, 204);
    // Change notifications can arrive later than the response.
    until("it is gone", async || (service.visitor().get(&jwks).await.status == 404).then_some(())).await;
    let unknown = format!("dom_{}", "0".repeat(36));
    // A sandbox domain is not an issuer in the live environment.
    let tenants = [("", &hosted), ("/sandbox", &direct), ("/sandbox", &unknown), ("", &unknown), ("/sandbox", &gone)];
    for (place, id) in tenants.map(|(place, id)| (place, id.as_str())).into_iter().chain([("", "x"), ("", "%FF")]) {
        let inserted = NAMES.map(|name| format!("/.well-known/{name}{place}/{id}"));
        let appended = NAMES.map(|name| format!("{place}/{id}/.well-known/{name}"));
        for path in inserted.into_iter().chain(appended).chain([format!("{place}/{id}/jwks")]) {
            let reply = service.visitor().get(&path).await;
            reply.assert_error(404, "not_found");
            assert_eq!(reply.header("access-control-allow-origin"), Some("*"), "{path}");
        }
    }
    let posted = service.visitor().post(&format!("/sandbox/{hosted}/jwks"), json!({})).await;
    posted.assert_error(405, "method_not_allowed");
}

#[tokio::test]
async fn live_issuer_requires_https_or_localhost() {
    for (public_url, is_issuer) in [("", true), ("http://login.test", false), ("https://login.test", true)] {
        let service = Service::with(&[("public_url", public_url)]).await;
        let live = hosted(&service.integrator_of("acme", Environment::Live).await).await;
        let sandbox = hosted(&service.integrator().await).await;
        let path = format!("/{live}/.well-known/openid-configuration");
        assert_eq!(service.visitor().get(&path).await.status, if is_issuer { 200 } else { 404 }, "{public_url}");
        let path = format!("/sandbox/{sandbox}/.well-known/openid-configuration");
        let document = service.visitor().get(&path).await.with(200);
        assert_eq!(document["issuer"], format!("{}/sandbox/{sandbox}", service.app.public_address));
    }
}

#[tokio::test]
async fn well_known_path_precedes_the_issuer_path() {
    let service = Service::with(&[("public_url", "https://login.test/")]).await;
    let id = hosted(&service.integrator().await).await;
    let path = format!("/.well-known/openid-configuration/sandbox/{id}");
    let document = service.visitor().get(&path).await.with(200);
    assert_eq!(document["issuer"], format!("https://login.test/sandbox/{id}"));
}

#[tokio::test]
async fn documents_are_limited_per_address() {
    let service = Service::with(&[("rate_limit_get_session", "2/m")]).await;
    let path = format!("/sandbox/dom_{}/jwks", "0".repeat(36));
    for status in [404, 404, 429] {
        assert_eq!(service.visitor().get(&path).await.status, status);
    }
}

#[tokio::test]
async fn anonymous_requests_have_separate_limits() {
    let service = Service::with(&[("rate_limit_get_session", "2/m")]).await;
    let tenant = format!("/sandbox/dom_{}", "0".repeat(36));
    let (keys, page) = (format!("{tenant}/jwks"), format!("{tenant}/authorize"));
    for (path, status) in [(&*keys, 404), (&page, 404), ("/v1/sessions/sess_x", 401)] {
        for status in [status, status, 429] {
            assert_eq!(service.visitor().get(path).await.status, status, "{path}");
        }
    }
    // Both documents share a limit.
    let discovery = format!("{tenant}/.well-known/openid-configuration");
    assert_eq!(service.visitor().get(&discovery).await.assert_error(429, "rate_limited")["limit"], "documents");
}

#[tokio::test]
async fn discovered_endpoints_respond() {
    let tenant = crate::openid_flow::Tenant::start().await;
    let (response, http) = (tenant.party.discovery().await, tenant.service.visitor().http);
    assert_eq!(text(&response, "issuer"), tenant.party.issuer());
    let endpoints = response.as_object().expect("an object").iter();
    let endpoints: Vec<_> = endpoints.filter(|(name, _)| name.ends_with("_endpoint") || *name == "jwks_uri").collect();
    assert_eq!(endpoints.len(), 7, "{endpoints:?}");
    for (name, url) in endpoints {
        let path = url.as_str().and_then(|url| url.strip_prefix(&tenant.party.issuer())).expect("below the issuer");
        let status = http.get(tenant.party.url(path)).send().await.expect("a reply").status().as_u16();
        assert!([200, 400, 401, 405].contains(&status), "{name}: {status}");
    }
}
