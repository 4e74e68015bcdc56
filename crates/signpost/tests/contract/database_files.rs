//! Files of an embedded database: of a running server, of another program, and on a read-only disk.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use serde_json::json;
use signpost::server::schema::SCHEMA;
use signpost_store::Store;

use crate::harness::{Program, Service, copy_file, embedded_database};

const APPLICATION_ID: i64 = 0x7367_6e70;
/// An unprivileged user, for tests that run as root: file modes do not restrict root.
const NOBODY_UID: u32 = 65534;

fn sqlite(file: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(file).expect("a database")
}

fn pragma(file: &Path, name: &str) -> String {
    let found = sqlite(file).query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, rusqlite::types::Value>(0));
    format!("{:?}", found.expect("a value"))
}

#[tokio::test]
async fn commands_reject_replaced_database_files() {
    for end in ["-shm", "-wal", ""] {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("signpost-data");
        fs::write(folder.path().join("machines.csv"), "name,lat,lon\nOne,30.27,-97.74\n").expect("a file");
        let service = Service::on(&data, &Service::clock(), &[]).await;
        let integrator = service.shop().await;
        let session = integrator.create_session("shop.test").await;
        let (file, aside) = (data.join(format!("signpost.sqlite{end}")), folder.path().join("aside"));
        for is_replaced in [false, true] {
            fs::rename(&file, &aside).expect("a file");
            if is_replaced {
                copy_file(&aside, &file);
            }
            let before = fs::metadata(&file).map(|file| (file.ino(), file.mtime_nsec())).ok();
            for arguments in [
                &["keys", "create", "--name", "one", "--environment", "sandbox"][..],
                &["keys", "list"],
                &["domains", "add", "other.test"],
                &["atms", "import", "machines.csv"],
                &["migrate"],
                &["status"],
                &["backup", "copy"],
            ] {
                let ended = Program::within(folder.path(), arguments).run_async().await;
                let name = if end.is_empty() { "the database file" } else { end };
                let response = ended.failed(1);
                assert!(
                    response.contains(name) && response.contains("restart the server"),
                    "{arguments:?}: {response}"
                );
            }
            let after = fs::metadata(&file).map(|file| (file.ino(), file.mtime_nsec())).ok();
            assert_eq!(before, after, "{end}: a command wrote it");
            let ready = service.visitor().get("/health/ready").await;
            assert_eq!((ready.status, &ready.json()["checks"]["store"]), (503, &json!("failing")));
            fs::rename(&aside, &file).expect("a file");
        }
        Program::within(folder.path(), &["keys", "list", "--json"]).run_async().await.json();
        if !end.is_empty() {
            fs::remove_file(&file).expect("a file");
        }
        integrator.create_session("shop.test").await;
        service.stop().await;
        // At shutdown the server wrote its open files into the database.
        let service = Service::on(&data, &Service::clock(), &[]).await;
        let integrator = crate::harness::Integrator { api: service.url("/sandbox/v1"), ..integrator };
        integrator.get_session(&session).await.with(200);
        let sessions = integrator.get("/sessions").await.with(200);
        assert_eq!(sessions["sessions"].as_array().map(Vec::len), Some(2));
        service.stop().await;
        assert_eq!(pragma(&data.join("signpost.sqlite"), "integrity_check"), r#"Text("ok")"#);
    }
}

#[test]
fn short_file_is_rejected_and_unchanged() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("machines.csv"), "name,lat,lon\nOne,30.27,-97.74\n").expect("a file");
    let short = folder.path().join("short");
    for bytes in [0, 1, 511] {
        fs::write(&short, vec![b'S'; bytes]).expect("a file");
        for arguments in [
            &["serve", "--listen", "127.0.0.1:0"][..],
            &["keys", "list"],
            &["atms", "import", "machines.csv"],
            &["migrate"],
            &["backup", "copy"],
            &["move", "--from", "sqlite:short", "--to", "sqlite:new"],
        ] {
            let arguments = [arguments, &["--database-url", "sqlite:short"]].concat();
            let ended = Program::within(folder.path(), &arguments).run();
            assert!(ended.failed(1).contains(&format!("short has {bytes} bytes")), "{arguments:?}: {}", ended.err);
        }
        assert_eq!(fs::read(&short).expect("a file"), vec![b'S'; bytes]);
    }
}

#[test]
fn foreign_database_is_rejected_and_unchanged() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("machines.csv"), "name,lat,lon\nOne,30.27,-97.74\n").expect("a file");
    for sql in [
        "CREATE TABLE bookmarks (n)",
        // A table name that other programs use too.
        "CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TEXT)",
        "PRAGMA application_id = 252006673; CREATE TABLE schema_version (version BIGINT NOT NULL)",
        "PRAGMA application_id = 252006673",
    ] {
        let path = folder.path().join("other");
        let other = sqlite(&path);
        other.execute_batch(sql).expect("a table");
        other.close().expect("closed");
        let before = fs::read(&path).expect("a file");
        for arguments in [
            &["serve", "--listen", "127.0.0.1:0"][..],
            &["keys", "list"],
            &["atms", "import", "machines.csv"],
            &["migrate"],
            &["backup", "copy"],
        ] {
            let arguments = [arguments, &["--database-url", "sqlite:other"]].concat();
            let ended = Program::within(folder.path(), &arguments).run();
            assert!(ended.failed(1).contains("database of another program"), "{arguments:?}: {}", ended.err);
        }
        assert!(fs::read(&path).expect("a file") == before, "the file was changed: {sql}");
        fs::remove_file(&path).expect("a file");
    }
}

#[test]
fn database_and_backup_have_the_application_id() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("signpost-data");
    embedded_database(&data);
    let file = data.join("signpost.sqlite");
    let expected = format!("Integer({APPLICATION_ID})");
    assert_eq!(pragma(&file, "application_id"), expected);
    assert_eq!(Program::within(folder.path(), &["backup", "copy"]).run().code, Some(0));
    assert_eq!(pragma(&folder.path().join("copy"), "application_id"), expected);
    let names: Vec<_> = fs::read_dir(&data).expect("a folder").map(|file| file.expect("a file").file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().contains("new")), "{names:?}");
}

/// Returns a directory that becomes read-only, and a writable directory.
fn folders() -> (tempfile::TempDir, std::path::PathBuf, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let [data, out] = ["data", "out"].map(|name| folder.path().join(name));
    fs::create_dir(&out).expect("a folder");
    mode(folder.path(), 0o755);
    mode(&out, 0o777);
    (folder, data, out)
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
}

fn make_read_only(data: &Path) {
    for file in fs::read_dir(data).expect("a folder") {
        mode(&file.expect("a file").path(), 0o444);
    }
    mode(data, 0o555);
}

fn without_rights(folder: &Path, arguments: &[&str]) -> Program {
    let is_root = fs::metadata("/proc/self").expect("a process").uid() == 0;
    let program = Program::within(folder, arguments);
    if is_root { program.with_user(NOBODY_UID) } else { program }
}

#[tokio::test]
async fn backup_reads_a_read_only_folder() {
    let (_folder, data, out) = folders();
    fs::create_dir(&data).expect("a folder");
    let url = format!("sqlite:{}", data.join("signpost.sqlite").display());
    Store::open(&url, &SCHEMA).expect("a database").close().await;
    make_read_only(&data);
    let (data_dir, copy) = (data.to_str().expect("a path"), out.join("copy"));
    let arguments = ["--data-dir", data_dir, "backup", copy.to_str().expect("a path")];
    let ended = without_rights(&out, &arguments).run_async().await;
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(pragma(&copy, "integrity_check"), r#"Text("ok")"#);
    let listed = without_rights(&out, &["--data-dir", data_dir, "keys", "list"]).run_async().await;
    let response = listed.failed(1);
    assert!(response.contains("permission denied") && response.contains(data_dir), "{response}");
    mode(&data, 0o755);
}

#[tokio::test]
async fn backup_does_not_require_the_lock_file() {
    let (_folder, data, out) = folders();
    let clock = Service::clock();
    Service::on(&data, &clock, &[]).await.stop().await;
    let open_to_all = || {
        for file in fs::read_dir(&data).expect("a folder") {
            let file = file.expect("a file");
            let is_lock = file.file_name().to_string_lossy().ends_with(".lock");
            mode(&file.path(), if is_lock { 0o000 } else { 0o666 });
        }
        mode(&data, 0o777);
    };
    open_to_all();
    let data_dir = data.to_str().expect("a path");
    let run = |arguments: &[&str]| without_rights(&out, &[&["--data-dir", data_dir], arguments].concat()).run_async();
    let copied = run(&["backup", "copy"]).await;
    assert_eq!(copied.code, Some(0), "{}", copied.err);
    assert_eq!(pragma(&out.join("copy"), "integrity_check"), r#"Text("ok")"#);
    // Commands that can write are rejected: a server may have other files open.
    let listed = run(&["keys", "list"]).await;
    assert!(listed.failed(1).contains("signpost.sqlite.lock"), "{}", listed.err);
    mode(&data.join("signpost.sqlite.lock"), 0o600);
    let service = Service::on(&data, &clock, &[]).await;
    service.shop().await;
    open_to_all();
    let refused = run(&["backup", "second"]).await;
    assert!(refused.failed(1).contains("signpost.sqlite.lock"), "{}", refused.err);
    assert!(!out.join("second").exists());
    mode(&data.join("signpost.sqlite.lock"), 0o600);
    service.stop().await;
}

#[tokio::test]
async fn backup_rejects_an_unreadable_wal() {
    let (folder, data, out) = folders();
    let live = folder.path().join("live");
    let service = Service::on(&live, &Service::clock(), &[]).await;
    service.shop().await;
    fs::create_dir(&data).expect("a folder");
    for end in ["", "-wal"] {
        let name = format!("signpost.sqlite{end}");
        copy_file(&live.join(&name), &data.join(&name));
    }
    service.stop().await;
    make_read_only(&data);
    let arguments = ["--data-dir", data.to_str().expect("a path"), "backup", "copy"];
    let ended = without_rights(&out, &arguments).run_async().await;
    assert!(ended.failed(1).contains("-wal file has commits"), "{}", ended.err);
    assert_eq!(fs::read_dir(&out).expect("a folder").count(), 0);
    mode(&data, 0o755);
}

#[test]
fn too_many_open_files_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    embedded_database(&folder.path().join("signpost-data"));
    let run = |descriptors| Program::limited(folder.path(), descriptors, &["keys", "list"]).run();
    // With fewer descriptors the runtime does not start.
    let ended: Vec<_> = (12..40).map(run).collect();
    let named = ended.iter().filter(|ended| ended.err.contains("too many open files: raise the limit"));
    assert!(named.count() > 0, "{ended:?}");
    for ended in ended.iter().filter(|ended| ended.code != Some(0)) {
        assert!(ended.failed(1).to_lowercase().contains("too many open files"), "{}", ended.err);
    }
    assert_eq!(ended.last().map(|ended| ended.code), Some(Some(0)), "{ended:?}");
}
