//! What callgrind counted, by what the instructions were for.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Context, Result};

/// Instructions by group, and how often memory was asked for.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Instructions.
    pub groups: BTreeMap<&'static str, u64>,
    /// Calls of `malloc`, `calloc` and `realloc`.
    pub allocations: u64,
    /// Functions with their instructions.
    pub functions: HashMap<String, u64>,
}

/// What a file of source code is for, by a part of its path. The first that fits counts.
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

/// The same by a part of the name of a function that says nothing by its file.
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

/// Reads a dump of callgrind.
///
/// # Errors
/// Where it is none.
pub fn read(dump: &str) -> Result<Counts> {
    let (mut files, mut names) = (Names::default(), Names::default());
    let (mut file, mut home, mut function) = (String::new(), String::new(), String::new());
    let (mut counts, mut is_call) = (Counts::default(), false);
    for line in dump.lines() {
        let (kind, rest) = line.split_once('=').unwrap_or(("", line));
        match kind {
            "fl" => {
                home = files.read(rest)?;
                file.clone_from(&home);
            }
            "fi" | "fe" => file = files.read(rest)?,
            "cfi" | "cfl" => drop(files.read(rest)?),
            "fn" => function = names.read(rest)?,
            "cfn" => {
                let called = names.read(rest)?;
                is_call = ["malloc", "calloc", "realloc"].contains(&called.as_str());
            }
            "calls" => {
                let times: u64 = rest.split_whitespace().next().context("calls")?.parse()?;
                counts.allocations += if is_call { times } else { 0 };
                is_call = false;
                // The next line has what was spent in there, which is counted there.
                file.push('\0');
            }
            "" if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) => {
                if file.ends_with('\0') {
                    file.pop();
                    continue;
                }
                let spent: u64 = rest.split_whitespace().nth(1).context("a cost")?.parse()?;
                *counts.groups.entry(group(&file, &home, &function)).or_default() += spent;
                *counts.functions.entry(function.clone()).or_default() += spent;
            }
            _ => {}
        }
    }
    anyhow::ensure!(!counts.groups.is_empty(), "callgrind counted nothing");
    Ok(counts)
}

/// What the instructions of a line are for: by the file that it stands in, and where that is the standard library, by the
/// function that it became a part of.
fn group(file: &str, home: &str, function: &str) -> &'static str {
    let is_any = |names: &[&str]| names.iter().any(|name| function.contains(name));
    if is_any(&["malloc", "calloc", "realloc", "_int_free", "cfree", "unlink_chunk", "tcache"]) || function == "free" {
        return "allocation";
    }
    if is_any(&["memcpy", "memmove", "memset", "memcmp", "bcmp", "memchr"]) {
        return "copying and comparing";
    }
    let by_file = |path: &str| FILES.iter().find(|(part, _)| path.contains(part)).map(|(_, group)| *group);
    let by_name = || FUNCTIONS.iter().find(|(part, _)| function.contains(part)).map(|(_, group)| *group);
    by_file(file).or_else(|| by_file(home)).or_else(by_name).unwrap_or(OTHER)
}

/// Names are written once, with a number, and are that number afterwards.
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
    fn a_line_counts_where_it_was_written_and_a_call_where_it_went() {
        let dump = "events: Ir\n\nfl=(1) crates/login/src/api/mod.rs\nfn=(1) signpost_login::api::show\n10 5\n\
                    fi=(2) /root/.cargo/registry/src/x/serde_json-1.0.1/src/ser.rs\n+3 7\nfe=(1)\ncfi=(3) malloc.c\n\
                    cfn=(2) malloc\ncalls=2 20\n* 90\n11 1\n\nfl=(3)\nfn=(2)\n20 90\n";
        let counts = read(dump).unwrap();
        let groups: Vec<_> = counts.groups.into_iter().collect();
        assert_eq!(groups, [("JSON", 7), ("allocation", 90), ("session", 6)]);
        assert_eq!(counts.allocations, 2);
    }
}
