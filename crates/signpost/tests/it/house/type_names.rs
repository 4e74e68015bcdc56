//! One name for one type: who searches for it finds one thing.
//!
//! The client of the API has the API's names, in each language the same. The server knows the same things from inside, by
//! types of its own, so that both may say `Session`; nothing else may have two.

use std::collections::BTreeMap;

use proc_macro2::TokenTree;

use super::arrows::modules;
use super::none;

#[test]
fn a_types_name_is_unique_in_the_workspace() {
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for module in modules() {
        // Where the names of a file must be unique: in the SDK, in the rest of the workspace; the types of both sides in both.
        let houses: &[&str] = match &*module.file {
            file if file.starts_with("crates/auth/src/client/") => &["SDK"],
            file if file.starts_with("crates/auth/") => &["SDK", "workspace"],
            _ => &["workspace"],
        };
        // Only what stands outside of all braces: in an `impl`, a `type` is whose trait asks for it.
        let tokens: Vec<_> = module.tokens.clone().into_iter().collect();
        for pair in tokens.windows(2) {
            let [TokenTree::Ident(word), TokenTree::Ident(name)] = pair else { continue };
            if ["struct", "enum", "union", "trait", "type"].contains(&word.to_string().as_str()) {
                let place = format!("{}:{}", module.file, name.span().start().line);
                for house in houses {
                    types.entry(format!("{name} of the {house}")).or_default().push(place.clone());
                }
            }
        }
    }
    assert!(types.len() > 200, "the search for types is broken");
    let twice = types.into_iter().filter(|(_, places)| places.len() > 1);
    let told = twice.map(|(name, places)| format!("{name}: {}", places.join(" and ")));
    none("names of several types: let each say what its own is", &told.collect::<Vec<_>>());
}
