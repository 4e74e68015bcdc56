//! Creates the database of a large deployment for measurements of the console. The program creates
//! the first row of each kind. All further rows are copies that are inserted directly, because a
//! million logins over HTTP would take minutes.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use signpost::server::schema::SCHEMA;
use signpost_atm::catalogue::{Catalogue, Coverage, FileContents, ImportRules, Source, apply};
use signpost_auth::Wallet;
use signpost_locator::import::Options;
use signpost_login::browser_sessions::{BrowserSession, CookieSecret, sql as browser_sessions};
use signpost_login::domains::{LoginMethod, system_domain};
use signpost_login::flows::sign_in::{LOGIN_COOKIE, LOGIN_COOKIE_MAX_AGE};
use signpost_login::ids::{CredentialId, SessionId, UserId};
use signpost_platform::clock::Clock;
use signpost_platform::origin::PublicOrigin;
use signpost_store::{Statement, Store, params, random};

use crate::server::ApiTarget;
use crate::{Program, post, send_request};

/// Number of login sessions.
pub const SESSIONS: i64 = 1_000_000;
/// Number of events. 0.1 % have failed, and 0.1 % are pending.
pub const DELIVERIES: i64 = 1_000_000;
/// Number of ATMs.
pub const ATMS: i64 = 100_000;
/// Number of sites, which is also the number of reports.
const SITES: i64 = 1_000;
const KEYS: i64 = 100;
const AUDIT: i64 = 100_000;
/// Number of rows per transaction.
const ROWS_PER_TRANSACTION: i64 = 50_000;
/// Age of the oldest row in milliseconds, shorter than every retention period.
const TIME_MS: i64 = 5 * 24 * 3_600_000;

/// The created objects that measurements need.
#[derive(Clone, Debug)]
pub struct ConsoleFixture {
    /// The `cookie` header of an operator's browser.
    pub cookie: String,
    /// The ID of a site.
    pub site: String,
    /// The ID of a failed event.
    pub failed: String,
}

/// How to copy a row: the table, a condition that selects the row, and SQL expressions for the
/// columns that differ between copies. The expressions can use the row `t`, the number `i`, the
/// time `made` and the site number `site`.
struct CopySpec {
    table: &'static str,
    first: &'static str,
    count: i64,
    own: &'static [(&'static str, &'static str)],
}

/// SQL for an ID with the prefix of the copied row: ten characters for the time, then the number.
const ID: &str = "substr(t.id, 1, instr(t.id, '_'))
    || substr(letters, 1 + ((made >> 43) & 31), 1) || substr(letters, 1 + ((made >> 38) & 31), 1)
    || substr(letters, 1 + ((made >> 33) & 31), 1) || substr(letters, 1 + ((made >> 28) & 31), 1)
    || substr(letters, 1 + ((made >> 23) & 31), 1) || substr(letters, 1 + ((made >> 18) & 31), 1)
    || substr(letters, 1 + ((made >> 13) & 31), 1) || substr(letters, 1 + ((made >> 8) & 31), 1)
    || substr(letters, 1 + ((made >> 3) & 31), 1) || substr(letters, 1 + ((made & 7) * 4), 1)
    || printf('%025d0', i)";
/// SQL for the ID of an API key: sixteen letters or digits from 2 to 7.
const KEY_ID: &str = "substr(t.id, 1, 8) || replace(replace(printf('%012o', i), '0', 'a'), '1', 'b')";
const SITE_ID: &str = "substr(t.domain_id, 1, 14) || printf('%025d0', site)";

const COPIES: [CopySpec; 6] = [
    CopySpec {
        table: "domains",
        first: "account = 'bench'",
        count: SITES,
        own: &[
            ("id", "substr(t.id, 1, 14) || printf('%025d0', i)"),
            ("name", "'shop-' || i || '.example'"),
            ("apex", "'shop-' || i || '.example'"),
        ],
    },
    CopySpec {
        table: "api_keys",
        first: "account = 'bench'",
        count: KEYS,
        own: &[("id", KEY_ID), ("hash", "substr(t.hash, 1, 52) || printf('%012x', i)"), ("created_at", "made")],
    },
    CopySpec {
        table: "sessions",
        first: "account = 'bench'",
        count: SESSIONS,
        own: &[
            ("id", ID),
            ("domain_id", SITE_ID),
            ("created_at", "made"),
            ("expires_at", "made + 120000"),
            ("authenticated_at", "CASE WHEN i % 10 < 8 THEN made + 9000 END"),
            ("user_json", "CASE WHEN i % 10 < 8 THEN t.user_json END"),
        ],
    },
    CopySpec {
        table: "deliveries",
        first: "account = 'bench'",
        count: DELIVERIES,
        own: &[
            ("id", ID),
            ("domain_id", SITE_ID),
            ("url", "'https://shop-' || site || '.example/hook'"),
            ("endpoint", "'https://shop-' || site || '.example'"),
            ("state", "CASE i % 997 WHEN 0 THEN 'failed' WHEN 1 THEN 'pending' ELSE 'delivered' END"),
            ("attempts", "CASE i % 997 WHEN 0 THEN 13 ELSE 1 END"),
            ("created_at", "made"),
            ("next_attempt_at", "CASE i % 997 WHEN 1 THEN made + 864000000 ELSE made END"),
            ("leased_until", "NULL"),
            ("in_backoff", "CASE i % 997 WHEN 1 THEN 1 ELSE 0 END"),
            ("ended_at", "CASE i % 997 WHEN 1 THEN NULL ELSE made + 40 END"),
            ("last_status", "CASE WHEN i % 997 < 2 THEN 503 ELSE 200 END"),
            ("last_error", "CASE WHEN i % 997 < 2 THEN 'the endpoint answered 503' END"),
        ],
    },
    CopySpec { table: "audit", first: "account = 'bench'", count: AUDIT, own: &[("id", ID), ("at", "made")] },
    // The first 240 ATMs are fictional, and the first import removes them.
    CopySpec {
        table: "atm_reports",
        first: "1 = 1",
        count: SITES,
        own: &[("id", ID), ("atm_id", "240 + i"), ("created_at", "made"), ("seen_at", "made"), ("state", "'new'")],
    },
];

/// Creates the database in a folder, for a server that is started afterwards.
///
/// # Errors
/// Returns an error if the temporary server does not start or a write fails.
pub async fn fill(folder: &Path) -> Result<ConsoleFixture> {
    let program = Program::start(&[&format!("data_dir={}", folder.display())])?;
    first_rows(&program.target).await?;
    drop(program);
    let store = Store::open(&format!("sqlite:{}", folder.join("signpost.sqlite").display()), &SCHEMA)?;
    for copies in &COPIES {
        copy(&store, copies).await?;
    }
    import_atms(&store, folder).await?;
    let cookie = operator(&store).await?;
    let number = async |sql: &'static str| {
        let row = store.read_one(sql, params![]).await?.context(sql)?;
        anyhow::Ok(row.text(0)?.to_owned())
    };
    let site = number("SELECT id FROM domains WHERE name = 'shop-500.example'").await?;
    let failed = number("SELECT id FROM deliveries WHERE state = 'failed' ORDER BY id DESC LIMIT 1").await?;
    store.close().await;
    Ok(ConsoleFixture { cookie, site, failed })
}

/// Creates a site, a login with its event, and a report of an ATM by requests to the program.
async fn first_rows(target: &ApiTarget) -> Result<()> {
    target.register("localhost", "http://127.0.0.1:1/hook").await?;
    let (_, answer) = target.sign_login(0).await?;
    send_request(target.address, &answer).await?;
    let report = post("/v1/atms/1/reports", "", r#"{"seen":"gone","how":"saw"}"#);
    send_request(target.address, &report).await?;
    Ok(())
}

/// Inserts the copies of a row.
async fn copy(store: &Store, copies: &CopySpec) -> Result<()> {
    let CopySpec { table, first, count, own } = copies;
    let names = store.read(leak(format!("SELECT name FROM pragma_table_info('{table}')")), params![]).await?;
    let names = names.iter().map(|row| row.text(0).map(str::to_owned)).collect::<Result<Vec<_>>>()?;
    ensure!(own.iter().all(|(name, _)| names.iter().any(|is| is == name)), "{table} has other columns: {names:?}");
    let expressions = names.iter().map(|name| {
        let own = own.iter().find(|(own, _)| own == name);
        own.map_or_else(|| format!("t.{name}"), |(_, expression)| (*expression).to_owned())
    });
    let sql = leak(format!(
        "WITH RECURSIVE numbers (i) AS (SELECT CAST($1 AS INTEGER) UNION ALL SELECT i + 1 FROM numbers WHERE i < $2),
              rows AS (SELECT i, $3 + i * $4 AS made, 1 + i % {SITES} AS site,
                              '0123456789abcdefghjkmnpqrstvwxyz' AS letters FROM numbers)
         INSERT INTO {table} ({})
         SELECT {} FROM rows JOIN (SELECT * FROM {table} WHERE {first} ORDER BY rowid LIMIT 1) AS t",
        names.join(", "),
        expressions.collect::<Vec<_>>().join(", "),
    ));
    let begun = Clock::System.now().as_millisecond() - TIME_MS;
    for from in (1..=*count).step_by(usize::try_from(ROWS_PER_TRANSACTION)?) {
        let to = (from + ROWS_PER_TRANSACTION - 1).min(*count);
        store.write([Statement::new(sql, params![from, to, begun, TIME_MS / count])]).await?;
    }
    Ok(())
}

/// Leaks a text, because statements require static texts. There are only a few.
fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// Imports ATMs from a file. They are in towns across a country.
async fn import_atms(store: &Store, folder: &Path) -> Result<()> {
    let mut text = "ref,lat,lon,name,operator,address,city,state,country\n".to_owned();
    for number in 1..=ATMS {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let (town, away) = ((number % 1_000) as f64, (number / 1_000) as f64 * 0.0005);
        let (lat, lon) = (26.0 + (town * 7.7) % 22.0 + away, -122.0 + (town * 13.3) % 48.0);
        let operator = number % 40;
        writeln!(text, "{number},{lat:.5},{lon:.5},Machine {number},Operator {operator},{number} Main St,Town,TX,US")?;
    }
    let now = Clock::System.now();
    let catalogue = Catalogue::open(store, &Clock::System, folder, None, None).await?;
    let options = Options { now: Some(now), ..Options::default() };
    let contents = FileContents::from_bytes(text.as_bytes(), &options, &catalogue.places.now())?;
    let source = Source { name: "bench".to_owned(), attribution: "bench".to_owned(), imported_at: now };
    let rules = ImportRules { extent: Coverage::Full, force: false, dry_run: false, max_atms: usize::MAX };
    let changes = apply(store, &source, &contents, rules).await?;
    ensure!(i64::try_from(changes.added)? == ATMS, "{} machines", changes.added);
    Ok(())
}

/// Creates a user of the system domain who is an operator. Returns the cookie of their session.
async fn operator(store: &Store) -> Result<String> {
    const KEY: &str = "INSERT INTO credentials (domain_id, public_key, created_at, id, user_id, kind, name)
                       VALUES ($1, $2, $3, $4, $5, 'wallet', 'Wallet')";
    const USER: &str = "INSERT INTO users (domain_id, id, petname, created_at)
                        VALUES ($1, $2, 'calm-otter-1000', $3)";
    const OPERATOR: &str = "INSERT INTO operators (user_id, added_at, added_by) VALUES ($1, $2, 'operator')";
    let now = Clock::System.now();
    let domain = system_domain::find_or_register(store, None, "http://localhost:1", now).await?;
    let (user, credential) = (UserId::new(now, random()), CredentialId::new(now, random()));
    let (session, cookie) = (SessionId::new(now, random()), CookieSecret::from_bytes(random()));
    let key = Wallet::from_bytes([9; 32])?.public_key().canonical();
    let place = (domain.account.environment, domain.id.clone());
    browser_sessions::begin(store, BrowserSession::begin(cookie.hash(), place, session.clone(), now, random()), None)
        .await?;
    let statements = [
        Statement::new(KEY, params![&domain.id, &*key, now, &credential, &user]),
        Statement::new(USER, params![&domain.id, &user, now]),
        Statement::new(OPERATOR, params![&user, now]),
        browser_sessions::sign_in_statement(&session, &user, &key, LoginMethod::Scan, now),
    ];
    store.write(statements).await?;
    let lasts: Duration = LOGIN_COOKIE_MAX_AGE;
    let set = LOGIN_COOKIE.set(&PublicOrigin::new("http://localhost:1"), &cookie, lasts);
    Ok(format!("cookie: {}\r\n", set.to_str()?.split(';').next().unwrap_or_default()))
}
