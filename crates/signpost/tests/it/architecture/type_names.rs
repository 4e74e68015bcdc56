//! Type names are unique, so that a search finds a single type.
//!
//! The SDK uses the API's names in every language. The server has internal types for some of these objects, so the SDK
//! and the server may both have a `Session`; no other name may occur twice.

use std::collections::BTreeMap;

use proc_macro2::TokenTree;

use super::assert_none;
use super::imports::modules;

#[test]
fn type_names_are_unique() {
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for module in modules() {
        // The scopes with unique names: the SDK, the rest of the workspace, or both for shared types.
        let scopes: &[&str] = match &*module.file {
            file if file.starts_with("crates/auth/src/client/") => &["SDK"],
            file if file.starts_with("crates/auth/") => &["SDK", "workspace"],
            _ => &["workspace"],
        };
        // Only items outside of braces: a `type` in an `impl` is named by its trait.
        let tokens: Vec<_> = module.tokens.clone().into_iter().collect();
        for pair in tokens.windows(2) {
            let [TokenTree::Ident(word), TokenTree::Ident(name)] = pair else { continue };
            if ["struct", "enum", "union", "trait", "type"].contains(&word.to_string().as_str()) {
                let place = format!("{}:{}", module.file, name.span().start().line);
                for scope in scopes {
                    types.entry(format!("{name} of the {scope}")).or_default().push(place.clone());
                }
            }
        }
    }
    assert!(types.len() > 200, "the search for types is broken");
    let duplicates = types.into_iter().filter(|(_, places)| places.len() > 1);
    let found = duplicates.map(|(name, places)| format!("{name}: {}", places.join(" and ")));
    assert_none("duplicate type names: use a more specific name", &found.collect::<Vec<_>>());
}
