//! The `mod.rs` of a domain module uses neither HTTP nor a database.

use proc_macro2::{TokenStream, TokenTree};

use super::assert_none;
use super::imports::modules;
use super::layers::module_path;

/// The modules for inbound and outbound traffic, which are exempt.
const IO_MODULES: &[(&str, &str)] = &[
    ("platform", "outbound"),
    ("platform", "web"),
    ("login", "account"),
    ("login", "api"),
    ("login", "pages"),
    ("login", "wallet"),
    ("login", "browser_wallet"),
    ("atm", "mcp"),
    ("atm", "pages"),
];

#[test]
fn modules_use_neither_http_nor_a_database() {
    let mut seen = Vec::new();
    for module in modules().into_iter().filter(|module| module.file.ends_with("/mod.rs")) {
        let path = module_path(&module.file);
        let name = path.module.as_deref().unwrap_or_default();
        let is_domain_module = ["platform", "login", "atm"].contains(&&*path.package);
        if is_domain_module && !IO_MODULES.contains(&(&path.package, name)) {
            find_io(&module.tokens, &module.file, &mut seen);
        }
    }
    assert_none("modules with I/O: move it to another file of the folder", &seen);
}

fn find_io(tokens: &TokenStream, file: &str, seen: &mut Vec<String>) {
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(name)
                if ["axum", "reqwest", "rusqlite", "tokio_postgres"].map(|one| name == one).contains(&true) =>
            {
                seen.push(format!("{file}:{} names {name}", name.span().start().line));
            }
            TokenTree::Group(group) => find_io(&group.stream(), file, seen),
            _ => {}
        }
    }
}
