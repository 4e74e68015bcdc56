//! All commands with their help texts.

use clap::Subcommand;

use super::{
    advisories, atms, audit, backup, clients, config, conformance, console, deliveries, demo, doctor, domains,
    gazetteer, keys, listen, mcp, moving, places, reports, serve, shell, signing_keys, trigger, users, wallet, webhook,
};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run the server
    ///
    /// Prints its addresses, the location of its data, and commands to try next. With --json it prints `{version,
    /// listen, data, public_address, mcp, sse, health, live, sandbox}`, with `metrics` and `console` where there are such.
    ///
    /// As long as the console has no operator, the server prints a link that makes you one. It works once, for 30 minutes;
    /// 'signpost console link' prints another.
    ///
    /// A PostgreSQL server that is not ready yet is waited for: --wait-for-database says how long. Meanwhile requests get 503,
    /// and nothing is printed.
    ///
    /// SIGTERM, SIGINT, SIGHUP or SIGQUIT stops it: no new connections, up to 10 seconds for running requests, everything
    /// written, exit code 0. With nohup it ignores SIGHUP.
    Serve(serve::Serve),
    /// Try the login: a server with sample data and a shop
    ///
    /// Reads no configuration and no variables. The data is in memory, and nothing is left behind; with --data-dir it is
    /// kept there. The shop listens on the next free port, logs people in on the server's login page, and shows its own
    /// code. With --json: `{server, shop, wallet, mcp}` on one line; `wallet` is null.
    ///
    /// Stops like 'signpost serve'.
    Demo(demo::DemoCommand),
    /// Manage the operators of the console
    #[command(subcommand)]
    Console(console::ConsoleCommand),
    /// Manage API keys
    #[command(subcommand)]
    Keys(keys::Keys),
    /// Manage domains and their signing secrets
    #[command(subcommand)]
    Domains(domains::Domains),
    /// Manage the users of hosted domains and their keys
    #[command(subcommand)]
    Users(users::Users),
    /// Manage the clients that people log in to by OpenID Connect
    #[command(subcommand)]
    Clients(clients::Clients),
    /// Manage the keys that sign ID tokens
    #[command(subcommand)]
    SigningKeys(signing_keys::SigningKeysCommand),
    /// Inspect and retry deliveries of events
    #[command(subcommand)]
    Deliveries(deliveries::Deliveries),
    /// Read the audit log: who did what to keys, domains and secrets
    #[command(subcommand)]
    Audit(audit::Audit),
    /// Back up the embedded database, even while a server is running
    ///
    /// The copy is complete and consistent. It gets its name once it is on disk. The file must not exist yet. With
    /// --json: `{file, bytes}`.
    Backup(backup::Backup),
    /// Copy a database into an empty one, as from SQLite to PostgreSQL
    ///
    /// Counts the rows on both sides. No server may run on either database. If interrupted, run it again to continue;
    /// until it has finished, no server starts on the new database. The old database is not changed. URLs are as
    /// in --database-url, such as sqlite:signpost-data/signpost.sqlite.
    Move(moving::Move),
    /// Update the database schema; a server also does this at start
    ///
    /// With --json: `{from, to, waiting}`.
    Migrate(moving::Migrate),
    /// Import, search and check ATMs
    #[command(subcommand)]
    Atms(atms::Atms),
    /// Read and decide what people report of ATMs
    #[command(subcommand)]
    Reports(reports::ReportsCommand),
    /// List and check advisories: what people are told of law and fraud
    ///
    /// The built-in advisories, and a file of your own: 'signpost advisories check --advisories my.toml'. docs/operate.md
    /// describes its rows.
    Advisories(advisories::AdvisoriesCommand),
    /// Manage the place names behind location search
    #[command(subcommand)]
    Gazetteer(gazetteer::GazetteerCommand),
    /// Show which place a text resolves to
    ///
    /// Exit code 1 if it resolves to none.
    Places(places::PlacesCommand),
    /// Run the MCP server on standard input and output (stdio)
    ///
    /// For one client on this machine. Standard output has messages only. The mode is `local`, as `signpost://coverage` shows.
    /// 'signpost mcp install' adds it to your clients.
    Mcp(mcp::McpCommand),
    /// Test a site's login endpoints, whatever its language
    ///
    /// The kit plays the service: set the site's API URL to the address of --api-listen, with any key and any prefix.
    /// It opens the login page, keeps its cookies, finds `qr_data` and the `sid` on it, answers as wallets do,
    /// correctly and incorrectly, polls, and posts events. It prints a line for each rule, with what was expected and
    /// what came. Exit code 1 if a rule is broken.
    ///
    /// With --json: `{holds, broken, not_tested, checks: [{rule, verdict, expected, got}]}`.
    Conformance(Box<conformance::Conformance>),
    /// Forward events to a receiver on your machine
    ///
    /// Follows the events of the server on this machine from now on, whatever becomes of their deliveries, and posts each,
    /// signed, to your receiver. It changes nothing, so it can be killed at any time; several can run at once. It prints
    /// the signing secrets, and a line for each way: `-->` the event, `<--` the status and the time. An event that could
    /// not be forwarded is not forwarded again.
    ///
    /// If the receiver refuses an event with 4xx, it is asked why: test events show whether it signs the body after parsing
    /// it, has a line end behind its secret, or has another secret. The mistake is named, with how to mend it.
    ///
    /// Ctrl+C ends it with exit code 0. With --json it prints a JSON document on each line: `{type: "ready", forward_to,
    /// domains}`, `{type: "event", at, id, event, domain}`, `{type: "answer", at, id, status, ms}` or `{…, error}`,
    /// `{type: "diagnosis", id, mistake, text, mending}`.
    Listen(listen::Listen),
    /// Post a sample event to a receiver, with a fault if you like
    ///
    /// The event is signed as the service signs it, and a login in it by a wallet that nobody has. Prints what came back, and
    /// ends with exit code 1 unless it is what a good receiver answers: 2xx, or 401 where the signature or the time is
    /// wrong. If the receiver refuses what it should accept, the mistake is named as 'listen' names it.
    ///
    /// To a live receiver goes a test alone, unless --forward-to names another.
    ///
    /// With --json: `{event, url, ok, posts: [{id, fault, expected, ok, status, ms}], diagnosis}`.
    Trigger(trigger::Trigger),
    /// Sign and verify events by hand
    #[command(subcommand)]
    Webhook(webhook::Webhook),
    /// Use a wallet from the terminal, for logins and tests
    #[command(subcommand)]
    Wallet(wallet::WalletCommand),
    /// Show server, database and data in numbers, and what needs you
    ///
    /// Whether the server answers, and its version; domains, users, sessions and events in the database; ATMs, place names
    /// and advisories; what is counted is counted to 100,000. Exit code 1 if something needs a person: whatever 'signpost doctor' would warn of. With --json:
    /// `{version, server, database, domains, users, pending_sessions, events, catalogue, failing_feeds, places, advisories,
    /// attention: [{check, grade, found, mend}]}`.
    Status,
    /// Diagnose an installation, or a URL, and say how to mend it
    ///
    /// Without URL it looks at this installation: settings, server, database and its speed, signing secrets, data folder and
    /// disk, age of the ATMs, Redis, name servers, clocks, the public URL as this machine sees it, and up to three hosts that
    /// live events go to, by HEAD / alone. With URL it looks at that address as strangers see it: health, TLS, clock, headers,
    /// public URL, how a proxy names clients, each revision of MCP, login page. Every answer has 5 seconds. Each line says
    /// `pass`, `warn` or `fail`, what was found, and how to mend it. Exit code 1 if a check fails. With --json: `{passed,
    /// warned, failed, checks: [{check, grade, found, mend}]}`.
    Doctor(doctor::Doctor),
    /// Print the default configuration, with comments
    ///
    /// It reads no configuration, so it works if yours is broken. With --json it prints the settings without comments.
    /// 'signpost config check' shows yours.
    Config(config::ConfigCommand),
    /// Print completions for a shell
    ///
    /// Put the script where the shell looks: for bash a file in ~/.local/share/bash-completion/completions, for zsh one named
    /// _signpost in a folder of its fpath, for fish one in ~/.config/fish/completions. With --json: `{script}`.
    Completions(shell::Completions),
    /// Write the man pages
    ///
    /// A page for each command: signpost.1, signpost-serve.1 and so on. With --json: `{dir, pages}`, without a folder
    /// `{page}`.
    Man(shell::ManPages),
}
