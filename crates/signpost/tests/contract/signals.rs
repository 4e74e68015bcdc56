//! Which signals stop a server, and which it ignores.

use std::path::Path;

use serde_json::json;

use crate::harness::{Integrator, Program, Running, http};

async fn serve(folder: &Path, before: &str) -> Running {
    let (folder, before) = (folder.to_owned(), before.to_owned());
    tokio::task::spawn_blocking(move || Program::serves_after(&folder, &before)).await.expect("no panic")
}

async fn is_healthy(server: &Running) -> bool {
    let visitor = Integrator { http: http(), api: format!("http://{}", server.address("listen")), key: None };
    visitor.get("/health").await.with(200)["status"] == json!("ok")
}

async fn ends(mut server: Running) -> (Option<i32>, String) {
    let (status, log) = tokio::task::spawn_blocking(move || server.ends()).await.expect("no panic");
    (status.code(), log)
}

#[tokio::test]
async fn a_server_drains_when_it_is_interrupted_or_its_terminal_closes() {
    let folder = tempfile::tempdir().expect("a folder");
    for signal in ["TERM", "INT", "HUP", "QUIT"] {
        let server = serve(folder.path(), "true").await;
        assert!(is_healthy(&server).await);
        server.signal(signal);
        let (code, log) = ends(server).await;
        assert!(code == Some(0) && log.contains("server stopped"), "{signal}: {code:?} {log}");
    }
}

#[tokio::test]
async fn signals_with_no_meaning_do_not_end_a_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = serve(folder.path(), "true").await;
    for signal in ["USR1", "USR2", "ALRM", "PIPE"] {
        server.signal(signal);
        assert!(is_healthy(&server).await, "{signal}");
    }
    server.terminate();
    assert_eq!(ends(server).await.0, Some(0));
}

#[tokio::test]
async fn a_server_that_was_started_to_outlive_its_terminal_ignores_a_hangup() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = serve(folder.path(), "trap '' HUP").await;
    server.signal("HUP");
    assert!(is_healthy(&server).await);
    server.terminate();
    let (code, log) = ends(server).await;
    assert!(code == Some(0) && log.contains("server stopped"), "{log}");
}
