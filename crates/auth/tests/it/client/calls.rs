//! The calls by the names of the vectors.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use signpost_auth::client::{DeliveryFilter, Paging, SessionFilter, Signpost, SignpostError};

type Outcome = Result<Value, SignpostError>;

/// Makes a call. Returns the result with the names on the wire.
pub(super) async fn call(signpost: &Signpost, name: &str, arguments: &Value) -> Outcome {
    match name.split_once('.') {
        Some(("sessions", call)) => sessions(signpost, call, arguments).await,
        Some(("domains", call)) => domains(signpost, call, arguments).await,
        Some(("users", call)) => users(signpost, call, arguments).await,
        Some(("deliveries", call)) => deliveries(signpost, call, arguments).await,
        Some(("atms", call)) => atms(signpost, call, arguments).await,
        _ => shown(signpost.verify(&read(arguments)).await),
    }
}

async fn sessions(signpost: &Signpost, name: &str, arguments: &Value) -> Outcome {
    let (sessions, id) = (signpost.sessions(), text(arguments, "id"));
    match name {
        "create" => {
            let created = match arguments["idempotency_key"].as_str() {
                Some(key) => sessions.create_with_idempotency_key(key, &read(arguments)).await?,
                None => sessions.create(&read(arguments)).await?,
            };
            let mut shown = json!(created);
            if let Some(secret) = created.client_secret {
                shown["client_secret"] = secrecy::ExposeSecret::expose_secret(&secret).into();
            }
            Ok(shown)
        }
        "list" => {
            let (limit, cursor) = part(arguments);
            let status = arguments.get("status").map(read);
            let domain = arguments["domain"].as_str().map(str::to_owned);
            shown(sessions.list(&SessionFilter { status, domain, limit, cursor }).await)
        }
        "get" => match arguments["wait"].as_u64() {
            Some(wait) => shown(sessions.get_after(id, wait).await),
            None => shown(sessions.get(id).await),
        },
        "wait" => shown(sessions.wait(id).await),
        "refresh" => shown(sessions.refresh(id).await),
        "complete" => shown(sessions.complete(id, &read(arguments)).await),
        "authenticate" => shown(sessions.authenticate(id, &read(arguments)).await),
        "cancel" => shown(sessions.cancel(id).await),
        "simulate" => shown(sessions.simulate(id, &read(arguments)).await),
        "qr_svg" => shown(sessions.qr_svg(id).await),
        _ => panic!("sessions.{name} is not called here"),
    }
}

async fn domains(signpost: &Signpost, name: &str, arguments: &Value) -> Outcome {
    let (domains, id) = (signpost.domains(), text(arguments, "id"));
    match name {
        "create" => {
            let registered = domains.create(&read(arguments)).await?;
            let mut shown = json!(registered);
            shown["webhook_secret"] = secrecy::ExposeSecret::expose_secret(&registered.webhook_secret).into();
            Ok(shown)
        }
        "list" => {
            let (limit, cursor) = part(arguments);
            shown(domains.list(&Paging { limit, cursor }).await)
        }
        "all" => {
            let (mut all, mut paging) = (Vec::new(), Paging { limit: Some(100), cursor: None });
            loop {
                let page = domains.list(&paging).await?;
                all.extend(page.domains);
                paging.cursor = page.next_cursor;
                if paging.cursor.is_none() {
                    return Ok(json!(all));
                }
            }
        }
        "get" => shown(domains.get(id).await),
        "update" => shown(domains.update(id, &read(arguments)).await),
        "verify" => shown(domains.verify(id).await),
        "delete" => shown(domains.delete(id).await),
        "send_test_event" => shown(domains.send_test_event(id).await),
        _ => panic!("domains.{name} is not called here"),
    }
}

async fn users(signpost: &Signpost, name: &str, arguments: &Value) -> Outcome {
    let (users, domain_id, user) = (signpost.users(), text(arguments, "domain_id"), text(arguments, "user"));
    match name {
        "list" => {
            let (limit, cursor) = part(arguments);
            shown(users.list(domain_id, &Paging { limit, cursor }).await)
        }
        "get" => shown(users.get(domain_id, user).await),
        "update" => shown(users.update(domain_id, user, &read(arguments)).await),
        "delete" => shown(users.delete(domain_id, user).await),
        "delete_all" => shown(users.delete_all(domain_id).await),
        "delete_credential" => shown(users.delete_credential(domain_id, user, text(arguments, "credential")).await),
        _ => panic!("users.{name} is not called here"),
    }
}

async fn deliveries(signpost: &Signpost, name: &str, arguments: &Value) -> Outcome {
    let (deliveries, id) = (signpost.deliveries(), text(arguments, "id"));
    match name {
        "list" => {
            let ((limit, cursor), state) = (part(arguments), arguments.get("state").map(read));
            shown(deliveries.list(&DeliveryFilter { state, limit, cursor }).await)
        }
        "get" => shown(deliveries.get(id).await),
        "retry" => shown(deliveries.retry(id).await),
        "retry_all" => shown(deliveries.retry_all().await),
        _ => panic!("deliveries.{name} is not called here"),
    }
}

async fn atms(signpost: &Signpost, name: &str, arguments: &Value) -> Outcome {
    let atms = signpost.atms();
    match name {
        "nearest" => shown(atms.nearest(&read(arguments)).await),
        "get" => shown(atms.get(arguments["atm_id"].as_u64().unwrap()).await),
        "status" => shown(atms.status(&read(arguments)).await),
        "list_by_city" => shown(atms.list_by_city(&read(arguments)).await),
        _ => panic!("atms.{name} is not called here"),
    }
}

fn shown(outcome: Result<impl Serialize, SignpostError>) -> Outcome {
    outcome.map(|reply| json!(reply))
}

fn read<T: DeserializeOwned>(arguments: &Value) -> T {
    serde_json::from_value(arguments.clone()).unwrap()
}

fn text<'a>(arguments: &'a Value, name: &str) -> &'a str {
    arguments[name].as_str().unwrap_or_default()
}

fn part(arguments: &Value) -> (Option<u8>, Option<String>) {
    let limit = arguments["limit"].as_u64().map(|limit| u8::try_from(limit).unwrap());
    (limit, arguments["cursor"].as_str().map(str::to_owned))
}
