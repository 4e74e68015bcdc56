//! Parses the output of callgrind, and groups the instructions by purpose.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Context, Result};

/// The instructions by group, and the number of allocations.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Number of instructions by group.
    pub groups: BTreeMap<&'static str, u64>,
    /// Number of allocations in Rust and in C code.
    pub allocations: u64,
    /// Number of instructions by function.
    pub functions: HashMap<String, u64>,
}

/// The group of a source file, by a part of its path. The first match determines the group.
const FILES: &[(&str, &str)] = &[
    ("crates/platform/src/limits", "limit"),
    ("crates/platform/src/accounts", "key"),
    ("crates/platform/src/observe", "metrics and spans"),
    ("crates/platform/src", "layers"),
    ("crates/signpost/src", "layers"),
    ("crates/login/src", "session"),
    ("crates/auth/src", "session"),
    ("crates/store/src", "store"),
    ("crates/atm/src/mcp", "tool"),
    ("crates/atm/src", "catalogue"),
    ("crates/locator/src/gazetteer", "place names"),
    ("crates/locator/src/fold", "place names"),
    ("crates/locator/src", "catalogue"),
    ("crates/mcp/src", "MCP"),
    ("crates/text/src", "text"),
    ("bench/src", "layers"),
    ("sqlite3", "SQLite"),
    ("/rusqlite-", "SQLite"),
    ("/fallible-", "SQLite"),
    ("/fst-", "place names"),
    ("/levenshtein", "place names"),
    ("/unicode-normalization", "place names"),
    ("/serde", "JSON"),
    ("/itoa-", "JSON"),
    ("/ryu-", "JSON"),
    ("/zmij-", "JSON"),
    ("/hyper", "HTTP"),
    ("/http", "HTTP"),
    ("/bytes-", "HTTP"),
    ("/headers-", "HTTP"),
    ("/axum", "routing"),
    ("/tower", "routing"),
    ("/matchit", "routing"),
    ("/tokio", "runtime"),
    ("/mio-", "runtime"),
    ("/futures", "runtime"),
    ("/tracing", "metrics and spans"),
    ("/prometheus", "metrics and spans"),
    ("/sha2-", "hashes and signatures"),
    ("/digest-", "hashes and signatures"),
    ("/block-buffer", "hashes and signatures"),
    ("/hmac-", "hashes and signatures"),
    ("/data-encoding", "hashes and signatures"),
    ("/ring-", "hashes and signatures"),
    ("secp256k1", "hashes and signatures"),
    ("/jiff", "time"),
];

/// The group of a function, by a part of its name, if its file does not determine the group.
const FUNCTIONS: &[(&str, &str)] = &[
    ("signpost_platform::limits", "limit"),
    ("signpost_platform::accounts", "key"),
    ("signpost_platform::observe", "metrics and spans"),
    ("signpost_platform", "layers"),
    ("signpost_login", "session"),
    ("signpost_auth", "session"),
    ("signpost_store", "store"),
    ("signpost_atm::mcp", "tool"),
    ("signpost_atm", "catalogue"),
    ("signpost_locator::gazetteer", "place names"),
    ("signpost_locator", "catalogue"),
    ("signpost_mcp", "MCP"),
    ("signpost::", "layers"),
    ("rusqlite::", "SQLite"),
    ("sqlite3", "SQLite"),
    ("prometheus_client::", "metrics and spans"),
    ("tracing", "metrics and spans"),
    ("serde_json::", "JSON"),
    ("hyper", "HTTP"),
    ("http::", "HTTP"),
    ("bytes::", "HTTP"),
    ("axum", "routing"),
    ("tower::", "routing"),
    ("tokio::", "runtime"),
    ("mio::", "runtime"),
];

const OTHER: &str = "standard library and the rest";

/// A function in the callgrind output.
#[derive(Default)]
struct Function {
    /// The group of the function, if its name or file determines it.
    group: Option<&'static str>,
    /// Number of instructions of the function that belong to no group.
    rest: u64,
    /// Number of inclusive instructions by caller.
    callers: BTreeMap<String, u64>,
}

/// Parses the output of callgrind.
///
/// # Errors
/// Returns an error if the text is not callgrind output.
pub fn read(dump: &str) -> Result<Counts> {
    let (mut files, mut names) = (Names::default(), Names::default());
    let (mut file, mut function, mut called) = (String::new(), String::new(), String::new());
    let (mut counts, mut functions, mut is_call) = (Counts::default(), BTreeMap::<String, Function>::new(), false);
    let mut function_file = String::new();
    for line in dump.lines() {
        let (kind, rest) = line.split_once('=').unwrap_or(("", line));
        match kind {
            "fl" => {
                function_file = files.read(rest)?;
                file.clone_from(&function_file);
            }
            "fi" | "fe" => file = files.read(rest)?,
            "cfi" | "cfl" => drop(files.read(rest)?),
            "fn" => {
                function = names.read(rest)?;
                let group = group(&function_file, &function);
                let entry = functions.entry(function.clone()).or_default();
                entry.group = entry.group.or(group);
            }
            "cfn" => called = names.read(rest)?,
            "calls" => {
                let times: u64 = rest.split_whitespace().next().context("calls")?.parse()?;
                counts.allocations += if is_allocation(&function, &called) { times } else { 0 };
                is_call = true;
            }
            "" if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) => {
                let instructions: u64 = rest.split_whitespace().nth(1).context("a cost")?.parse()?;
                if std::mem::take(&mut is_call) {
                    // Counted in the called function.
                    let callers = &mut functions.entry(called.clone()).or_default().callers;
                    *callers.entry(function.clone()).or_default() += instructions;
                    continue;
                }
                *counts.functions.entry(function.clone()).or_default() += instructions;
                let current = functions.entry(function.clone()).or_default();
                let library = current.group.filter(|group| C_LIBRARY.contains(group));
                match library.or_else(|| by_file(&file)).or(current.group) {
                    Some(group) => *counts.groups.entry(group).or_default() += instructions,
                    None => current.rest += instructions,
                }
            }
            _ => {}
        }
    }
    anyhow::ensure!(!counts.functions.is_empty(), "callgrind counted nothing");
    Callers { functions: &functions, found: HashMap::new() }.distribute(&mut counts.groups);
    Ok(counts)
}

/// Returns `true` for a call to the allocator of Rust or of C. Calls between these allocators are
/// not counted again.
fn is_allocation(caller: &str, function: &str) -> bool {
    let is_rust = ["__rust_alloc", "__rust_alloc_zeroed", "__rust_realloc"].iter().any(|name| function.ends_with(name));
    let is_c = ["malloc", "calloc", "realloc"].contains(&function);
    is_rust || is_c && !["__rust_", "__rdl_", "GlobalAlloc"].iter().any(|part| caller.contains(part))
}

const ALLOCATION: &str = "allocation";
const COPYING: &str = "copying and comparing";
/// The groups of C library functions, regardless of their source file.
const C_LIBRARY: [&str; 2] = [ALLOCATION, COPYING];

fn by_file(path: &str) -> Option<&'static str> {
    FILES.iter().find(|(part, _)| path.contains(part)).map(|(_, group)| *group)
}

/// Returns the group of a function, given its source file and name.
fn group(function_file: &str, function: &str) -> Option<&'static str> {
    let is_any = |names: &[&str]| names.iter().any(|name| function.contains(name));
    let is_mimalloc = function.starts_with("mi_") || function.starts_with("_mi_");
    let is_c =
        is_any(&["malloc", "calloc", "realloc", "_int_free", "cfree", "unlink_chunk", "tcache", "__rust_dealloc"]);
    if is_mimalloc || is_c || is_any(&["__rust_alloc", "__rust_realloc"]) || function == "free" {
        return Some(ALLOCATION);
    }
    if is_any(&["memcpy", "memmove", "memset", "memcmp", "bcmp", "memchr"]) {
        return Some(COPYING);
    }
    let by_name = || FUNCTIONS.iter().find(|(part, _)| function.contains(part)).map(|(_, group)| *group);
    by_file(function_file).or_else(by_name)
}

/// Attributes the instructions of standard library functions to the groups of their callers.
struct Callers<'a> {
    functions: &'a BTreeMap<String, Function>,
    /// The share of each group, by visited function. The shares of a function add up to 1.
    found: HashMap<&'a str, BTreeMap<&'static str, f64>>,
}

impl<'a> Callers<'a> {
    fn distribute(mut self, groups: &mut BTreeMap<&'static str, u64>) {
        for (name, function) in self.functions.iter().filter(|(_, function)| function.rest > 0) {
            for (group, part) in self.parts(name) {
                #[expect(
                    clippy::cast_precision_loss,
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a part of a count"
                )]
                let share = (function.rest as f64 * part).round() as u64;
                *groups.entry(group).or_default() += share;
            }
        }
    }

    /// Splits a function's instructions by the instructions of each caller. Recursive calls are
    /// ignored.
    fn parts(&mut self, name: &'a str) -> BTreeMap<&'static str, f64> {
        if let Some(found) = self.found.get(name) {
            return found.clone();
        }
        let unknown = BTreeMap::from([(OTHER, 1.0)]);
        let Some(function) = self.functions.get(name) else { return unknown };
        if let Some(group) = function.group {
            return BTreeMap::from([(group, 1.0)]);
        }
        self.found.insert(name, unknown.clone());
        let all: u64 = function.callers.values().sum();
        if all == 0 {
            return unknown;
        }
        let mut parts = BTreeMap::new();
        for (caller, instructions) in &function.callers {
            for (group, part) in self.parts(caller) {
                #[expect(clippy::cast_precision_loss, reason = "a part")]
                let share = part * *instructions as f64 / all as f64;
                *parts.entry(group).or_default() += share;
            }
        }
        self.found.insert(name, parts.clone());
        parts
    }
}

/// Decodes compressed names. Each name is defined once with a number, and referenced by this number
/// afterwards.
#[derive(Default)]
struct Names(HashMap<String, String>);

impl Names {
    fn read(&mut self, text: &str) -> Result<String> {
        match text.split_once(' ') {
            Some((number, name)) if number.starts_with('(') => {
                self.0.insert(number.to_owned(), name.to_owned());
                Ok(name.to_owned())
            }
            _ if text.starts_with('(') => self.0.get(text).cloned().with_context(|| format!("nothing is {text}")),
            _ => Ok(text.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn instructions_are_grouped_by_source() {
        let dump = "events: Ir\n\nfl=(1) crates/login/src/api/mod.rs\nfn=(1) signpost_login::api::show\n10 5\n\
                    fi=(2) cargo/registry/src/x/serde_json-1.0.1/src/ser.rs\n+3 7\nfe=(1)\ncfi=(3) malloc.c\n\
                    cfn=(2) malloc\ncalls=2 20\n* 90\n11 1\n\nfl=(3)\nfn=(2)\n20 90\n";
        let counts = read(dump).unwrap();
        let groups: Vec<_> = counts.groups.into_iter().collect();
        assert_eq!(groups, [("JSON", 7), ("allocation", 90), ("session", 6)]);
        assert_eq!(counts.allocations, 2);
    }

    #[test]
    fn allocations_are_counted_once() {
        let dump = "fl=(1) crates/store/src/row.rs\nfn=(1) signpost_store::row\ncfn=(2) __rustc::__rust_alloc\ncalls=3 1\n1 9\n\
                    cfn=(3) malloc\ncalls=1 1\n1 5\n1 1\n\nfl=(2) alloc.rs\nfn=(2)\n1 2\ncfn=(3)\ncalls=3 1\n1 7\n";
        let counts = read(dump).unwrap();
        assert_eq!(counts.allocations, 4);
        let groups: Vec<_> = counts.groups.into_iter().collect();
        assert_eq!(groups, [("allocation", 2), ("store", 1)]);
    }

    #[test]
    fn standard_library_counts_for_its_callers() {
        let dump = "fl=(1) library/core/src/fmt.rs\nfn=(1) core::fmt::write\n1 40\n\nfl=(2) crates/mcp/src/call.rs\n\
                    fn=(2) signpost_mcp::call\n1 1\ncfn=(1)\ncalls=3 1\n* 30\n\nfl=(3) crates/store/src/row.rs\n\
                    fn=(3) signpost_store::row\n1 1\ncfn=(1)\ncalls=1 1\n* 10\n";
        let groups: Vec<_> = read(dump).unwrap().groups.into_iter().collect();
        assert_eq!(groups, [("MCP", 31), ("store", 11)]);
    }
}
