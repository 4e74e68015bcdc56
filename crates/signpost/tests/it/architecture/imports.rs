//! References between source files, read from tokens: comments, strings and tests are ignored.

use std::collections::HashMap;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::{packages, rust_files};

/// A reference from one file to another.
#[derive(Clone, Debug)]
pub(super) struct Import {
    pub(super) from: String,
    /// The first line with the reference.
    pub(super) line: usize,
    pub(super) to: String,
    /// The referenced path.
    pub(super) path: String,
    /// True if `to` is the `mod.rs` of a folder, or the `lib.rs` of a crate, that contains `from`.
    pub(super) is_to_own_parent: bool,
}

/// A source file and its module path, which starts with the crate's name.
pub(super) struct Module {
    pub(super) file: String,
    pub(super) path: Vec<String>,
    pub(super) tokens: TokenStream,
}

/// Returns all files in the `src` folders of the crates, without test files.
pub(super) fn modules() -> Vec<Module> {
    let mut modules = Vec::new();
    for (package, folder) in packages() {
        for (file, text) in rust_files(&folder.join("src")) {
            let (_, inside) = file.split_once("/src/").expect("a file of `src`");
            if inside.ends_with("tests.rs") {
                continue;
            }
            let parts = inside.trim_end_matches(".rs").split('/').map(str::to_owned);
            let is_name = |part: &String| !matches!(part.as_str(), "mod" | "lib" | "main");
            let path = [package.replace('-', "_")].into_iter().chain(parts.filter(is_name)).collect();
            let tokens = text.parse().unwrap_or_else(|error| panic!("{file}: {error}"));
            modules.push(Module { file, path, tokens });
        }
    }
    modules
}

/// Returns the references, once per pair of files.
pub(super) fn imports() -> Vec<Import> {
    let modules = modules();
    let is_program = |module: &&Module| module.file.ends_with("/main.rs");
    let known = modules.iter().filter(|module| !is_program(module));
    let known: HashMap<_, _> = known.map(|module| (module.path.clone(), module)).collect();
    let mut imports = Vec::new();
    for module in &modules {
        let mut reader = Reader { known: &known, aliases: HashMap::new(), found: Vec::new() };
        reader.walk(&module.tokens, &module.path, Part::Uses);
        reader.walk(&module.tokens, &module.path, Part::Paths);
        let mut found: HashMap<&str, Import> = HashMap::new();
        for (path, line) in reader.found {
            let Some(to) = (1..=path.len()).rev().find_map(|length| known.get(&path[..length])) else { continue };
            let is_to_own_parent = module.path.len() > to.path.len() && module.path.starts_with(&to.path);
            let (from, path) = (module.file.clone(), path.join("::"));
            let import = Import { from, line, to: to.file.clone(), path, is_to_own_parent };
            found.entry(&to.file).or_insert(import);
        }
        imports.extend(found.into_values().filter(|import| import.from != import.to));
    }
    imports.sort_by(|a, b| (&a.from, a.line, &a.to).cmp(&(&b.from, b.line, &b.to)));
    assert!(imports.len() > 300, "the search for imports is broken: {} were found", imports.len());
    imports
}

/// The two passes over a file: first its `use` items, then the paths that start with an imported name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Uses,
    Paths,
}

struct Reader<'a> {
    known: &'a HashMap<Vec<String>, &'a Module>,
    /// The imported path for each name.
    aliases: HashMap<String, Vec<String>>,
    /// The found paths, with their lines.
    found: Vec<(Vec<String>, usize)>,
}

impl Reader<'_> {
    fn walk(&mut self, tokens: &TokenStream, module: &[String], part: Part) {
        let tokens: Vec<_> = tokens.clone().into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            if is_test(&tokens[at..]) {
                // Skips the item with the attribute.
                let ends = |token: &TokenTree| is_punct(token, ';') || braced(token).is_some();
                at += tokens[at..].iter().position(ends).expect("an attribute has an item") + 1;
                continue;
            }
            match &tokens[at] {
                TokenTree::Ident(word) if word == "use" => {
                    let rest = &tokens[at + 1..];
                    // Without a semicolon it is a precise-capturing bound: `use<'a>`.
                    let length = rest.iter().position(|token| is_punct(token, ';')).unwrap_or(0);
                    if part == Part::Uses {
                        self.uses(&rest[..length], &[], module);
                    }
                    at += length;
                }
                TokenTree::Ident(word) if word == "mod" && tokens.get(at + 2).and_then(braced).is_some() => {
                    let inside = [module, &[tokens[at + 1].to_string()]].concat();
                    self.walk(&braced(&tokens[at + 2]).expect("it was there"), &inside, part);
                    at += 2;
                }
                TokenTree::Ident(_) => {
                    let (path, length) = path(&tokens[at..]);
                    let is_used_elsewhere = at > 0 && is_punct(&tokens[at - 1], '$');
                    if part == Part::Paths && path.len() > 1 && !is_used_elsewhere {
                        self.names(&path, line(&tokens[at]), module);
                    }
                    at += length - 1;
                }
                TokenTree::Group(group) => self.walk(&group.stream(), module, part),
                _ => {}
            }
            at += 1;
        }
    }

    /// Reads the tree of a `use` item or of a group in it.
    fn uses(&mut self, tree: &[TokenTree], prefix: &[String], module: &[String]) {
        for one in tree.split(|token| is_punct(token, ',')) {
            // A macro resolves `$crate` at its call site.
            if one.first().is_none_or(|first| is_punct(first, '$')) {
                continue;
            }
            let mut path = prefix.to_vec();
            let mut alias = None;
            let mut words = one.iter().filter(|token| !is_punct(token, ':'));
            while let Some(token) = words.next() {
                match token {
                    TokenTree::Ident(word) if word == "as" => alias = words.next().map(ToString::to_string),
                    TokenTree::Ident(word) if word == "self" && !path.is_empty() => {}
                    TokenTree::Ident(word) => path.push(word.to_string()),
                    TokenTree::Group(group) => {
                        let inside: Vec<_> = group.stream().into_iter().collect();
                        self.uses(&inside, &path, module);
                        path.clear();
                    }
                    _ => {}
                }
            }
            if let Some(absolute) = self.names(&path, one.first().map_or(0, line), module) {
                let name = alias.unwrap_or_else(|| path.last().expect("it has a name").clone());
                self.aliases.insert(name, absolute);
            }
        }
    }

    /// Records a path if it leads into the workspace.
    fn names(&mut self, path: &[String], line: usize, module: &[String]) -> Option<Vec<String>> {
        let (first, rest) = path.split_first()?;
        let child = [module, std::slice::from_ref(first)].concat();
        let (start, rest) = match first.as_str() {
            "crate" => (module[..1].to_vec(), rest),
            "self" => (module.to_vec(), rest),
            "super" => {
                let more = rest.iter().take_while(|word| *word == "super").count();
                (module[..module.len().checked_sub(1 + more)?].to_vec(), &rest[more..])
            }
            _ if self.aliases.contains_key(first) => (self.aliases[first].clone(), rest),
            _ if self.known.contains_key(&child) => (child, rest),
            _ if self.known.contains_key(&path[..1]) => (vec![first.clone()], rest),
            _ => return None,
        };
        let absolute = [&start, rest].concat();
        self.found.push((absolute.clone(), line));
        Some(absolute)
    }
}

/// Returns true if the tokens start with `#[cfg(test)]`.
fn is_test(tokens: &[TokenTree]) -> bool {
    let [first, TokenTree::Group(group), ..] = tokens else { return false };
    is_punct(first, '#') && group.stream().to_string().replace(' ', "") == "cfg(test)"
}

fn is_punct(token: &TokenTree, letter: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == letter)
}

fn braced(token: &TokenTree) -> Option<TokenStream> {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        _ => None,
    }
}

fn line(token: &TokenTree) -> usize {
    token.span().start().line
}

/// Returns the path at the start of the tokens, and its number of tokens.
fn path(tokens: &[TokenTree]) -> (Vec<String>, usize) {
    let (mut path, mut at) = (vec![tokens[0].to_string()], 1);
    while let [first, second, TokenTree::Ident(word), ..] = &tokens[at..]
        && is_punct(first, ':')
        && is_punct(second, ':')
    {
        path.push(word.to_string());
        at += 3;
    }
    (path, at)
}
