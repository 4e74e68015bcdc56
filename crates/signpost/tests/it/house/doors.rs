//! The `mod.rs` of a domain module uses neither HTTP nor a database.

use proc_macro2::{TokenStream, TokenTree};

use super::arrows::modules;
use super::none;
use super::storeys::place;

/// The modules for inbound and outbound traffic, which are exempt.
const DOORS: &[(&str, &str)] = &[
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
        let place = place(&module.file);
        let room = place.room.as_deref().unwrap_or_default();
        let is_room = ["platform", "login", "atm"].contains(&&*place.storey);
        if is_room && !DOORS.contains(&(&place.storey, room)) {
            outside(&module.tokens, &module.file, &mut seen);
        }
    }
    none("rooms that reach outside: leave that to a file beside mod.rs", &seen);
}

fn outside(tokens: &TokenStream, file: &str, seen: &mut Vec<String>) {
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(name)
                if ["axum", "reqwest", "rusqlite", "tokio_postgres"].map(|one| name == one).contains(&true) =>
            {
                seen.push(format!("{file}:{} names {name}", name.span().start().line));
            }
            TokenTree::Group(group) => outside(&group.stream(), file, seen),
            _ => {}
        }
    }
}
