//! Code examples of a call in each language. TypeScript, Python and curl are generated from the example in the
//! document; the typed arguments of Go and Rust are in [`METHODS`].

use std::fmt::Write;

use super::node::YamlNode;

/// Languages of the examples, in the order of the switch.
pub(super) const LANGUAGES: [Language; 5] =
    [Language::TypeScript, Language::Python, Language::Go, Language::Rust, Language::Curl];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    TypeScript,
    Python,
    Go,
    Rust,
    Curl,
}

impl Language {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::TypeScript => "TypeScript",
            Self::Python => "Python",
            Self::Go => "Go",
            Self::Rust => "Rust",
            Self::Curl => "curl",
        }
    }

    /// Returns the suffix of the CSS class.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::TypeScript => "ts",
            Self::Python => "py",
            Self::Go => "go",
            Self::Rust => "rs",
            Self::Curl => "sh",
        }
    }
}

/// A method of the SDKs, by the operation that it calls.
pub(super) struct SdkMethod {
    pub(super) operation: &'static str,
    /// Name of the resource, `sessions` in `signpost.sessions.create`; empty for methods of the client itself.
    pub(super) group: &'static str,
    /// Name of the method in TypeScript.
    pub(super) name: &'static str,
    /// Expressions for the path parameters, such as `domain.id`.
    ids: &'static [&'static str],
    /// Name of the variable for the reply; empty if there is none.
    reply: &'static str,
    /// Arguments in Go and in Rust after the IDs; empty if there are none.
    typed: [&'static str; 2],
}

const fn method(
    operation: &'static str,
    (group, name): (&'static str, &'static str),
    ids: &'static [&'static str],
    reply: &'static str,
    typed: [&'static str; 2],
) -> SdkMethod {
    SdkMethod { operation, group, name, ids, reply, typed }
}

const NONE: [&str; 2] = ["", ""];

pub(super) const METHODS: &[SdkMethod] = &[
    method(
        "listSessions",
        ("sessions", "list"),
        &[],
        "sessions",
        [
            "signpost.SessionListParams{ListParams: signpost.ListParams{Limit: 20}}",
            "&SessionFilter { limit: Some(20), ..Default::default() }",
        ],
    ),
    method(
        "createSession",
        ("sessions", "create"),
        &[],
        "session",
        [
            "signpost.SessionParams{\n\tDomain:      \"example.com\",\n\tFlow:        \"page\",\n\tBrowserHash: browserHash,\n\tMetadata:    map[string]any{\"return_url\": \"/signpost/return\"},\n}",
            "&NewSession {\n    flow: Some(Flow::Page),\n    browser_hash: Some(browser_hash),\n    metadata: Some(Metadata::returning_to(\"/signpost/return\")),\n    ..NewSession::on(\"example.com\")\n}",
        ],
    ),
    method("getSession", ("sessions", "get"), &["session.id"], "session", ["signpost.LongPoll(25*time.Second)", "25"]),
    method("cancelSession", ("sessions", "cancel"), &["session.id"], "", NONE),
    method("drawSessionSvg", ("sessions", "qrSvg"), &["session.id"], "svg", NONE),
    method("refreshSession", ("sessions", "refresh"), &["session.id"], "session", NONE),
    method("authenticateSession", ("sessions", "authenticate"), &["session.id"], "session", ["answer", "&answer"]),
    method(
        "completeSession",
        ("sessions", "complete"),
        &["sessionId"],
        "session",
        [
            "signpost.Completion{Code: code, BrowserSecret: browserSecret}",
            "&Completion { code, browser_secret: Some(browser_secret) }",
        ],
    ),
    method(
        "simulateWallet",
        ("sessions", "simulate"),
        &["session.id"],
        "simulation",
        ["signpost.SimulateParams{Wallet: 1}", "&Simulated { wallet: Some(1), fault: None }"],
    ),
    method(
        "verifySignature",
        ("", "verify"),
        &[],
        "verification",
        [
            "signpost.VerifyParams{PublicKey: publicKey, Signature: signature, Message: message}",
            "&Signed { public_key, signature, message }",
        ],
    ),
    method("listDomains", ("domains", "list"), &[], "domains", ["signpost.ListParams{}", "&Paging::default()"]),
    method(
        "registerDomain",
        ("domains", "create"),
        &[],
        "domain",
        [
            "signpost.DomainParams{\n\tDomain:     \"example.com\",\n\tWebhookURL: \"https://example.com/signpost/wallet\",\n}",
            "&NewDomain {\n    domain: \"example.com\".into(),\n    webhook_url: \"https://example.com/signpost/wallet\".into(),\n    ..Default::default()\n}",
        ],
    ),
    method("getDomain", ("domains", "get"), &["domain.id"], "domain", NONE),
    method(
        "changeDomain",
        ("domains", "update"),
        &["domain.id"],
        "domain",
        [
            "signpost.DomainChange{\n\tHandler:  \"hosted\",\n\tEventURL: signpost.Value(\"https://example.com/signpost/events\"),\n}",
            "&DomainChange {\n    handler: Some(HandlerKind::Hosted),\n    event_url: Change::Set(\"https://example.com/signpost/events\".into()),\n    ..Default::default()\n}",
        ],
    ),
    method("verifyDomain", ("domains", "verify"), &["domain.id"], "proved", NONE),
    method("deleteDomain", ("domains", "delete"), &["domain.id"], "", NONE),
    method("sendTestEvent", ("domains", "sendTestEvent"), &["domain.id"], "delivery", NONE),
    method("listUsers", ("users", "list"), &["domain.id"], "users", ["signpost.ListParams{}", "&Paging::default()"]),
    method(
        "createUser",
        ("users", "create"),
        &["domain.id"],
        "user",
        [
            "signpost.UserParams{ExternalID: \"82\", Name: \"Bob Ray\"}",
            "&NewUser {\n    external_id: Some(\"82\".into()),\n    name: Some(\"Bob Ray\".into()),\n    ..Default::default()\n}",
        ],
    ),
    method("getUser", ("users", "get"), &["domain.id", "user.id"], "user", NONE),
    method(
        "changeUser",
        ("users", "update"),
        &["domain.id", "user.id"],
        "user",
        [
            "signpost.UserChange{\n\tName:   signpost.Value(\"Ann Lee\"),\n\tGroups: signpost.Value([]string{\"staff\"}),\n}",
            "&UserChange {\n    name: Change::Set(\"Ann Lee\".into()),\n    groups: Change::Set(vec![\"staff\".into()]),\n    ..Default::default()\n}",
        ],
    ),
    method("deleteUser", ("users", "delete"), &["domain.id", "user.id"], "", NONE),
    method("deleteUsers", ("users", "deleteAll"), &["domain.id"], "", NONE),
    method("deleteCredential", ("users", "deleteCredential"), &["domain.id", "user.id", "credential.id"], "", NONE),
    method(
        "listSignIns",
        ("users", "signIns"),
        &["domain.id", "user.id"],
        "signIns",
        ["signpost.ListParams{}", "&Paging::default()"],
    ),
    method("endSignIns", ("users", "endSignIns"), &["domain.id", "user.id"], "", NONE),
    method("endSignIn", ("users", "endSignIn"), &["domain.id", "user.id", "signIn.id"], "", NONE),
    method(
        "listDeliveries",
        ("deliveries", "list"),
        &[],
        "deliveries",
        [
            "signpost.DeliveryListParams{State: \"failed\"}",
            "&DeliveryFilter { state: Some(DeliveryState::Failed), ..Default::default() }",
        ],
    ),
    method("getDelivery", ("deliveries", "get"), &["event.id"], "delivery", NONE),
    method("retryDelivery", ("deliveries", "retry"), &["event.id"], "delivery", NONE),
    method("retryDeliveries", ("deliveries", "retryAll"), &[], "retried", NONE),
];

/// Returns example query parameters of a list or a long poll.
fn query(operation: &str) -> &'static [(&'static str, &'static str)] {
    match operation {
        "listSessions" => &[("limit", "20")],
        "getSession" => &[("wait", "25")],
        "listDeliveries" => &[("state", "failed")],
        _ => &[],
    }
}

/// Returns the call in this language, or `None` if the SDK has no method for it.
pub(super) fn snippet(language: Language, operation: &str, body: Option<&'static YamlNode>) -> Option<String> {
    let method = METHODS.iter().find(|method| method.operation == operation)?;
    Some(match language {
        Language::TypeScript => type_script(method, body),
        Language::Python => python(method, body),
        Language::Go => go(method),
        Language::Rust => rust(method),
        Language::Curl => return None,
    })
}

fn type_script(method: &SdkMethod, body: Option<&'static YamlNode>) -> String {
    let mut arguments: Vec<_> = method.ids.iter().map(|id| (*id).to_owned()).collect();
    match (body, query(method.operation)) {
        (Some(_), _) if method.operation == "authenticateSession" => arguments.push("answer".to_owned()),
        (Some(body), _) => arguments.push(object(body, &Style::TYPE_SCRIPT, 0)),
        (None, query) if !query.is_empty() => {
            let members: Vec<_> =
                query.iter().map(|(name, value)| format!("{name}: {}", quoted(value, '\''))).collect();
            arguments.push(format!("{{ {} }}", members.join(", ")));
        }
        _ => {}
    }
    let call = format!("await {}.{}({});", path("signpost", method.group), method.name, arguments.join(", "));
    assigned("const ", method.reply, &call)
}

fn python(method: &SdkMethod, body: Option<&'static YamlNode>) -> String {
    let mut arguments: Vec<_> = method.ids.iter().map(|id| snake(id)).collect();
    match (body, query(method.operation)) {
        (Some(_), _) if method.operation == "authenticateSession" => arguments.push("answer".to_owned()),
        (Some(body), _) => {
            let keywords = body.members().iter();
            arguments.extend(keywords.map(|(name, value)| format!("{name}={}", value_of(value, &Style::PYTHON, 1))));
        }
        (None, query) => arguments.extend(query.iter().map(|(name, value)| format!("{name}={}", quoted(value, '"')))),
    }
    let line = arguments.join(", ");
    let arguments = if line.len() > 60 { format!("\n    {},\n", arguments.join(",\n    ")) } else { line };
    let call = format!("{}.{}({arguments})", path("signpost", method.group), snake(method.name));
    assigned("", method.reply, &call)
}

fn go(method: &SdkMethod) -> String {
    let mut arguments = vec!["ctx".to_owned()];
    arguments.extend(method.ids.iter().map(|id| id.replace(".id", ".ID").replace("sessionId", "sessionID")));
    arguments.extend((!method.typed[0].is_empty()).then(|| method.typed[0].to_owned()));
    let call = format!("{}.{}({})", path("client", &capital(method.group)), go_name(method.name), arguments.join(", "));
    if method.reply.is_empty() { format!("err := {call}") } else { format!("{}, err := {call}", method.reply) }
}

fn rust(method: &SdkMethod) -> String {
    let mut arguments: Vec<_> = method.ids.iter().map(|id| format!("&{}", snake(id))).collect();
    arguments.extend((!method.typed[1].is_empty()).then(|| method.typed[1].to_owned()));
    let group = if method.group.is_empty() { String::new() } else { format!("{}().", method.group) };
    // The Rust SDK has a separate method for the long poll.
    let name = if method.operation == "getSession" { "get_after".to_owned() } else { snake(method.name) };
    let call = format!("signpost.{group}{name}({}).await?;", arguments.join(", "));
    assigned("let ", method.reply, &call)
}

/// Returns the request as a curl command. `base` is the URL of the API.
pub(super) fn curl(
    base: &str,
    verb: &str,
    path: &str,
    is_keyed: bool,
    body: Option<&'static YamlNode>,
    operation: &str,
) -> String {
    let query: Vec<_> = query(operation).iter().map(|(name, value)| format!("{name}={value}")).collect();
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    let mut command = match verb {
        "get" => "curl".to_owned(),
        "post" if body.is_some() => "curl".to_owned(),
        _ => format!("curl -X {}", verb.to_uppercase()),
    };
    let address = format!("{base}{path}{query}");
    write!(command, " {}", if address.contains(['?', '&']) { format!("'{address}'") } else { address })
        .expect("a text");
    if is_keyed {
        command += " \\\n  -H \"Authorization: Bearer $SIGNPOST_KEY\"";
    }
    if let Some(body) = body {
        write!(command, " \\\n  -H 'Content-Type: application/json' \\\n  -d '{}'", json(body)).expect("a text");
    }
    command
}

/// Returns an example as JSON, on several lines if it is long.
pub(super) fn json(value: &'static YamlNode) -> String {
    value_of(value, &Style::JSON, 0)
}

/// Syntax of object literals in a language.
struct Style {
    quote: char,
    quotes_names: bool,
    truth: [&'static str; 3],
    tail: &'static str,
    indent: usize,
}

impl Style {
    const JSON: Self = Self { quote: '"', quotes_names: true, truth: ["true", "false", "null"], tail: "", indent: 2 };
    const TYPE_SCRIPT: Self =
        Self { quote: '\'', quotes_names: false, truth: ["true", "false", "null"], tail: ",", indent: 2 };
    const PYTHON: Self =
        Self { quote: '"', quotes_names: true, truth: ["True", "False", "None"], tail: ",", indent: 4 };
}

fn object(value: &'static YamlNode, style: &Style, depth: usize) -> String {
    value_of(value, style, depth)
}

fn value_of(value: &'static YamlNode, style: &Style, depth: usize) -> String {
    match value {
        YamlNode::Text(text) => text_of(text, style),
        YamlNode::Literal(literal) => match literal.as_str() {
            "true" => style.truth[0].to_owned(),
            "false" => style.truth[1].to_owned(),
            "null" => style.truth[2].to_owned(),
            number => number.to_owned(),
        },
        YamlNode::List(rows) => {
            let rows: Vec<_> = rows.iter().map(|row| value_of(row, style, depth + 1)).collect();
            wrapped(&rows, ["[", "]"], style, depth)
        }
        YamlNode::Map(members) => {
            let name_of = |name: &str| if style.quotes_names { text_of(name, style) } else { name.to_owned() };
            let members: Vec<_> = members
                .iter()
                .map(|(name, value)| format!("{}: {}", name_of(name), value_of(value, style, depth + 1)))
                .collect();
            wrapped(&members, ["{ ", " }"], style, depth)
        }
    }
}

fn wrapped(parts: &[String], [open, close]: [&str; 2], style: &Style, depth: usize) -> String {
    let line = parts.join(", ");
    if parts.is_empty() {
        return format!("{}{}", open.trim(), close.trim());
    }
    if line.len() + depth * style.indent < 60 && !line.contains('\n') {
        return format!("{open}{line}{close}");
    }
    let (inner, outer) = (" ".repeat((depth + 1) * style.indent), " ".repeat(depth * style.indent));
    let rows = parts.join(&format!(",\n{inner}"));
    format!("{}\n{inner}{rows}{}\n{outer}{}", open.trim(), style.tail, close.trim())
}

fn text_of(text: &str, style: &Style) -> String {
    let escaped = text.replace('\\', "\\\\").replace('\n', "\\n").replace(style.quote, &format!("\\{}", style.quote));
    format!("{0}{escaped}{0}", style.quote)
}

/// Quotes the value unless it is a number.
fn quoted(value: &str, quote: char) -> String {
    if value.bytes().all(|byte| byte.is_ascii_digit()) { value.to_owned() } else { format!("{quote}{value}{quote}") }
}

fn path(client: &str, group: &str) -> String {
    if group.is_empty() { client.to_owned() } else { format!("{client}.{group}") }
}

fn assigned(word: &str, reply: &str, call: &str) -> String {
    if reply.is_empty() { call.to_owned() } else { format!("{word}{reply} = {call}") }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Returns the name in Go, with abbreviations in upper case.
pub(super) fn go_name(name: &str) -> String {
    capital(name).replace("QrSvg", "QRSVG")
}

/// Converts to snake case: `sendTestEvent` to `send_test_event`.
pub(super) fn snake(name: &str) -> String {
    let parts = name
        .chars()
        .map(|letter| if letter.is_uppercase() { format!("_{}", letter.to_lowercase()) } else { letter.to_string() });
    parts.collect()
}
