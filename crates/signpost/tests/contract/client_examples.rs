//! Compares the examples in `openapi.yaml` of clients, and of calls of the command line, with real replies.

use serde_json::json;

use crate::clients;
use crate::examples::{assert_error_example, assert_example, example};
use crate::harness::{Integrator, Service, text};

pub(crate) async fn of_clients(integrator: &Integrator, clients: &str) {
    let client = integrator.post(clients, example("NewClient")).await.with(201);
    assert_example("CreatedClient", &client);
    let path = format!("{clients}/{}", text(&client, "client_id"));
    assert_example("Client", &integrator.patch(&path, &example("ClientChange")).await.with(200));
    assert_example("Client", &integrator.get(&path).await.with(200));
    assert_example("ClientList", &integrator.get(clients).await.with(200));
    assert_example(
        "RotatedClient",
        &integrator.post(&format!("{path}/rotate"), example("ClientRotation")).await.with(200),
    );
    assert_example("Account", &integrator.get("/account").await.with(200));
    assert_example("SignedEventList", &integrator.get("/deliveries/signed").await.with(200));
}

/// Checks the examples of errors: a public client, and domains that do not allow the client.
pub(crate) async fn of_impossible_clients(service: &Service, integrator: &Integrator, domain: &str) {
    let public = json!({ "redirect_uris": ["https://wiki.example.com/"], "public": true });
    let client = integrator.post(&format!("{domain}/clients"), &public).await.with(201);
    let rotate = format!("{domain}/clients/{}/rotate", text(&client, "client_id"));
    assert_error_example("ClientIsPublic", &integrator.post_nothing(&rotate).await.with(422));
    let direct = integrator.register_domain("direct.example").await;
    let path = format!("/domains/{}/clients", text(&direct, "id"));
    assert_error_example("DomainNotHosted", &integrator.post(&path, &public).await.with(422));
    let unverified = integrator.register_domain("example.org").await;
    let path = format!("/domains/{}", text(&unverified, "id"));
    integrator.patch(&path, &json!({ "handler": "hosted" })).await.with(200);
    let mut verified = public.clone();
    verified["email"] = "verified".into();
    let path = format!("{path}/clients");
    assert_error_example("DomainNotVerified", &integrator.post(&path, &verified).await.with(422));
    clients::fill_clients(service, &unverified, 0).await;
    assert_error_example("TooManyClients", &integrator.post(&path, &public).await.with(409));
}
