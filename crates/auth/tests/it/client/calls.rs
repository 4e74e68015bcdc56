//! Makes the calls that the test vectors name.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use signpost_auth::client::{DeliveryFilter, Paging, SessionFilter, Signpost, SignpostError, UserSearch};

type Outcome = Result<Value, SignpostError>;

/// Makes a call by its name. Returns the result with the member names of the API.
pub(super) async fn call(signpost: &Signpost, name: &str, arguments: &Value) -> Outcome {
    match name.split_once('.') {
        Some(("sessions", call)) => sessions(signpost, call, arguments).await,
        Some(("domains", call)) => domains(signpost, call, arguments).await,
        Some(("users", call)) => users(signpost, call, arguments).await,
        Some(("deliveries", call)) => deliveries(signpost, call, arguments).await,
        Some(("atms", call)) => atms(signpost, call, arguments).await,
        _ => to_json(signpost.verify(&read(arguments)).await),
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
            let mut output = json!(created);
            if let Some(secret) = created.client_secret {
                output["client_secret"] = secrecy::ExposeSecret::expose_secret(&secret).into();
            }
            Ok(output)
        }
        "list" => {
            let (limit, cursor) = paging_arguments(arguments);
            let status = arguments.get("status").map(read);
            let domain = arguments["domain"].as_str().map(str::to_owned);
            to_json(sessions.list(&SessionFilter { status, domain, limit, cursor }).await)
        }
        "get" => match arguments["wait"].as_u64() {
            Some(wait) => to_json(sessions.get_after(id, wait).await),
            None => to_json(sessions.get(id).await),
        },
        "wait" => to_json(sessions.wait(id).await),
        "refresh" => to_json(sessions.refresh(id).await),
        "complete" => to_json(sessions.complete(id, &read(arguments)).await),
        "authenticate" => to_json(sessions.authenticate(id, &read(arguments)).await),
        "cancel" => to_json(sessions.cancel(id).await),
        "simulate" => to_json(sessions.simulate(id, &read(arguments)).await),
        "qr_svg" => to_json(sessions.qr_svg(id).await),
        _ => panic!("sessions.{name} is not called here"),
    }
}

async fn domains(signpost: &Signpost, name: &str, arguments: &Value) -> Outcome {
    let (domains, id) = (signpost.domains(), text(arguments, "id"));
    match name {
        "create" => {
            let registered = domains.create(&read(arguments)).await?;
            let mut output = json!(registered);
            output["webhook_secret"] = secrecy::ExposeSecret::expose_secret(&registered.webhook_secret).into();
            Ok(output)
        }
        "list" => {
            let (limit, cursor) = paging_arguments(arguments);
            to_json(domains.list(&Paging { limit, cursor }).await)
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
        "get" => to_json(domains.get(id).await),
        "update" => to_json(domains.update(id, &read(arguments)).await),
        "verify" => to_json(domains.verify(id).await),
        "delete" => to_json(domains.delete(id).await),
        "send_test_event" => to_json(domains.send_test_event(id).await),
        _ => panic!("domains.{name} is not called here"),
    }
}

async fn users(signpost: &Signpost, name: &str, arguments: &Value) -> Outcome {
    let (users, domain_id, user) = (signpost.users(), text(arguments, "domain_id"), text(arguments, "user"));
    match name {
        "create" => match arguments["idempotency_key"].as_str() {
            Some(key) => to_json(users.create_with_idempotency_key(key, domain_id, &read(arguments)).await),
            None => to_json(users.create(domain_id, &read(arguments)).await),
        },
        "list" => {
            let (limit, cursor) = paging_arguments(arguments);
            let filter = |name: &str| arguments[name].as_str().map(str::to_owned);
            let (external_id, username, q) = (filter("external_id"), filter("username"), filter("q"));
            to_json(
                users
                    .search(domain_id, &UserSearch { external_id, username, q, paging: Paging { limit, cursor } })
                    .await,
            )
        }
        "sign_ins" => {
            let (limit, cursor) = paging_arguments(arguments);
            to_json(users.sign_ins(domain_id, user, &Paging { limit, cursor }).await)
        }
        "end_sign_in" => to_json(users.end_sign_in(domain_id, user, text(arguments, "sign_in")).await),
        "end_sign_ins" => to_json(users.end_sign_ins(domain_id, user).await),
        "get" => to_json(users.get(domain_id, user).await),
        "update" => to_json(users.update(domain_id, user, &read(arguments)).await),
        "delete" => to_json(users.delete(domain_id, user).await),
        "delete_all" => to_json(users.delete_all(domain_id).await),
        "delete_credential" => to_json(users.delete_credential(domain_id, user, text(arguments, "credential")).await),
        _ => panic!("users.{name} is not called here"),
    }
}

async fn deliveries(signpost: &Signpost, name: &str, arguments: &Value) -> Outcome {
    let (deliveries, id) = (signpost.deliveries(), text(arguments, "id"));
    match name {
        "list" => {
            let ((limit, cursor), state) = (paging_arguments(arguments), arguments.get("state").map(read));
            to_json(deliveries.list(&DeliveryFilter { state, limit, cursor }).await)
        }
        "get" => to_json(deliveries.get(id).await),
        "retry" => to_json(deliveries.retry(id).await),
        "retry_all" => to_json(deliveries.retry_all().await),
        _ => panic!("deliveries.{name} is not called here"),
    }
}

async fn atms(signpost: &Signpost, name: &str, arguments: &Value) -> Outcome {
    let atms = signpost.atms();
    match name {
        "nearest" => to_json(atms.nearest(&read(arguments)).await),
        "get" => to_json(atms.get(arguments["atm_id"].as_u64().unwrap()).await),
        "get_many" => {
            let ids: Vec<u64> = read(&arguments["atm_ids"]);
            to_json(atms.get_many(&ids).await)
        }
        "status" => to_json(atms.status(&read(arguments)).await),
        "list_by_city" => to_json(atms.list_by_city(&read(arguments)).await),
        _ => panic!("atms.{name} is not called here"),
    }
}

fn to_json(outcome: Result<impl Serialize, SignpostError>) -> Outcome {
    outcome.map(|reply| json!(reply))
}

fn read<T: DeserializeOwned>(arguments: &Value) -> T {
    serde_json::from_value(arguments.clone()).unwrap()
}

fn text<'a>(arguments: &'a Value, name: &str) -> &'a str {
    arguments[name].as_str().unwrap_or_default()
}

fn paging_arguments(arguments: &Value) -> (Option<u8>, Option<String>) {
    let limit = arguments["limit"].as_u64().map(|limit| u8::try_from(limit).unwrap());
    (limit, arguments["cursor"].as_str().map(str::to_owned))
}
