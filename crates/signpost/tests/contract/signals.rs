//! The signals that stop a server, and the signals that it ignores.

use std::path::Path;

use serde_json::json;

use crate::harness::{Integrator, Program, RunningProgram, http};

async fn serve(folder: &Path, before: &str) -> RunningProgram {
    let (folder, before) = (folder.to_owned(), before.to_owned());
    tokio::task::spawn_blocking(move || Program::serve_after(&folder, &before)).await.expect("no panic")
}

async fn is_healthy(server: &RunningProgram) -> bool {
    let visitor = Integrator { http: http(), api: format!("http://{}", server.address("listen")), key: None };
    visitor.get("/health").await.with(200)["status"] == json!("ok")
}

async fn wait_for_exit(mut server: RunningProgram) -> (Option<i32>, String) {
    let (status, log) = tokio::task::spawn_blocking(move || server.wait_for_exit()).await.expect("no panic");
    (status.code(), log)
}

#[tokio::test]
async fn sigint_and_sighup_drain_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    for signal in ["TERM", "INT", "HUP", "QUIT"] {
        let server = serve(folder.path(), "true").await;
        assert!(is_healthy(&server).await);
        server.signal(signal);
        let (code, log) = wait_for_exit(server).await;
        assert!(code == Some(0) && log.contains("server stopped"), "{signal}: {code:?} {log}");
    }
}

#[tokio::test]
async fn other_signals_do_not_stop_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = serve(folder.path(), "true").await;
    for signal in ["USR1", "USR2", "ALRM", "PIPE"] {
        server.signal(signal);
        assert!(is_healthy(&server).await, "{signal}");
    }
    server.terminate();
    assert_eq!(wait_for_exit(server).await.0, Some(0));
}

#[tokio::test]
async fn nohup_server_ignores_sighup() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = serve(folder.path(), "trap '' HUP").await;
    server.signal("HUP");
    assert!(is_healthy(&server).await);
    server.terminate();
    let (code, log) = wait_for_exit(server).await;
    assert!(code == Some(0) && log.contains("server stopped"), "{log}");
}
