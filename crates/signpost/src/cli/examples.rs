//! Two examples for each command, which its help ends with. A test reads every line as the program would.

/// The arguments of the examples, by the name of the command. In the order of docs/cli.md.
pub(super) const EXAMPLES: &[(&str, [&str; 2])] = &[
    ("serve", ["", "--listen 127.0.0.1:9000 --public-url https://login.example"]),
    ("demo", ["", "--listen 127.0.0.1:0 --json"]),
    ("status", ["", "--json"]),
    ("doctor", ["", "https://login.example"]),
    ("config", ["", "> signpost.toml"]),
    ("completions", ["bash > /etc/bash_completion.d/signpost", "fish > ~/.config/fish/completions/signpost.fish"]),
    ("man", ["~/.local/share/man/man1", "> signpost.1"]),
    ("keys create", ["--environment sandbox --name shop", "--environment live --name kiosks --scope atms"]),
    ("keys list", ["", "--json"]),
    ("keys rotate", ["key_0123456789", "key_0123456789 --grace 1"]),
    ("keys revoke", ["key_0123456789", "key_0123456789 --json"]),
    ("domains add", ["shop.example --handler hosted", "localhost --sandbox --webhook-url http://localhost:9000/login"]),
    ("domains list", ["", "--json"]),
    ("domains show", ["shop.example", "localhost --sandbox --json"]),
    ("domains set", ["shop.example --methods scan,passkey", "shop.example --registration closed --display-name Shop"]),
    ("domains verify", ["shop.example", "shop.example --live --json"]),
    ("domains remove", ["shop.example --sandbox", "shop.example --live --yes"]),
    ("domains seal", ["", "--json"]),
    ("domains secret", ["shop.example", "shop.example --live --rotate"]),
    ("users list", ["--domain shop.example", "--domain shop.example --limit 20 --json"]),
    ("users show", ["usr_0123456789 --domain shop.example", "usr_0123456789 --domain shop.example --json"]),
    (
        "users set",
        [
            "usr_0123456789 --domain shop.example --name Ann --groups staff,admin",
            "usr_0123456789 --domain shop.example --no-groups",
        ],
    ),
    ("users remove", ["usr_0123456789 --domain shop.example", "usr_0123456789 --domain shop.example --yes"]),
    ("users credentials list", ["usr_0123456789 --domain shop.example", "usr_0123456789 --domain shop.example --json"]),
    (
        "users credentials add",
        [
            "usr_0123456789 02c6047f… --domain shop.example",
            "usr_0123456789 02c6047f… --domain shop.example --name Phone",
        ],
    ),
    (
        "users credentials rename",
        [
            "usr_0123456789 cred_0123456789 Phone --domain shop.example",
            "usr_0123456789 cred_0123456789 Tablet --domain shop.example",
        ],
    ),
    (
        "users credentials remove",
        [
            "usr_0123456789 cred_0123456789 --domain shop.example",
            "usr_0123456789 cred_0123456789 --domain shop.example --json",
        ],
    ),
    ("users credentials link", ["usr_0123456789 --domain shop.example", "usr_0123456789 --domain shop.example --json"]),
    ("deliveries list", ["", "--state failed --limit 20"]),
    ("deliveries show", ["evt_0123456789", "evt_0123456789 --json"]),
    ("deliveries endpoints", ["", "--json"]),
    ("deliveries retry", ["evt_0123456789", "--failed"]),
    (
        "listen",
        ["--forward-to localhost:3000/events", "--forward-to localhost:3000/events --domain shop.example --json"],
    ),
    ("trigger", ["login --forward-to localhost:3000/events", "test --fault all --forward-to localhost:3000/events"]),
    (
        "webhook sign",
        ["event.json --domain localhost", "event.json --secret-file secret.txt --curl http://localhost:3000/events"],
    ),
    (
        "webhook verify",
        [
            "body.json --headers headers.txt --domain localhost",
            "body.json --header 'x-svc-signature: 26a0…' --secret-file secret.txt",
        ],
    ),
    (
        "conformance",
        [
            "--start http://localhost:3000/ --poll http://localhost:3000/poll --events http://localhost:3000/events \
             --api-listen 127.0.0.1:9999",
            "--start http://localhost:3000/ --poll http://localhost:3000/poll --events http://localhost:3000/events \
             --api-listen 127.0.0.1:9999 --json",
        ],
    ),
    (
        "atms import",
        ["machines.csv --source acme --dry-run", "machines.csv --source acme --map name=title,lat=y,lon=x"],
    ),
    ("atms sync", ["", "acme --force"]),
    (
        "atms feeds add",
        ["acme https://acme.example/machines.json --every 6", "acme https://acme.example/machines.csv --format csv"],
    ),
    ("atms feeds list", ["", "--json"]),
    ("atms feeds remove", ["acme", "acme --json"]),
    ("atms show", ["42", "42 --json"]),
    ("atms near", ["\"Austin, TX\"", "78701 --limit 3 --max-distance 5"]),
    ("atms stats", ["", "--json"]),
    ("atms export", ["machines.csv", "--source acme --format geojson > acme.geojson"]),
    ("atms check", ["", "--source acme --limit 20"]),
    ("atms split", ["42", "42 --json"]),
    ("atms join", ["42", "42 --json"]),
    ("atms forget", ["acme", "acme --json"]),
    ("places", ["\"Austin, TX\"", "\"paris\" --explain"]),
    ("gazetteer import", ["cities500.zip US.zip", "2025_Gaz_cousubs_national.zip"]),
    ("advisories list", ["", "--advisories my.toml --json"]),
    ("advisories check", ["", "--advisories my.toml"]),
    ("mcp", ["", "--data-dir ~/signpost-data"]),
    ("backup", ["signpost-backup.sqlite", "/var/backups/signpost.sqlite --json"]),
    (
        "move",
        [
            "--from sqlite:signpost-data/signpost.sqlite --to postgres://signpost@db.example/signpost",
            "--from sqlite:old.sqlite --to sqlite:new.sqlite",
        ],
    ),
    ("migrate", ["", "--contract"]),
    ("audit list", ["--since 7d", "--action access.refused --limit 20"]),
    ("audit export", ["audit.jsonl", "--since 2026-01-31T00:00:00Z > audit.jsonl"]),
    ("wallet new", ["", "--data-dir ~/wallet"]),
    ("wallet show", ["", "--json"]),
    (
        "wallet scan",
        ["'svc://login?domain=shop.example&…'", "'svc://login?domain=shop.example&…' --yes --confirm-code 42"],
    ),
    ("wallet lnurl", ["LNURL1…", "'lightning:lnurl1…' --yes"]),
    ("wallet sign", ["'any text'", "'any text' --json"]),
];
