//! Messages made from real ones by accident and malice: whatever arrives is answered, and the answer is one.
//!
//! `make test` replays the corpus and a few thousand mutations of it, always the same ones. `make fuzz` goes on for a
//! minute with others each time; what breaks the parser is then put into the corpus, to be replayed for ever.

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
/// How many mutations `make test` tries.
const MUTATIONS: u32 = 5_000;

fn corpus() -> Vec<Vec<u8>> {
    let mut files: Vec<_> = fs::read_dir(CORPUS).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Answers a body at every revision, with headers and without.
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
            // A call that waits is one that was understood.
            if let Some(reply) = SERVER.handle(&state, &context, body).now_or_never() {
                is_answer(&reply).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(body)));
            }
        }
    }
}

/// What breaks messages of this kind.
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
fn what_is_made_from_the_corpus_is_answered() {
    let (corpus, mut random) = (corpus(), Random(0x5169_6E70_6F73_7421));
    for _ in 0..MUTATIONS {
        check(&mutated(&mut random, &corpus, TOKENS));
    }
}

/// `make fuzz`; it keeps what it broke the parser with.
#[test]
#[ignore = "it takes a minute: make fuzz"]
fn a_minute_of_mutations_is_answered() {
    let (corpus, mut random) = (corpus(), Random(seed()));
    // One of the tools panics, which is answered like any fault: thousands of times there is nothing to say about it.
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
