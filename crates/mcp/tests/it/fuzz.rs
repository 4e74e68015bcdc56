//! Fuzz tests: random mutations of messages have a valid reply.
//!
//! `make test` replays the corpus and a fixed set of a few thousand mutations. `make fuzz` tries other mutations for a
//! minute and adds messages that break the parser to the corpus.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use signpost_mcp::{Context, Headers, Revision, Server};

use crate::fixture::sent;
use crate::mutations::{Random, mutated, seed};
use crate::notebook::{Notebook, server};
use crate::properties::is_answer;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");
/// Number of mutations in `make test`.
const MUTATIONS: u32 = 5_000;

fn corpus() -> Vec<Vec<u8>> {
    let mut files: Vec<_> = fs::read_dir(CORPUS).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Handles a body in every revision, with and without headers, and checks the replies.
fn check(body: &[u8]) {
    static SERVER: LazyLock<Server<Notebook>> = LazyLock::new(server);
    let state = Notebook::default();
    let all = [Some(&b"2026-07-28"[..]), Some(b"tools/call"), Some(b"route")];
    for headers in [sent([None; 3]), sent(all)] {
        for revision in Revision::ALL {
            let context = Context {
                headers: Headers(Some(&headers)),
                headers_required: revision.is_stateless(),
                ..Context::session(revision)
            };
            // If the call waits, the message was parsed successfully.
            if let Some(reply) = SERVER.handle(&state, &context, body).now_or_never() {
                is_answer(&reply).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(body)));
            }
        }
    }
}

/// Parts of messages that are significant for the parser.
const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "null",
    "true",
    "-0",
    "1e400",
    "\\ud800",
    "\"id\":",
    "\"_meta\":{}",
    "é",
];

#[test]
fn the_corpus_is_answered() {
    let corpus = corpus();
    assert!(corpus.len() >= 20);
    for body in corpus {
        check(&body);
    }
}

#[test]
fn mutations_of_the_corpus_are_answered() {
    let (corpus, mut random) = (corpus(), Random(0x5169_6E70_6F73_7421));
    for _ in 0..MUTATIONS {
        check(&mutated(&mut random, &corpus, TOKENS));
    }
}

/// Tries random mutations for a minute, and stores messages that break the parser. Run by `make fuzz`.
#[test]
#[ignore = "it takes a minute: make fuzz"]
fn a_minute_of_mutations_is_answered() {
    let (corpus, mut random) = (corpus(), Random(seed()));
    // A tool of the test server panics intentionally. The default hook would print this thousands of times.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let (begun, mut count) = (Instant::now(), 0_u64);
    while begun.elapsed() < Duration::from_mins(1) {
        let body = mutated(&mut random, &corpus, TOKENS);
        if std::panic::catch_unwind(|| check(&body)).is_err() {
            std::panic::set_hook(hook);
            let kept = Path::new(CORPUS).join(format!("found-{:016x}.json", random.0));
            fs::write(&kept, &body).unwrap();
            panic!("{} breaks the parser", kept.display());
        }
        count += 1;
    }
    println!("{count} messages answered, each at five revisions, with headers and without");
}
