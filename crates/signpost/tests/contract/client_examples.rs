//! Compares the client examples in `openapi.yaml` with real replies.

use serde_json::json;

use crate::clients;
use crate::examples::{example, is_like, is_said};
use crate::harness::{Integrator, Service, text};

pub(crate) async fn of_clients(integrator: &Integrator, clients: &str) {
    let client = integrator.post(clients, example("NewClient")).await.with(201);
    is_like("CreatedClient", &client);
    let path = format!("{clients}/{}", text(&client, "client_id"));
    is_like("Client", &integrator.patch(&path, &example("ClientChange")).await.with(200));
    is_like("Client", &integrator.get(&path).await.with(200));
    is_like("ClientList", &integrator.get(clients).await.with(200));
    is_like("RotatedClient", &integrator.post(&format!("{path}/rotate"), example("ClientRotation")).await.with(200));
}

/// Checks the examples of errors: a public client, and domains that do not allow the client.
pub(crate) async fn of_impossible_clients(service: &Service, integrator: &Integrator, domain: &str) {
    let public = json!({ "redirect_uris": ["https://wiki.example.com/"], "public": true });
    let client = integrator.post(&format!("{domain}/clients"), &public).await.with(201);
    let rotate = format!("{domain}/clients/{}/rotate", text(&client, "client_id"));
    is_said("ClientIsPublic", &integrator.post_nothing(&rotate).await.with(422));
    let direct = integrator.registers("direct.example").await;
    let path = format!("/domains/{}/clients", text(&direct, "id"));
    is_said("DomainNotHosted", &integrator.post(&path, &public).await.with(422));
    let unverified = integrator.registers("example.org").await;
    let path = format!("/domains/{}", text(&unverified, "id"));
    integrator.patch(&path, &json!({ "handler": "hosted" })).await.with(200);
    let mut verified = public.clone();
    verified["email"] = "verified".into();
    let path = format!("{path}/clients");
    is_said("DomainNotVerified", &integrator.post(&path, &verified).await.with(422));
    clients::fills(service, &unverified, 0).await;
    is_said("TooManyClients", &integrator.post(&path, &public).await.with(409));
}
