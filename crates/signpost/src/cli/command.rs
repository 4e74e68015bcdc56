//! The commands of the program, with their help texts.

use clap::Subcommand;

use super::api::ApiFlags;
use super::{
    advisories, atms, audit, backup, clients, config, conformance, console, deliveries, demo, doctor, domains,
    gazetteer, keys, listen, mcp, move_database, places, reports, serve, shell, signing_keys, trigger, users, wallet,
    webhook,
};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run the server
    ///
    /// Prints its addresses, the location of its data, and commands to try next. With --json it
    /// prints `{version, listen, data, public_address, mcp, sse, health, live, sandbox}`, and
    /// `metrics` and `console` if they are enabled.
    ///
    /// While the console has no operator, the server prints a set-up link. Its first visitor
    /// becomes an operator. The link expires after 30 minutes; 'signpost console link' prints
    /// another.
    ///
    /// If PostgreSQL is not ready, the server waits for up to --wait-for-database. Until then it
    /// answers requests with 503 and prints nothing.
    ///
    /// SIGTERM, SIGINT, SIGHUP or SIGQUIT shuts it down gracefully: it accepts no new connections,
    /// waits up to 10 seconds for running requests, writes all data, and exits with code 0. With
    /// nohup it ignores SIGHUP.
    Serve(serve::Serve),
    /// Try the login: a server with sample data and a shop
    ///
    /// Ignores configuration files and environment variables. Data is in memory and is lost at
    /// exit, unless --data-dir is set. The shop listens on the next free port, uses the server's
    /// login page, and shows its own source code. With --json: `{server, shop, wallet, mcp}` on one
    /// line; `wallet` is null.
    ///
    /// Shuts down like 'signpost serve'.
    Demo(demo::DemoCommand),
    /// Manage the operators of the console
    #[command(subcommand)]
    Console(console::ConsoleCommand),
    /// Manage API keys
    #[command(subcommand)]
    Keys(keys::Keys),
    /// Manage domains and their signing secrets
    Domains {
        #[command(flatten)]
        api: ApiFlags,
        #[command(subcommand)]
        command: domains::Domains,
    },
    /// Manage the users of hosted domains and their keys
    Users {
        #[command(flatten)]
        api: ApiFlags,
        #[command(subcommand)]
        command: users::Users,
    },
    /// Manage OpenID Connect clients
    Clients {
        #[command(flatten)]
        api: ApiFlags,
        #[command(subcommand)]
        command: clients::Clients,
    },
    /// Manage the keys that sign ID tokens
    #[command(subcommand)]
    SigningKeys(signing_keys::SigningKeysCommand),
    /// Inspect and retry deliveries of events
    Deliveries {
        #[command(flatten)]
        api: ApiFlags,
        #[command(subcommand)]
        command: deliveries::Deliveries,
    },
    /// Read the audit log: changes of keys, domains and secrets
    #[command(subcommand)]
    Audit(audit::Audit),
    /// Back up the embedded database, even while a server is running
    ///
    /// The copy is complete and consistent. The file appears once it is completely written; it must
    /// not exist yet. With --json: `{file, bytes}`.
    Backup(backup::Backup),
    /// Move data to an empty database, such as SQLite to PostgreSQL
    ///
    /// Counts the rows on both sides. No server may run on either database. If interrupted, run it
    /// again to continue; until it has finished, no server starts on the new database. The old
    /// database is not changed. URLs are as in --database-url, such as
    /// sqlite:signpost-data/signpost.sqlite.
    Move(move_database::Move),
    /// Update the database schema; a server also does this at start
    ///
    /// With --json: `{from, to, waiting}`.
    Migrate(move_database::Migrate),
    /// Import, search and check ATMs
    #[command(subcommand)]
    Atms(atms::Atms),
    /// List and moderate reports about ATMs
    #[command(subcommand)]
    Reports(reports::ReportsCommand),
    /// List and check advisories: notices about law and fraud
    ///
    /// Includes the built-in advisories and your own file, if any: 'signpost advisories check
    /// --advisories my.toml'. docs/operate.md describes the file.
    Advisories(advisories::AdvisoriesCommand),
    /// Manage the place names of location search
    #[command(subcommand)]
    Gazetteer(gazetteer::GazetteerCommand),
    /// Resolve a text to a place
    ///
    /// Exit code 1 if no place matches.
    Places(places::PlacesCommand),
    /// Run the MCP server on standard input and output (stdio)
    ///
    /// Serves one client on this machine. Standard output contains only protocol messages. The mode
    /// is `local`, as `signpost://coverage` shows. 'signpost mcp install' adds it to your clients.
    ///
    /// Without --data-dir, --database-url, --config and their variables, and without a database in
    /// the default folder, it serves fictional ATMs with a notice, and creates no file.
    Mcp(mcp::McpCommand),
    /// Test a site's login endpoints, in any language
    ///
    /// The kit simulates the service: set the site's API URL to the address of --api-listen, with
    /// any key and any prefix. It opens the login page with a cookie store, finds `qr_data` and the
    /// `sid` in it, sends valid and invalid wallet answers, polls, and posts events. It prints a
    /// line for each rule, with the expected and the actual result. Exit code 1 if a rule is
    /// broken.
    ///
    /// With --json: `{holds, broken, not_tested, checks: [{rule, verdict, expected, got}]}`.
    Conformance(Box<conformance::Conformance>),
    /// Forward events to a receiver on your machine
    ///
    /// Posts each new event of the server on this machine, signed, to your receiver, regardless of
    /// its delivery to the event URL. The command changes no data, so it can be killed at any time,
    /// and several instances can run at once. It prints the signing secrets, and a line per
    /// message: `-->` for the event, `<--` for the status and the time. Failed events are not
    /// retried.
    ///
    /// If the receiver rejects an event with 4xx, test events diagnose the reason: the receiver
    /// verifies the body after parsing it, its secret ends with a line break, or it has another
    /// secret. The diagnosis includes the fix.
    ///
    /// With --api the service signs the events. The command receives no secret, so it prints none
    /// and diagnoses less. A live key also needs --live.
    ///
    /// Ctrl+C stops the command with exit code 0. With --json it prints a JSON document per line:
    /// `{type: "ready", forward_to, domains}`, `{type: "event", at, id, event, domain}`, `{type:
    /// "answer", at, id, status, ms}` or `{…, error}`, `{type: "diagnosis", id, mistake, text,
    /// mending}`.
    Listen {
        #[command(flatten)]
        api: ApiFlags,
        #[command(flatten)]
        command: listen::Listen,
    },
    /// Post a sample event to a receiver, optionally with a fault
    ///
    /// The event is signed like a real event; a login in it is by a random wallet. Prints the
    /// response. Exit code 1 unless it is the response of a correct receiver: 2xx, or 401 if the
    /// signature or the time is wrong. If the receiver rejects a valid event, the output includes a
    /// diagnosis, like that of 'listen'.
    ///
    /// A live receiver only gets test events, unless --forward-to selects another receiver.
    ///
    /// With --api the service sends the event to the domain's event URL, with a live key only a
    /// test event. --secret and --forward-to need neither a database nor --api.
    ///
    /// With --json: `{event, url, ok, posts: [{id, fault, expected, ok, status, ms}], diagnosis}`.
    Trigger {
        #[command(flatten)]
        api: ApiFlags,
        #[command(flatten)]
        command: trigger::Trigger,
    },
    /// Sign and verify events by hand
    #[command(subcommand)]
    Webhook(webhook::Webhook),
    /// Use a wallet from the terminal, for logins and tests
    #[command(subcommand)]
    Wallet(wallet::WalletCommand),
    /// Show the state of server, database and data, and open tasks
    ///
    /// Shows the server's state and version; the domains, users, sessions and events in the
    /// database; ATMs, place names and advisories. Counts stop at 100,000. Exit code 1 if 'signpost
    /// doctor' would report a warning. With --json: `{version, server, database, domains, users,
    /// pending_sessions, events, catalogue, failing_feeds, places, advisories, attention: [{check,
    /// grade, found, mend}]}`.
    ///
    /// With --api it shows the account of the key: `{version, server, account, environment, key_id,
    /// domains, events, attention}`. Counts of events stop at 100.
    Status {
        #[command(flatten)]
        api: ApiFlags,
    },
    /// Diagnose an installation or a URL, and suggest fixes
    ///
    /// Without URL it checks this installation: settings, server, database and its latency, signing
    /// secrets, data folder and disk, age of the ATMs, Redis, name servers, clocks, the public URL
    /// from this machine, and up to three hosts of live event URLs, with HEAD / requests. With URL
    /// it checks that address from outside: health, TLS, clock, headers, public URL, forwarded
    /// client addresses, each revision of MCP, login page. Each request has a timeout of 5 seconds.
    /// Each line has the grade `pass`, `warn` or `fail`, the finding, and the fix. Exit code 1 if a
    /// check fails. With --json: `{passed, warned, failed, checks: [{check, grade, found, mend}]}`.
    Doctor(doctor::Doctor),
    /// Print the default configuration, with comments
    ///
    /// Reads no configuration, so it works even if your configuration is invalid. With --json it
    /// prints the settings without comments. 'signpost config check' shows your settings.
    Config(config::ConfigCommand),
    /// Print completions for a shell
    ///
    /// Store the script in a folder that the shell reads: for bash a file in
    /// ~/.local/share/bash-completion/completions, for zsh a file named _signpost in a folder of
    /// its fpath, for fish a file in ~/.config/fish/completions. With --json: `{script}`.
    Completions(shell::Completions),
    /// Write the man pages
    ///
    /// Writes a page for each command: signpost.1, signpost-serve.1 and so on. With --json: `{dir,
    /// pages}`, without a folder `{page}`.
    Man(shell::ManPages),
}
