//! One name for one type: who searches for it finds one thing.

use std::collections::BTreeMap;

use proc_macro2::TokenTree;

use super::arrows::modules;
use super::none;

#[test]
fn a_types_name_is_unique_in_the_workspace() {
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for module in modules() {
        // Only what stands outside of all braces: in an `impl`, a `type` is whose trait asks for it.
        let tokens: Vec<_> = module.tokens.clone().into_iter().collect();
        for pair in tokens.windows(2) {
            let [TokenTree::Ident(word), TokenTree::Ident(name)] = pair else { continue };
            if ["struct", "enum", "union", "trait", "type"].contains(&word.to_string().as_str()) {
                let place = format!("{}:{}", module.file, name.span().start().line);
                types.entry(name.to_string()).or_default().push(place);
            }
        }
    }
    assert!(types.len() > 200, "the search for types is broken");
    let twice = types.into_iter().filter(|(_, places)| places.len() > 1);
    let told = twice.map(|(name, places)| format!("{name}: {}", places.join(" and ")));
    none("names of several types: let each say what its own is", &told.collect::<Vec<_>>());
}
