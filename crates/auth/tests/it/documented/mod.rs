//! Compares the client's types with the documents that define them: `openapi.yaml` for the API, and
//! the schemas of the tools for the locator. Each member of a type must be documented, and each
//! documented member must exist.

mod calls;
mod schema;

use std::collections::BTreeSet;
use std::fmt::Debug;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use signpost_auth::client::{
    AreaStatus, AtmDetails, AtmList, AtmSearch, AtmSource, CityAtms, CitySearch, Client, ClientChange, ClientList,
    ClientRotation, ClientWithSecret, Completion, CreatedSession, Credential, Delivery, DeliveryList, Domain,
    DomainChange, DomainList, HostedUser, ImportOutcome, ListedAtm, ListedDomain, ListedSession, MachineReport,
    NewClient, NewDomain, NewReport, NewSession, NewUser, ProvedDomain, RefreshedSession, RegisteredDomain, Requester,
    Retried, Session, SessionList, SessionUser, SeveralAtms, SignIn, SignInList, Signed, Simulated, Simulation,
    StatusSearch, Submission, UserChange, UserList, Verification,
};
use signpost_auth::{Answer, DeviceInfo, Event, EventData, UserEventData, WebauthnProof};

use schema::{Document, fields};

/// Objects of the API that need no client type, because they are for wallets, visitors and the
/// command line; and the error.
const WITHOUT_CLIENT_TYPE: [&str; 10] = [
    "Account",
    "Context",
    "Error",
    "ErrorDetails",
    "ProofCheck",
    "SignedEvent",
    "SignedEventList",
    "Taken",
    "TestEventRequest",
    "WalletError",
];

/// Required members that the client accepts as missing, because senders that implement only the
/// specification, or earlier versions of the service, omit them.
const ACCEPTED_AS_MISSING: [(&str, &str); 8] = [
    ("Domain", "events"),
    ("RegisteredDomain", "events"),
    ("Event", "id"),
    ("EventData", "device_info"),
    ("CreatedSession", "domain_id"),
    ("RefreshedSession", "domain_id"),
    ("Session", "domain_id"),
    ("SessionList/properties/sessions/items", "domain_id"),
];

fn openapi() -> Document {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../openapi.yaml");
    Document(serde_saphyr::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
}

fn tools() -> Document {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../signpost/tests/it/listed.json");
    let tools: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    Document(tools.into_iter().map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool)).collect())
}

/// Compares a type with the schema at a JSON pointer.
fn check<T: DeserializeOwned + Debug>(document: &Document, pointer: &str) {
    let name = pointer.trim_start_matches("/components/schemas/");
    let schema = document.resolve(document.0.pointer(pointer).unwrap_or_else(|| panic!("no {pointer}")));
    if let Some(fields) = fields::<T>() {
        let documented: BTreeSet<_> = schema.members.keys().map(String::as_str).collect();
        let fields: BTreeSet<_> = fields.iter().copied().collect();
        assert_eq!(fields, documented, "the members of {name}");
    }
    let whole = document.sample(&schema);
    let read = |value: &Value| serde_json::from_value::<T>(value.clone());
    read(&whole).unwrap_or_else(|error| panic!("{name}, whole: {error}: {whole}"));
    let mut least = whole.clone();
    least.as_object_mut().unwrap().retain(|member, _| schema.required.contains(member));
    read(&least).unwrap_or_else(|error| panic!("{name} with the required fields: {error}: {least}"));
    for (member, inner) in &schema.members {
        let mut other = whole.clone();
        other[member] = document.invalid_value(inner);
        assert!(read(&other).is_err(), "{name}: {member} is not checked: {other}");
        let may_be_missing = ACCEPTED_AS_MISSING.contains(&(name, member.as_str()));
        if schema.required.contains(member) && !may_be_missing {
            let mut without = whole.clone();
            without.as_object_mut().unwrap().remove(member);
            assert!(read(&without).is_err(), "{name} is read without {member}");
        }
        for word in document.enum_values(inner) {
            let mut sample_value = whole.clone();
            sample_value[member] = word.clone();
            let text =
                format!("{:?}", read(&sample_value).unwrap_or_else(|error| panic!("{name}: {member} {word}: {error}")));
            assert!(!text.contains("Other("), "{name}: the word {word} of {member} is not known: {text}");
        }
    }
}

#[test]
fn client_types_match_the_document() {
    let document = openapi();
    let mut checked = BTreeSet::new();
    macro_rules! check {
        ($($kind:ty => $schema:literal),* $(,)?) => {$(
            check::<$kind>(&document, concat!("/components/schemas/", $schema));
            checked.insert($schema);
        )*};
    }
    check! {
        Answer => "Answer", Client => "Client", ClientChange => "ClientChange", ClientList => "ClientList",
        ClientRotation => "ClientRotation", ClientWithSecret => "ClientWithSecret", ImportOutcome => "ImportOutcome",
        MachineReport => "MachineReport", NewClient => "NewClient", NewReport => "NewReport", Submission => "Submission",
        Completion => "Completion", CreatedSession => "CreatedSession", Credential => "Credential",
        Delivery => "Delivery", DeliveryList => "DeliveryList", DeviceInfo => "Device", Domain => "Domain",
        DomainChange => "DomainChange", DomainList => "DomainList", Event => "Event", EventData => "EventData",
        UserEventData => "UserEventData",
        HostedUser => "HostedUser", NewUser => "NewUser", SignIn => "SignIn", SignInList => "SignInList",
        ListedDomain => "ListedDomain", NewDomain => "NewDomain", NewSession => "NewSession",
        ProvedDomain => "ProvedDomain", RefreshedSession => "RefreshedSession", RegisteredDomain => "RegisteredDomain",
        Requester => "Requester", Retried => "Retried", Session => "Session", SessionList => "SessionList",
        Signed => "Signed", Simulated => "Simulated", Simulation => "Simulation", UserChange => "UserChange",
        UserList => "UserList", Verification => "Verification",
        SessionUser => "Session/properties/user", WebauthnProof => "EventData/properties/webauthn",
        ListedSession => "SessionList/properties/sessions/items",
    }
    let objects = document.objects("/components/schemas");
    // The schema of metadata does not list the members of sites, which are arbitrary.
    let left: Vec<_> =
        objects.iter().filter(|name| !checked.contains(**name) && !WITHOUT_CLIENT_TYPE.contains(name)).collect();
    assert_eq!(left, [&"Metadata", &"UserMetadata"]);
}

/// Calls of the API that the shared cases omit: images and an event stream.
const CALLS_OF_PAGES: [&str; 3] = ["drawSessionPng", "drawSessionSvg", "followSession"];

#[test]
fn sdk_vectors_cover_every_call() {
    let (document, vectors) = (openapi(), crate::read::<Value>("client"));
    let cases = vectors["cases"].as_array().unwrap();
    let requests = cases.iter().flat_map(|case| case["requests"].as_array().into_iter().flatten());
    let came: Vec<_> = requests.map(|request| (&request["method"], request["path"].as_str().unwrap())).collect();
    let is_called = |method: &str, path: &str| {
        let wanted = format!("/sandbox/v1{path}");
        came.iter().any(|(came, target)| *came == method && is_at(target.split('?').next().unwrap(), &wanted))
    };
    let mut missing = Vec::new();
    for (path, item) in document.0["paths"].as_object().unwrap() {
        for method in ["get", "post", "patch", "delete", "put"] {
            let operation = &item[method];
            let tag = operation["tags"][0].as_str().unwrap_or_default();
            let name = operation["operationId"].as_str().unwrap_or_default();
            let is_ours =
                ["Sessions", "Verification", "Domains", "Deliveries"].contains(&tag) && !CALLS_OF_PAGES.contains(&name);
            if is_ours && !is_called(&method.to_uppercase(), path) {
                missing.push(name);
            }
        }
    }
    assert!(missing.is_empty(), "no case calls {missing:?}");
    assert!(!is_called("GET", "/verify"), "the search is broken");
}

fn is_at(path: &str, template: &str) -> bool {
    let (path, template): (Vec<_>, Vec<_>) = (path.split('/').collect(), template.split('/').collect());
    let fits = |(part, wanted): (&&str, &&str)| part == wanted || wanted.starts_with('{');
    path.len() == template.len() && path.iter().zip(&template).all(fits)
}

#[test]
fn locator_types_match_its_tools() {
    let tools = tools();
    check::<AtmSearch>(&tools, "/find_nearest_bitcoin_atm/inputSchema");
    check::<StatusSearch>(&tools, "/check_atm_status/inputSchema");
    check::<CitySearch>(&tools, "/list_atms_by_city/inputSchema");
    check::<AtmList>(&tools, "/find_nearest_bitcoin_atm/outputSchema");
    check::<AreaStatus>(&tools, "/check_atm_status/outputSchema");
    check::<CityAtms>(&tools, "/list_atms_by_city/outputSchema");
    let details = details_alone(&tools);
    check::<AtmDetails>(&details, "/details");
    let several: BTreeSet<_> = fields::<SeveralAtms>().unwrap().iter().copied().collect();
    assert_eq!(several, BTreeSet::from(["atms", "notFound", "notice", "howToReport", "advisories"]));
    check::<AtmSource>(&tools, "/get_atm_details/outputSchema/properties/sources/items");
    for tool in ["find_nearest_bitcoin_atm", "check_atm_status", "list_atms_by_city"] {
        check::<ListedAtm>(&tools, &format!("/{tool}/outputSchema/properties/atms/items"));
    }
}

/// Returns the schema of the details without the members of replies with several ATMs. The schema of the tool is for both
/// and requires no member; all details have these.
fn details_alone(tools: &Document) -> Document {
    let mut schema = tools.0["get_atm_details"]["outputSchema"].clone();
    let members = schema["properties"].as_object_mut().unwrap();
    for several in ["atms", "notFound"] {
        assert!(members.remove(several).is_some());
    }
    schema["required"] =
        json!(["id", "name", "status", "statusReason", "freshness", "address", "lat", "lon", "sources", "attribution"]);
    Document(json!({ "details": schema }))
}

#[test]
fn undocumented_members_are_found() {
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only deserialization is tested")]
    struct Short {
        id: String,
    }
    assert_eq!(fields::<Short>(), Some(&["id"][..]));
    assert_eq!(fields::<Vec<String>>(), None);
    let document = Document(json!({ "Short": { "type": "object", "required": ["id"], "properties": {
        "id": { "type": "string" }, "more": { "type": "string" } } } }));
    let outcome = std::panic::catch_unwind(|| check::<Short>(&document, "/Short"));
    assert!(outcome.is_err());
}
