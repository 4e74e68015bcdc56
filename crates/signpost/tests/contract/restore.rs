//! Backup and restore with the commands of docs/operate.md.

use std::path::Path;
use std::process::Command;

use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use signpost_platform::clock::Clock;
use signpost_store::random;

use crate::harness::{Integrator, Program, Service, authority, until};
use crate::hosted::{create_session, post_answer, shop};

/// The command blocks of the section, in order.
const COPY_FILE: usize = 0;
const RESTORE_FILE: usize = 1;
const DUMP: usize = 2;
const RESTORE_DUMP: usize = 3;

/// The paths in the documentation, and their replacements in the test.
struct DocumentedCommands {
    names: Vec<(&'static str, String)>,
}

impl DocumentedCommands {
    /// Creates the folders that replace the system's paths.
    fn within(folder: &Path) -> Self {
        let mut names = Vec::new();
        for (documented, replacement) in [("/var/backups", "backups"), ("/var/lib/signpost", "data")] {
            let replacement = folder.join(replacement);
            std::fs::create_dir_all(&replacement).expect("a folder");
            names.push((documented, replacement.to_str().expect("a UTF-8 path").to_owned()));
        }
        Self { names }
    }

    fn data(&self) -> &Path {
        Path::new(&self.names[1].1)
    }

    /// Runs a block of the section. The test stops and starts the server instead of systemd.
    async fn run_block(&self, block: usize) {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operate.md");
        let page = std::fs::read_to_string(page).expect("the page");
        let section = page.split("\n## ").find(|section| section.starts_with("Backup and restore\n"));
        let blocks = section.expect("the section").split("```sh\n").skip(1).map(|block| block.split("```").next());
        let blocks: Vec<&str> = blocks.collect::<Option<_>>().expect("split returns an item");
        assert_eq!(blocks.len(), 4, "unexpected number of command blocks: {blocks:?}");
        let is_shell_command = |line: &&str| !line.contains("systemctl");
        let lines: Vec<&str> = blocks[block].lines().filter(is_shell_command).collect();
        let mut script = lines.join("\n").replace("sudo ", "");
        for (documented, replacement) in &self.names {
            script = script.replace(documented, replacement);
        }
        let program = Path::new(env!("CARGO_BIN_EXE_signpost")).parent().expect("a folder");
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", program.display());
        let run = move || {
            let mut shell = Command::new("/bin/sh");
            let ended = shell.args(["-euc", &script]).env_clear().env("PATH", path).output().expect("a shell");
            assert!(ended.status.success(), "{script}{}", String::from_utf8_lossy(&ended.stderr));
        };
        tokio::task::spawn_blocking(run).await.expect("every command of the page works");
    }
}

/// Data before the backup: an API key, a user who logged in, an ATM.
struct BackedUpData {
    integrator: Integrator,
    session: Value,
    user: Value,
}

const SERVICES: (&str, &str) = ("services", "atm,auth");

impl BackedUpData {
    /// Logs in a user and imports a file with an ATM.
    async fn of(service: &Service, folder: &Path, database: (&str, &str)) -> Self {
        let integrator = service.integrator().await;
        shop(&integrator, crate::harness::UNREACHABLE_URL).await;
        let session = log_in(service, &integrator, "register").await;
        let file = folder.join("machines.csv");
        std::fs::write(&file, "id,name,lat,lon\n1,The one machine,30.2672,-97.7431\n").expect("a file");
        let arguments = ["atms", "import", file.to_str().expect("text"), "--source", "walk", "--json"];
        Program::within(folder, &arguments).env(database.0, database.1).run_async().await.json();
        Self { integrator, user: session["user"]["id"].clone(), session }
    }

    /// Checks a server on the restored database: the API key is valid, the session is authenticated, the wallet logs in
    /// the existing user, the ATM is found, and data from after the backup is missing.
    async fn check(&self, service: &Service, later: &Value) {
        let integrator = Integrator { api: service.url("/sandbox/v1"), ..self.integrator.clone() };
        assert_eq!(integrator.get_session(&self.session).await.with(200)["status"], "authenticated");
        integrator.get_session(later).await.assert_error(404, "session_not_found");
        assert_eq!(log_in(service, &integrator, "login").await["user"]["id"], self.user);
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                           "params": { "name": "find_nearest_bitcoin_atm", "arguments": { "location": "Austin, TX" } } });
        until("the machine is found", async || {
            let found = service.visitor().post("/mcp", &call).await.with(200);
            (found["result"]["structuredContent"]["atms"][0]["name"] == "The one machine").then_some(())
        })
        .await;
    }
}

/// Answers a new session with a wallet.
async fn log_in(service: &Service, integrator: &Integrator, mode: &str) -> Value {
    let session = create_session(integrator, mode).await;
    let answer = service.phone().answer_with(&session, session["confirm_code"].as_str());
    post_answer(integrator, &session, &answer).await.with(200);
    integrator.get_session(&session).await.with(200)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn embedded_database_is_restored_on_any_machine() {
    let (folder, new, clock) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("one"), Clock::System);
    let walk = DocumentedCommands::within(folder.path());
    let service = Service::on(walk.data(), &clock, &[SERVICES]).await;
    let data = walk.data().to_str().expect("text");
    let known = BackedUpData::of(&service, folder.path(), ("SIGNPOST_DATA_DIR", data)).await;
    walk.run_block(COPY_FILE).await;
    let later = known.integrator.create_session("shop.test").await;
    service.stop().await;
    // The reason for the restore: the database file and its WAL are damaged.
    for end in ["", "-wal", "-shm"] {
        std::fs::write(walk.data().join(format!("signpost.sqlite{end}")), "not a database at all").expect("a file");
    }
    walk.run_block(RESTORE_FILE).await;
    let service = Service::on(walk.data(), &clock, &[SERVICES]).await;
    known.check(&service, &later).await;
    service.stop().await;

    let elsewhere = DocumentedCommands::within(new.path());
    Service::on(elsewhere.data(), &clock, &[SERVICES]).await.stop().await;
    for file in std::fs::read_dir(folder.path().join("backups")).expect("a folder") {
        let file = file.expect("a file");
        std::fs::copy(file.path(), new.path().join("backups").join(file.file_name())).expect("a copy");
    }
    elsewhere.run_block(RESTORE_FILE).await;
    let service = Service::on(elsewhere.data(), &clock, &[SERVICES]).await;
    known.check(&service, &later).await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn postgresql_dump_is_restored_to_a_new_database() {
    #[expect(clippy::disallowed_methods, reason = "the variable selects the database of the tests")]
    let server = std::env::var("SIGNPOST_TEST_POSTGRES").expect("tests/postgres.sh starts one");
    let (folder, clock) = (tempfile::tempdir().expect("a folder"), Clock::System);
    let place = authority(&server);
    let name = format!("walk_{}", HEXLOWER.encode(&random::<8>()));
    let (client, connection) = tokio_postgres::connect(&server, tokio_postgres::NoTls).await.expect("a server");
    tokio::spawn(async { drop(connection.await) });
    client.batch_execute(&format!("CREATE DATABASE {name}")).await.expect("a database");

    let mut walk = DocumentedCommands::within(folder.path());
    walk.names.push(("db.example.com/signpost", format!("{place}/{name}")));
    walk.names.push(("db.example.com", place.clone()));
    walk.names.push((" signpost_restored", format!(" {name}_restored")));
    let url = |name: &str| format!("postgres://signpost@{place}/{name}");
    let service = Service::open(&[("database_url", &url(&name)), SERVICES], clock.clone()).await;
    let known = BackedUpData::of(&service, folder.path(), ("SIGNPOST_DATABASE_URL", &url(&name))).await;
    walk.run_block(DUMP).await;
    let later = known.integrator.create_session("shop.test").await;
    service.stop().await;
    walk.run_block(RESTORE_DUMP).await;
    let restored = [("database_url", &*url(&format!("{name}_restored"))), SERVICES];
    let service = Service::open(&restored, clock).await;
    known.check(&service, &later).await;
    service.stop().await;
    for name in [&name, &format!("{name}_restored")] {
        client.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).await.expect("a database to drop");
    }
}
