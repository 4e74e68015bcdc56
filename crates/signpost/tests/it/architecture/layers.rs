//! Permitted imports: between the crates, and in a crate between its modules, the folders and files of its `src`.

use super::imports::{Import, imports};
use super::{REMEDY, assert_none, manifest, packages};

/// The permitted dependencies of each crate. `login` and `atm` never depend on each other.
pub(super) const CRATE_DEPENDENCIES: &[(&str, &[&str])] = &[
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
const MODULE_LAYERS: &[(&str, &[&[&str]])] = &[
    (
        "store",
        &[
            &["row", "random", "application_id", "file", "file_state", "watched"],
            &["statement", "changes", "lock"],
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
            &["ids", "element", "user_agent"],
            &["error"],
            &["domains"],
            &["users"],
            &["events", "browser_sessions"],
            &["sessions", "sign_ins"],
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
            &["locator", "page_cache", "view"],
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
    let found: Vec<_> = imports().iter().filter_map(violation).collect();
    assert_none("imports that the layers do not permit", &found);
}

#[test]
fn services_are_independent_of_each_other() {
    let allowed = |from: &str, to: &str| {
        let import = Import {
            from: format!("crates/{from}"),
            line: 1,
            to: format!("crates/{to}"),
            path: "it".to_owned(),
            is_to_own_parent: false,
        };
        violation(&import).is_none()
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

fn violation(import: &Import) -> Option<String> {
    let Import { from, line, path, .. } = import;
    let (source, target) = (module_path(from), module_path(&import.to));
    let message = format!("{from}:{line} imports {path}");
    if source.package != target.package {
        let is_permitted = permitted_dependencies(&source.package).contains(&&*target.package);
        let reason = format!(", but {} must not depend on {}", source.package, target.package);
        return (!is_permitted).then(|| message + &reason + REMEDY);
    }
    let (_, layers) = MODULE_LAYERS.iter().find(|(package, _)| *package == source.package)?;
    // A crate's `lib.rs` declares its modules and re-exports their names.
    let source = source.module?;
    let Some(target) = target.module else {
        return Some(format!("{message} through the crate root: import from the module"));
    };
    let layer = |module: &str| layers.iter().position(|layer| layer.contains(&module));
    match (layer(&source), layer(&target)) {
        _ if source == target => None,
        (Some(from), Some(to)) if to < from => None,
        (Some(from), Some(to)) if to > from => Some(message + " of a higher layer" + REMEDY),
        (Some(_), Some(_)) => Some(message + " of its own layer" + REMEDY),
        (None, _) => Some(format!("{from} has no layer: add {source} to MODULE_LAYERS")),
        (_, None) => Some(format!("{} has no layer: add {target} to MODULE_LAYERS", import.to)),
    }
}

fn permitted_dependencies(package: &str) -> &'static [&'static str] {
    let found = CRATE_DEPENDENCIES.iter().find(|(name, _)| *name == package);
    found.unwrap_or_else(|| panic!("a new crate: add the dependencies of {package} to CRATE_DEPENDENCIES")).1
}

/// The crate and the module of a file.
pub(super) struct ModulePath {
    pub(super) package: String,
    /// `None` for the crate root.
    pub(super) module: Option<String>,
}

pub(super) fn module_path(file: &str) -> ModulePath {
    let mut parts = file.trim_start_matches("crates/").trim_end_matches(".rs").split('/').filter(|part| *part != "src");
    let (package, module) = (parts.next().expect("a crate"), parts.next().expect("a file"));
    let module = (!matches!(module, "lib" | "mod")).then(|| module.to_owned());
    ModulePath { package: package.to_owned(), module }
}

impl std::fmt::Display for ModulePath {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}/{}", self.package, self.module.as_deref().unwrap_or("lib"))
    }
}

#[test]
fn manifests_name_only_permitted_crates() {
    let mut seen = Vec::new();
    for (package, folder) in packages() {
        let manifest = manifest(&folder);
        for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for name in manifest.get(table).and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::keys) {
                let is_workspace_crate = name == "signpost" || name.starts_with("signpost-");
                if is_workspace_crate
                    && *name != package
                    && !permitted_dependencies(short(&package)).contains(&short(name))
                {
                    seen.push(format!("{}/Cargo.toml depends on {name}", folder.display()));
                }
            }
        }
    }
    assert_none("crates with forbidden dependencies: move the shared part down, or pass it as an argument", &seen);
}

/// Returns the short name, `login` for `signpost-login`.
fn short(package: &str) -> &str {
    package.trim_start_matches("signpost-")
}
