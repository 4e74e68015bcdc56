//! Backup and restore as docs/operate.md tells them, its commands as they stand there.

use std::path::Path;
use std::process::Command;

use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use signpost_platform::clock::Clock;
use signpost_store::random;

use crate::harness::{Integrator, Program, Service, authority, until};
use crate::hosted::{opens, posts, shop};

/// The blocks of commands of the section, in order.
const COPY_FILE: usize = 0;
const RESTORE_FILE: usize = 1;
const DUMP: usize = 2;
const RESTORE_DUMP: usize = 3;

/// What the page calls its things by, and what they are called here.
struct Walk {
    names: Vec<(&'static str, String)>,
}

impl Walk {
    /// In a folder of our own in place of the machine's.
    fn within(folder: &Path) -> Self {
        let mut names = Vec::new();
        for (theirs, ours) in [("/var/backups", "backups"), ("/var/lib/signpost", "data")] {
            let ours = folder.join(ours);
            std::fs::create_dir_all(&ours).expect("a folder");
            names.push((theirs, ours.to_str().expect("a path of ours is text").to_owned()));
        }
        Self { names }
    }

    fn data(&self) -> &Path {
        Path::new(&self.names[1].1)
    }

    /// Runs a block of the section. What tells systemd to stop or start the server is done by the test.
    async fn takes(&self, block: usize) {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operate.md");
        let page = std::fs::read_to_string(page).expect("the page");
        let section = page.split("\n## ").find(|section| section.starts_with("Backup and restore\n"));
        let blocks = section.expect("the section").split("```sh\n").skip(1).map(|block| block.split("```").next());
        let blocks: Vec<&str> = blocks.collect::<Option<_>>().expect("split gives one");
        assert_eq!(blocks.len(), 4, "a block of commands came or went: {blocks:?}");
        let is_ours = |line: &&str| !line.contains("systemctl");
        let lines: Vec<&str> = blocks[block].lines().filter(is_ours).collect();
        let mut script = lines.join("\n").replace("sudo ", "");
        for (theirs, ours) in &self.names {
            script = script.replace(theirs, ours);
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

/// What somebody has there: a key, a user who logged in, a machine.
struct Belongings {
    integrator: Integrator,
    session: Value,
    user: Value,
}

const SERVICES: (&str, &str) = ("services", "atm,auth");

impl Belongings {
    /// A user logs in, and a file of machines is imported.
    async fn of(service: &Service, folder: &Path, database: (&str, &str)) -> Self {
        let integrator = service.integrator().await;
        shop(&integrator, crate::harness::DEAD).await;
        let session = enters(service, &integrator, "register").await;
        let file = folder.join("machines.csv");
        std::fs::write(&file, "id,name,lat,lon\n1,The one machine,30.2672,-97.7431\n").expect("a file");
        let arguments = ["atms", "import", file.to_str().expect("text"), "--source", "walk", "--json"];
        Program::within(folder, &arguments).env(database.0, database.1).runs().await.json();
        Self { integrator, user: session["user"]["id"].clone(), session }
    }

    /// At a server that begins with the restored database: the same key opens it, the session is a login, the same
    /// wallet is the same user, the machine is found; and what came after the backup is not there.
    async fn is_all_there(&self, service: &Service, later: &Value) {
        let integrator = Integrator { api: service.url("/sandbox/v1"), ..self.integrator.clone() };
        assert_eq!(integrator.sees(&self.session).await.with(200)["status"], "authenticated");
        integrator.sees(later).await.refused(404, "session_not_found");
        assert_eq!(enters(service, &integrator, "login").await["user"]["id"], self.user);
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                           "params": { "name": "find_nearest_bitcoin_atm", "arguments": { "location": "Austin, TX" } } });
        until("the machine is found", async || {
            let found = service.visitor().post("/mcp", &call).await.with(200);
            (found["result"]["structuredContent"]["atms"][0]["name"] == "The one machine").then_some(())
        })
        .await;
    }
}

/// The session of somebody who came with a wallet.
async fn enters(service: &Service, integrator: &Integrator, mode: &str) -> Value {
    let session = opens(integrator, mode).await;
    let answer = service.phone().answers_with(&session, session["confirm_code"].as_str());
    posts(integrator, &session, &answer).await.with(200);
    integrator.sees(&session).await.with(200)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_embedded_database_is_restored_in_its_place_and_on_a_new_machine() {
    let (folder, new, clock) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("one"), Clock::System);
    let walk = Walk::within(folder.path());
    let service = Service::on(walk.data(), &clock, &[SERVICES]).await;
    let data = walk.data().to_str().expect("text");
    let known = Belongings::of(&service, folder.path(), ("SIGNPOST_DATA_DIR", data)).await;
    walk.takes(COPY_FILE).await;
    let later = known.integrator.opens("shop.test").await;
    service.stop().await;
    // What made the restore necessary: the file is ruined, and that of its last writes too.
    for end in ["", "-wal", "-shm"] {
        std::fs::write(walk.data().join(format!("signpost.sqlite{end}")), "not a database at all").expect("a file");
    }
    walk.takes(RESTORE_FILE).await;
    let service = Service::on(walk.data(), &clock, &[SERVICES]).await;
    known.is_all_there(&service, &later).await;
    service.stop().await;

    let elsewhere = Walk::within(new.path());
    Service::on(elsewhere.data(), &clock, &[SERVICES]).await.stop().await;
    for file in std::fs::read_dir(folder.path().join("backups")).expect("a folder") {
        let file = file.expect("a file");
        std::fs::copy(file.path(), new.path().join("backups").join(file.file_name())).expect("a copy");
    }
    elsewhere.takes(RESTORE_FILE).await;
    let service = Service::on(elsewhere.data(), &clock, &[SERVICES]).await;
    known.is_all_there(&service, &later).await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn a_dump_of_postgresql_is_restored_into_a_new_database() {
    #[expect(clippy::disallowed_methods, reason = "it says which database the tests run on")]
    let server = std::env::var("SIGNPOST_TEST_POSTGRES").expect("tests/postgres.sh starts one");
    let (folder, clock) = (tempfile::tempdir().expect("a folder"), Clock::System);
    let place = authority(&server);
    let name = format!("walk_{}", HEXLOWER.encode(&random::<8>()));
    let (client, connection) = tokio_postgres::connect(&server, tokio_postgres::NoTls).await.expect("a server");
    tokio::spawn(async { drop(connection.await) });
    client.batch_execute(&format!("CREATE DATABASE {name}")).await.expect("a database");

    let mut walk = Walk::within(folder.path());
    walk.names.push(("db.example.com/signpost", format!("{place}/{name}")));
    walk.names.push(("db.example.com", place.clone()));
    walk.names.push((" signpost_restored", format!(" {name}_restored")));
    let url = |name: &str| format!("postgres://signpost@{place}/{name}");
    let service = Service::open(&[("database_url", &url(&name)), SERVICES], clock.clone()).await;
    let known = Belongings::of(&service, folder.path(), ("SIGNPOST_DATABASE_URL", &url(&name))).await;
    walk.takes(DUMP).await;
    let later = known.integrator.opens("shop.test").await;
    service.stop().await;
    walk.takes(RESTORE_DUMP).await;
    let restored = [("database_url", &*url(&format!("{name}_restored"))), SERVICES];
    let service = Service::open(&restored, clock).await;
    known.is_all_there(&service, &later).await;
    service.stop().await;
    for name in [&name, &format!("{name}_restored")] {
        client.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).await.expect("a database to drop");
    }
}
