//! What a room is about stands in its `mod.rs`, and is said without HTTP and without a database.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};

use super::arrows::modules;
use super::known;
use super::storeys::place;

/// The rooms that are about what comes in and goes out.
const DOORS: &[(&str, &str)] = &[
    ("platform", "outbound"),
    ("platform", "web"),
    ("login", "api"),
    ("login", "wallet"),
    ("atm", "mcp"),
    ("atm", "submissions"),
];

#[test]
fn a_room_knows_neither_http_nor_a_database() {
    let mut seen = BTreeMap::new();
    for module in modules().into_iter().filter(|module| module.file.ends_with("/mod.rs")) {
        let place = place(&module.file);
        let room = place.room.as_deref().unwrap_or_default();
        let is_room = ["platform", "login", "atm"].contains(&&*place.storey);
        if is_room && !DOORS.contains(&(&place.storey, room)) {
            outside(&module.tokens, &module.file, &mut seen);
        }
    }
    known::only(&seen, known::DOORS);
}

fn outside(tokens: &TokenStream, file: &str, seen: &mut BTreeMap<String, String>) {
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(name)
                if ["axum", "reqwest", "rusqlite", "tokio_postgres"].map(|one| name == one).contains(&true) =>
            {
                let told = format!("{file}:{} names {name}: leave that to a file beside it", name.span().start().line);
                seen.entry(file.to_owned()).or_insert(told);
            }
            TokenTree::Group(group) => outside(&group.stream(), file, seen),
            _ => {}
        }
    }
}
