//! Request bodies (docs/api.md, Conventions): JSON of at most 64 KiB and 16 levels, without unknown or duplicate
//! fields.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Integrator, NameServer, Service, send, text};

/// Returns a JSON object with this depth of nesting, itself included.
fn nested(depth: usize) -> String {
    let inside = depth - 1;
    format!(r#"{{"domain":"shop.test","metadata":{}1{}}}"#, "{\"a\":".repeat(inside), "}".repeat(inside))
}

#[tokio::test]
async fn body_requires_the_json_media_type() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let body = json!({ "domain": "shop.test" }).to_string();
    for (content_type, status) in [
        (Some("application/json"), 201),
        (Some("application/json; charset=utf-8"), 201),
        (Some("Application/JSON"), 201),
        (Some("text/plain"), 415),
        (Some("text/json"), 415),
        (Some("application/x-www-form-urlencoded"), 415),
        (Some("application/json-patch+json"), 415),
        (Some(""), 415),
        (None, 415),
    ] {
        let request = integrator.request(Method::POST, "/sessions").body(body.clone());
        let request = content_type.map_or(request.try_clone().unwrap(), |value| request.header("content-type", value));
        let reply = send(request).await;
        assert_eq!(reply.status, status, "{content_type:?}: {}", reply.text);
        if status == 415 {
            reply.assert_error(415, "unsupported_media_type");
        }
    }
    for path in ["/verify", "/domains"] {
        let untyped = integrator.request(Method::POST, path).body("{}");
        send(untyped).await.assert_error(415, "unsupported_media_type");
    }
}

#[tokio::test]
async fn invalid_json_is_rejected() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain("shop.test").await;
    let session = integrator.create_session("shop.test").await;
    let session = format!("/sessions/{}", text(&session, "id"));
    let domain = format!("/domains/{}", text(&domain, "id"));
    for path in ["/sessions", "/verify", "/domains", &format!("{session}/authenticate")] {
        for body in ["", " ", "{", "{} x", "{'a':1}", "{\"a\":\"\u{1}\"}", "{\"a\":\"\\ud800\"}", "{\"a\":1,}", "NaN"] {
            integrator.post_raw(path, body).await.assert_error(400, "invalid_json");
        }
        let bytes = integrator.request(Method::POST, path).header("content-type", "application/json");
        send(bytes.body(b"{\"a\":\"\xff\"}".to_vec())).await.assert_error(400, "invalid_json");
        for body in ["[]", "null", "\"text\"", "1", "[{}]"] {
            integrator.post_raw(path, body).await.assert_invalid_field("body");
        }
    }
    for path in [format!("{session}/refresh"), format!("{domain}/verify")] {
        integrator.post_raw(&path, "{").await.assert_error(400, "invalid_json");
        integrator.post_raw(&path, r#"{"a":1}"#).await.assert_invalid_field("a");
        integrator.post_raw(&path, "[]").await.assert_invalid_field("body");
    }
}

#[tokio::test]
async fn empty_body_needs_no_media_type() {
    let names = NameServer::start().await;
    let service = Service::with(&[("dns_server", &names.setting())]).await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain("shop.test").await;
    let session = integrator.create_session("shop.test").await;
    let verify = format!("/domains/{}/verify", text(&domain, "id"));
    let refresh = format!("/sessions/{}/refresh", text(&session, "id"));
    for (path, expected) in [(&refresh, 200), (&verify, 422)] {
        let message = |body: &str| integrator.request(Method::POST, path).body(body.to_owned());
        assert_eq!(integrator.post_nothing(path).await.status, expected);
        assert_eq!(integrator.post_raw(path, "{}").await.status, expected);
        assert_eq!(integrator.post_raw(path, "").await.status, expected);
        assert_eq!(send(message("")).await.status, expected);
        assert_eq!(send(message("{}")).await.status, expected);
    }
}

#[tokio::test]
async fn body_is_limited_to_64_kib() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let body = json!({ "domain": "shop.test" }).to_string();
    let padded = |length: usize| format!("{body}{}", " ".repeat(length - body.len()));
    integrator.post_raw("/sessions", &padded(64 * 1024)).await.with(201);
    let details = integrator.post_raw("/sessions", &padded(64 * 1024 + 1)).await.assert_error(413, "payload_too_large");
    assert_eq!(details["limit"], 65_536);
    let session = integrator.create_session("shop.test").await;
    let of_session = |action: &str| format!("/sessions/{}/{action}", text(&session, "id"));
    for path in ["/verify", "/domains", &of_session("refresh"), &of_session("authenticate")] {
        integrator.post_raw(path, &" ".repeat(64 * 1024 + 1)).await.assert_error(413, "payload_too_large");
    }
}

#[tokio::test]
async fn nesting_is_limited_to_sixteen_levels() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    integrator.post_raw("/sessions", &nested(16)).await.with(201);
    assert_eq!(integrator.post_raw("/sessions", &nested(17)).await.status, 400);
    assert_eq!(integrator.post_raw("/sessions", &nested(10_000)).await.status, 400);
    assert_eq!(integrator.post_raw("/sessions", &"[".repeat(60_000)).await.status, 400);
    let brackets = json!({ "domain": "shop.test", "metadata": { "custom_data": "[".repeat(100) } });
    integrator.post("/sessions", &brackets).await.with(201);
}

#[tokio::test]
async fn unknown_and_duplicate_fields_are_rejected() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain("shop.test").await;
    let verify = r#""public_key":"02","signature":"30","message":"m""#;
    let named = r#""domain":"two.test","webhook_url":"https://two.test/""#;
    for (path, fields) in [("/sessions", r#""domain":"shop.test""#), ("/verify", verify), ("/domains", named)] {
        integrator.post_raw(path, &format!(r#"{{{fields},"extra":1}}"#)).await.assert_invalid_field("extra");
        let doubled = integrator.post_raw(path, &format!("{{{fields},{fields}}}")).await;
        let details = doubled.assert_error(400, "invalid_request");
        assert!(details["reason"].as_str().unwrap().contains("duplicated"), "{details}");
        let escaped = fields.replace("\"domain\"", "\"d\\u006fmain\"").replace("\"message\"", "\"m\\u0065ssage\"");
        integrator.post_raw(path, &format!("{{{fields},{escaped}}}")).await.assert_error(400, "invalid_request");
    }
    for inside in [r#"{"return_url":"/a","return_url":"/b"}"#, r#"{"custom_data":[{"x":{"y":1,"\u0079":1}}]}"#] {
        let body = format!(r#"{{"domain":"shop.test","metadata":{inside}}}"#);
        let details = integrator.post_raw("/sessions", &body).await.assert_error(400, "invalid_request");
        assert!(details["reason"].as_str().unwrap().contains("duplicated"), "{details}");
    }
    let path = format!("/domains/{}", text(&domain, "id"));
    for body in [json!({ "extra": 1 }), json!({ "domain": "two.test" }), json!({ "verified": true })] {
        let field = body.as_object().unwrap().keys().next().unwrap().clone();
        integrator.patch(&path, &body).await.assert_invalid_field(&field);
    }
}

#[tokio::test]
async fn missing_or_mistyped_field_is_named() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let verify = json!({ "public_key": "02", "signature": "30", "message": "m" });
    let session =
        json!({ "domain": "shop.test", "mode": "login", "webhook_url": "https://shop.test/", "metadata": {} });
    let domain = json!({ "domain": "two.test", "webhook_url": "https://two.test/" });
    for (path, body, required) in [
        ("/verify", verify, &["public_key", "signature", "message"][..]),
        ("/sessions", session, &["domain"]),
        ("/domains", domain, &["domain", "webhook_url"]),
    ] {
        for field in required {
            let mut without = body.clone();
            without.as_object_mut().unwrap().remove(*field);
            integrator.post(path, &without).await.assert_invalid_field(field);
        }
        for field in body.as_object().unwrap().keys() {
            reject_wrong_types(&integrator, path, &body, field).await;
        }
    }
}

async fn reject_wrong_types(integrator: &Integrator, path: &str, body: &Value, field: &str) {
    for wrong in [json!(null), json!(true), json!(1), json!([]), json!({}), json!("text")] {
        let is_right = wrong.is_string() != body[field].is_object() && (wrong.is_string() || wrong.is_object());
        if is_right {
            continue;
        }
        let mut changed = body.clone();
        changed[field] = wrong;
        integrator.post(path, &changed).await.assert_invalid_field(field);
    }
}
