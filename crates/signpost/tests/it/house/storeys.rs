//! Permitted imports: between the crates, and in a crate between its modules, the folders and files of its `src`.

use super::arrows::{Arrow, arrows};
use super::{MEND, manifest, none, packages};

/// The permitted dependencies of each crate. `login` and `atm` never depend on each other.
pub(super) const STOREYS: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("auth", &[]),
    ("locator", &["text"]),
    ("mcp", &[]),
    ("store", &[]),
    ("platform", &["store", "text"]),
    ("login", &["auth", "platform", "store", "text"]),
    ("openid", &["auth", "login", "platform", "store", "text"]),
    ("atm", &["locator", "mcp", "platform", "store", "text"]),
    ("server", &["login", "platform", "store"]),
    ("signpost", &["atm", "auth", "locator", "login", "mcp", "openid", "platform", "server", "store", "text"]),
];

/// The modules of a crate by layer, lowest first. A module may import only lower layers.
const FLOORS: &[(&str, &[&[&str]])] = &[
    (
        "store",
        &[
            &["row", "random", "application_id", "file", "file_state", "watched"],
            &["step", "changes", "lock"],
            &["migrate"],
            &["schema"],
            &["sqlite", "postgres"],
            &["column", "text", "readiness", "backup"],
            &["columns", "id"],
            &["rows"],
            &["store"],
            &["moving"],
        ],
    ),
    (
        "platform",
        &[
            &["clock", "setting", "origin"],
            &["interval", "cache", "redis"],
            &["outbound"],
            &["limits"],
            &["accounts"],
            &["observe"],
            &["sweep"],
            &["shared"],
            &["web"],
            &["pages"],
        ],
    ),
    (
        "login",
        &[
            &["ids", "element"],
            &["error"],
            &["domains"],
            &["users"],
            &["events", "browser_sessions"],
            &["sessions"],
            &["settings"],
            &["service"],
            &["flows"],
            &["account", "api", "pages", "wallet", "browser_wallet", "jobs"],
            &["routes"],
        ],
    ),
    (
        "openid",
        &[
            &["ids", "jose", "pkce", "posted_hint"],
            &["error"],
            &["clients", "signing_keys"],
            &["claims"],
            &["authorizations", "grants"],
            &["service"],
            &["flows"],
            &["api", "documents", "forward", "jobs", "provider"],
            &["routes"],
        ],
    ),
    (
        "atm",
        &[
            &["live_file"],
            &["atm_number", "advisories", "places", "processor", "submission_slots", "visitors"],
            &["reports"],
            &["settings"],
            &["catalogue"],
            &["feeds"],
            &["locator", "shelf", "view"],
            &["service"],
            &["map", "reporting"],
            &["jobs", "submissions", "mcp", "report_api"],
            &["pages"],
            &["routes"],
        ],
    ),
    (
        "signpost",
        &[
            &["config"],
            &["deployment", "receiver"],
            &["doctor"],
            &["console"],
            &["server"],
            &["conformance", "demo", "install"],
            &["cli"],
            &["main"],
        ],
    ),
];

#[test]
fn modules_import_only_lower_layers() {
    let found: Vec<_> = arrows().iter().filter_map(offence).collect();
    none("against the plan of the house", &found);
}

#[test]
fn services_are_independent_in_the_plan() {
    let allowed = |from: &str, to: &str| {
        let arrow = Arrow {
            from: format!("crates/{from}"),
            line: 1,
            to: format!("crates/{to}"),
            path: "it".to_owned(),
            is_to_own_parent: false,
        };
        offence(&arrow).is_none()
    };
    assert!(allowed("login/src/api/domains.rs", "login/src/domains/mod.rs"));
    assert!(allowed("signpost/src/login/routes.rs", "platform/src/lib.rs"));
    assert!(allowed("signpost/src/cli/mod.rs", "atm/src/lib.rs"));
    assert!(!allowed("login/src/domains/mod.rs", "login/src/api/domains.rs"));
    assert!(!allowed("login/src/api/domains.rs", "login/src/wallet/mod.rs"));
    assert!(!allowed("login/src/api/domains.rs", "login/src/lib.rs"));
    assert!(!allowed("signpost/src/login/service.rs", "signpost/src/atm/service.rs"));
    assert!(!allowed("platform/src/web/mod.rs", "login/src/lib.rs"));
    assert!(!allowed("login/src/unheard_of.rs", "login/src/ids.rs"));
}

fn offence(arrow: &Arrow) -> Option<String> {
    let Arrow { from, line, path, .. } = arrow;
    let (below, above) = (place(from), place(&arrow.to));
    let told = format!("{from}:{line} imports {path}");
    if below.storey != above.storey {
        let may = known_to(&below.storey).contains(&&*above.storey);
        let reason = format!(", and {} never knows {}", below.storey, above.storey);
        return (!may).then(|| told + &reason + MEND);
    }
    let (_, floors) = FLOORS.iter().find(|(storey, _)| *storey == below.storey)?;
    // A crate's `lib.rs` declares its modules and re-exports their names.
    let below = below.room?;
    let Some(above) = above.room else {
        return Some(format!("{told} through the crate's own face: name the room"));
    };
    let floor = |room: &str| floors.iter().position(|floor| floor.contains(&room));
    match (floor(&below), floor(&above)) {
        _ if below == above => None,
        (Some(below), Some(above)) if above < below => None,
        (Some(below), Some(above)) if above > below => Some(told + ", which stands above it" + MEND),
        (Some(_), Some(_)) => Some(told + ", which stands beside it" + MEND),
        (None, _) => Some(format!("{from} has no floor: give {below} one in FLOORS")),
        (_, None) => Some(format!("{} has no floor: give {above} one in FLOORS", arrow.to)),
    }
}

fn known_to(storey: &str) -> &'static [&'static str] {
    let found = STOREYS.iter().find(|(name, _)| *name == storey);
    found.unwrap_or_else(|| panic!("a new crate: say in STOREYS what {storey} may know")).1
}

/// The crate and the module of a file.
pub(super) struct Place {
    pub(super) storey: String,
    pub(super) room: Option<String>,
}

pub(super) fn place(file: &str) -> Place {
    let mut parts = file.trim_start_matches("crates/").trim_end_matches(".rs").split('/').filter(|part| *part != "src");
    let (storey, room) = (parts.next().expect("a crate"), parts.next().expect("a file"));
    let room = (!matches!(room, "lib" | "mod")).then(|| room.to_owned());
    Place { storey: storey.to_owned(), room }
}

impl std::fmt::Display for Place {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}/{}", self.storey, self.room.as_deref().unwrap_or("lib"))
    }
}

#[test]
fn manifests_name_only_permitted_crates() {
    let mut seen = Vec::new();
    for (package, folder) in packages() {
        let manifest = manifest(&folder);
        for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for name in manifest.get(table).and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::keys) {
                let is_ours = name == "signpost" || name.starts_with("signpost-");
                if is_ours && *name != package && !known_to(short(&package)).contains(&short(name)) {
                    seen.push(format!("{}/Cargo.toml depends on {name}", folder.display()));
                }
            }
        }
    }
    none("crates that know too much: move the shared part down, or pass it as an argument", &seen);
}

/// Returns the short name, `login` for `signpost-login`.
fn short(package: &str) -> &str {
    package.trim_start_matches("signpost-")
}
