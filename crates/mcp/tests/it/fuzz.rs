//! Random mutations of messages: each has a valid reply.
//!
//! `make test` replays the corpus and a few thousand mutations of it, always the same messages. `make fuzz` tries
//! others for a minute; messages that break the parser are added to the corpus.

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

/// Handles a body at every revision, with headers and without, and checks the reply.
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
            // A call that waits was parsed.
            if let Some(reply) = SERVER.handle(&state, &context, body).now_or_never() {
                is_answer(&reply).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(body)));
            }
        }
    }
}

/// Significant parts of messages.
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

/// `make fuzz`. Stores the messages that break the parser.
#[test]
#[ignore = "it takes a minute: make fuzz"]
fn a_minute_of_mutations_is_answered() {
    let (corpus, mut random) = (corpus(), Random(seed()));
    // A tool panics, a normal internal error here: the hook would print it thousands of times.
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
