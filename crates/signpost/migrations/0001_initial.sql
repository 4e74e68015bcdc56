-- The tables of both services, in SQL that SQLite and PostgreSQL share. Times are Unix milliseconds. IDs begin with the time
-- of their creation, so tables and indexes of them grow at their end.

CREATE TABLE api_keys (
    id           TEXT   NOT NULL PRIMARY KEY,
    account      TEXT   NOT NULL,
    environment  TEXT   NOT NULL CHECK (environment IN ('live', 'sandbox')),
    name         TEXT   NOT NULL,
    hash         TEXT   NOT NULL UNIQUE,
    created_at   BIGINT NOT NULL,
    revoked_at   BIGINT,
    scope        TEXT   NOT NULL CHECK (scope IN ('auth', 'atms')),
    last_used_at BIGINT,
    expires_at   BIGINT
);
CREATE INDEX api_keys_made ON api_keys (created_at, id);
CREATE INDEX api_keys_working ON api_keys (id) WHERE revoked_at IS NULL;

CREATE TABLE domains (
    id                  TEXT   NOT NULL PRIMARY KEY,
    account             TEXT   NOT NULL,
    environment         TEXT   NOT NULL CHECK (environment IN ('live', 'sandbox')),
    name                TEXT   NOT NULL,
    apex                TEXT   NOT NULL,
    webhook_url         TEXT   NOT NULL,
    event_url           TEXT,
    webhook_secret      TEXT   NOT NULL,
    next_webhook_secret TEXT,
    verification_token  TEXT   NOT NULL,
    created_at          BIGINT NOT NULL,
    verified_at         BIGINT,
    last_checked_at     BIGINT,
    failing_since       BIGINT,
    misses              BIGINT NOT NULL DEFAULT 0,
    handler             TEXT   NOT NULL CHECK (handler IN ('direct', 'hosted')),
    methods             TEXT,
    registration        TEXT   NOT NULL CHECK (registration IN ('open', 'closed')),
    display_name        TEXT,
    UNIQUE (account, environment, name)
);
-- Before an unverified name is used, the verified names above and below it are looked up. All of them have the same apex, the
-- name directly below a public suffix.
CREATE INDEX domains_verified ON domains (environment, apex) WHERE verified_at IS NOT NULL;
CREATE INDEX domains_failing ON domains (failing_since, id) WHERE failing_since IS NOT NULL;

-- Deleted domains, whose queued events are still signed.
CREATE TABLE deleted_domains (
    id                  TEXT   NOT NULL PRIMARY KEY,
    webhook_secret      TEXT   NOT NULL,
    next_webhook_secret TEXT,
    deleted_at          BIGINT NOT NULL
);

-- An expired session has no mark: its state follows from the clock.
CREATE TABLE sessions (
    id                 TEXT   NOT NULL PRIMARY KEY,
    account            TEXT   NOT NULL,
    environment        TEXT   NOT NULL CHECK (environment IN ('live', 'sandbox')),
    domain_id          TEXT   NOT NULL,
    challenge          TEXT   NOT NULL,
    webhook_url        TEXT   NOT NULL,
    metadata           TEXT,
    created_at         BIGINT NOT NULL,
    expires_at         BIGINT NOT NULL,
    authenticated_at   BIGINT,
    user_json          TEXT,
    cancelled_at       BIGINT,
    confirm_code       TEXT,
    confirm_tries      BIGINT NOT NULL DEFAULT 0,
    client_secret      TEXT,
    hosted_url         TEXT,
    requester          TEXT,
    flow               TEXT   NOT NULL CHECK (flow IN ('cross_device', 'same_device', 'page')),
    answer             TEXT,
    completion         TEXT,
    browser_hash       TEXT,
    page_until         BIGINT,
    page_terms         TEXT,
    page_cookie        TEXT,
    page_code          TEXT,
    replaced_challenge TEXT,
    notice             TEXT,
    link_user          TEXT,
    link_credential    TEXT,
    link_confirmed_at  BIGINT,
    passkey_offer      TEXT,
    claim_secret       TEXT,
    CHECK ((authenticated_at IS NULL) = (user_json IS NULL))
);
CREATE INDEX sessions_of ON sessions (account, environment, id);
CREATE INDEX sessions_hosted ON sessions (challenge) WHERE hosted_url IS NOT NULL;
CREATE INDEX sessions_paged ON sessions (substr(id, 30)) WHERE page_until IS NOT NULL;
CREATE INDEX sessions_replaced ON sessions (replaced_challenge) WHERE replaced_challenge IS NOT NULL;
CREATE INDEX sessions_linked ON sessions (link_user) WHERE link_user IS NOT NULL;
CREATE INDEX sessions_own ON sessions (id) WHERE authenticated_at IS NULL AND page_terms LIKE '%"purpose":%';

-- The responses to requests with an Idempotency-Key.
CREATE TABLE idempotency_keys (
    account     TEXT   NOT NULL,
    environment TEXT   NOT NULL,
    key         TEXT   NOT NULL,
    asked       TEXT   NOT NULL,
    reply       TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (account, environment, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

CREATE TABLE users (
    domain_id           TEXT   NOT NULL,
    id                  TEXT   NOT NULL,
    petname             TEXT   NOT NULL,
    created_at          BIGINT NOT NULL,
    last_login_at       BIGINT,
    name                TEXT,
    groups              TEXT,
    passkey_handle      TEXT,
    passkey_declined_at BIGINT,
    signed_out_at       BIGINT,
    PRIMARY KEY (domain_id, id)
);

-- Every petname that was ever given, so that none is given again.
CREATE TABLE petnames (
    domain_id TEXT NOT NULL,
    petname   TEXT NOT NULL,
    PRIMARY KEY (domain_id, petname)
);

CREATE TABLE credentials (
    domain_id     TEXT   NOT NULL,
    public_key    TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    id            TEXT   NOT NULL,
    user_id       TEXT   NOT NULL,
    kind          TEXT   NOT NULL CHECK (kind IN ('wallet', 'lightning', 'passkey')),
    name          TEXT   NOT NULL,
    passkey_id    TEXT,
    sign_count    BIGINT,
    last_login_at BIGINT,
    PRIMARY KEY (domain_id, public_key)
);
CREATE INDEX credentials_of ON credentials (domain_id, user_id);
CREATE UNIQUE INDEX credentials_passkey ON credentials (passkey_id) WHERE passkey_id IS NOT NULL;

CREATE TABLE browser_sessions (
    id               TEXT   NOT NULL PRIMARY KEY,
    cookie           TEXT   NOT NULL,
    environment      TEXT   NOT NULL CHECK (environment IN ('live', 'sandbox')),
    domain_id        TEXT   NOT NULL,
    session_id       TEXT   NOT NULL,
    created_at       BIGINT NOT NULL,
    last_used_at     BIGINT NOT NULL,
    user_id          TEXT,
    public_key       TEXT,
    method           TEXT,
    authenticated_at BIGINT,
    console_used_at  BIGINT
);
CREATE UNIQUE INDEX browser_sessions_begun ON browser_sessions (session_id);
CREATE INDEX browser_sessions_cookie ON browser_sessions (cookie);
CREATE INDEX browser_sessions_user ON browser_sessions (domain_id, user_id);

-- Endpoints whose deliveries have failed for some time.
CREATE TABLE endpoints (
    account       TEXT   NOT NULL,
    environment   TEXT   NOT NULL,
    endpoint      TEXT   NOT NULL,
    failing_since BIGINT NOT NULL,
    disabled_at   BIGINT,
    next_probe_at BIGINT NOT NULL,
    PRIMARY KEY (account, environment, endpoint)
);
CREATE INDEX endpoints_disabled ON endpoints ((environment || ' ' || account), endpoint) WHERE disabled_at IS NOT NULL;
CREATE INDEX endpoints_failing ON endpoints (failing_since, endpoint);

-- Events and the result of their deliveries. The body is made once; every attempt sends the same bytes.
CREATE TABLE deliveries (
    id              TEXT   NOT NULL PRIMARY KEY,
    account         TEXT   NOT NULL,
    environment     TEXT   NOT NULL,
    domain_id       TEXT   NOT NULL,
    url             TEXT   NOT NULL,
    endpoint        TEXT   NOT NULL,
    body            TEXT   NOT NULL,
    state           TEXT   NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
    attempts        BIGINT NOT NULL,
    created_at      BIGINT NOT NULL,
    next_attempt_at BIGINT NOT NULL,
    in_backoff      BIGINT NOT NULL DEFAULT 0,
    leased_until    BIGINT,
    ended_at        BIGINT,
    last_status     BIGINT,
    last_error      TEXT,
    last_answer     TEXT,
    past_attempts   TEXT
);
CREATE INDEX deliveries_ended ON deliveries (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX deliveries_of ON deliveries (account, environment, id);
CREATE INDEX deliveries_ready ON deliveries ((environment || ' ' || account), endpoint, next_attempt_at, id)
    WHERE state = 'pending' AND in_backoff = 0;
CREATE INDEX deliveries_refused ON deliveries ((environment || ' ' || account), endpoint, next_attempt_at, id)
    WHERE state = 'pending' AND in_backoff = 1;
CREATE INDEX deliveries_backoff ON deliveries (next_attempt_at) WHERE state = 'pending' AND in_backoff = 1;
-- The expression keeps PostgreSQL from this index where another one of pending deliveries fits better.
CREATE INDEX deliveries_next ON deliveries (next_attempt_at) WHERE state || '' = 'pending';
CREATE INDEX deliveries_failed ON deliveries (id) WHERE state = 'failed';
CREATE INDEX deliveries_failed_of ON deliveries (domain_id, id) WHERE state = 'failed';
CREATE INDEX deliveries_failed_in ON deliveries (account, environment, id) WHERE state = 'failed';
CREATE INDEX deliveries_failed_to ON deliveries (account, environment, endpoint, id) WHERE state = 'failed';

-- Rows are added, and deleted after a year; nothing changes one.
CREATE TABLE audit (
    id          TEXT   NOT NULL PRIMARY KEY,
    at          BIGINT NOT NULL,
    account     TEXT   NOT NULL,
    environment TEXT   NOT NULL,
    actor       TEXT   NOT NULL,
    action      TEXT   NOT NULL,
    object      TEXT   NOT NULL,
    details     TEXT   NOT NULL
);
CREATE INDEX audit_action ON audit (action, id);

CREATE TABLE openid_clients (
    id                   TEXT   NOT NULL PRIMARY KEY,
    domain_id            TEXT   NOT NULL,
    settings             TEXT   NOT NULL,
    created_at           BIGINT NOT NULL,
    secret_hash          TEXT,
    previous_secret_hash TEXT,
    previous_until       BIGINT
);
CREATE INDEX openid_clients_domain ON openid_clients (domain_id, id);

CREATE TABLE signing_keys (
    kid         TEXT   NOT NULL PRIMARY KEY,
    environment TEXT   NOT NULL CHECK (environment IN ('live', 'sandbox')),
    algorithm   TEXT   NOT NULL CHECK (algorithm IN ('RS256', 'ES256')),
    number      BIGINT NOT NULL,
    private_key TEXT   NOT NULL,
    public_key  TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    active_from BIGINT NOT NULL
);
CREATE UNIQUE INDEX signing_keys_order ON signing_keys (environment, algorithm, number);

CREATE TABLE openid_authorizations (
    id         TEXT   NOT NULL PRIMARY KEY,
    client_id  TEXT   NOT NULL,
    domain_id  TEXT   NOT NULL,
    cookie     TEXT   NOT NULL,
    query      TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    session_id TEXT
);
CREATE UNIQUE INDEX openid_authorizations_session ON openid_authorizations (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE openid_grants (
    id                 TEXT   NOT NULL PRIMARY KEY,
    client_id          TEXT   NOT NULL,
    domain_id          TEXT   NOT NULL,
    user_id            TEXT   NOT NULL,
    public_key         TEXT   NOT NULL,
    method             TEXT   NOT NULL,
    authenticated_at   BIGINT NOT NULL,
    browser_session_id TEXT   NOT NULL,
    scopes             TEXT   NOT NULL,
    nonce              TEXT,
    redirect_uri       TEXT   NOT NULL,
    code_challenge     TEXT,
    code_hash          TEXT   NOT NULL,
    created_at         BIGINT NOT NULL,
    redeemed_at        BIGINT,
    revoked_at         BIGINT
);
CREATE UNIQUE INDEX openid_grants_code ON openid_grants (code_hash);
CREATE INDEX openid_grants_user ON openid_grants (domain_id, user_id);
CREATE INDEX openid_grants_client ON openid_grants (client_id);
CREATE INDEX openid_grants_browser ON openid_grants (browser_session_id);

CREATE TABLE openid_tokens (
    hash        TEXT   NOT NULL PRIMARY KEY,
    grant_id    TEXT   NOT NULL,
    kind        TEXT   NOT NULL CHECK (kind IN ('access', 'refresh', 'session')),
    created_at  BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    replaced_at BIGINT,
    successor   TEXT,
    scopes      TEXT
);
CREATE INDEX openid_tokens_grant ON openid_tokens (grant_id);
CREATE INDEX openid_tokens_end ON openid_tokens (expires_at);

CREATE TABLE openid_consents (
    domain_id TEXT   NOT NULL,
    user_id   TEXT   NOT NULL,
    client_id TEXT   NOT NULL,
    scopes    TEXT   NOT NULL,
    agreed_at BIGINT NOT NULL,
    PRIMARY KEY (domain_id, user_id, client_id)
);

CREATE TABLE operators (
    user_id  TEXT   NOT NULL PRIMARY KEY,
    added_at BIGINT NOT NULL,
    added_by TEXT   NOT NULL
);

CREATE TABLE console_links (
    token      TEXT   NOT NULL PRIMARY KEY,
    made_by    TEXT   NOT NULL,
    made_at    BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    browser    TEXT,
    used_at    BIGINT
);
CREATE UNIQUE INDEX console_links_browser ON console_links (browser) WHERE browser IS NOT NULL;

-- Each source keeps its own rows and its own attribution.
CREATE TABLE atm_sources (
    name        TEXT   NOT NULL PRIMARY KEY,
    attribution TEXT   NOT NULL,
    imported_at BIGINT NOT NULL
);

-- A removed ATM keeps its row, so that its ID is never given to another.
CREATE TABLE atms (
    id         BIGINT NOT NULL PRIMARY KEY,
    source     TEXT   NOT NULL,
    ref        TEXT   NOT NULL,
    record     TEXT   NOT NULL,
    first_seen BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    removed_at BIGINT,
    UNIQUE (source, ref)
);
CREATE INDEX atms_gone ON atms (source) WHERE removed_at IS NOT NULL;

-- Rows that are never merged with a row of another source.
CREATE TABLE atm_apart (id BIGINT NOT NULL PRIMARY KEY);

CREATE TABLE atm_feeds (
    name          TEXT   NOT NULL PRIMARY KEY,
    url           TEXT   NOT NULL,
    format        TEXT   NOT NULL,
    attribution   TEXT   NOT NULL,
    every_ms      BIGINT,
    etag          TEXT,
    last_modified TEXT,
    synced_to     BIGINT,
    fetched_at    BIGINT,
    failures      BIGINT NOT NULL,
    next_at       BIGINT NOT NULL,
    last_error    TEXT
);

CREATE TABLE atm_reports (
    id           TEXT   NOT NULL PRIMARY KEY,
    atm_id       BIGINT NOT NULL,
    operator     TEXT   NOT NULL,
    seen         TEXT   NOT NULL CHECK (seen IN ('there', 'gone', 'broken', 'wrong_place', 'wrong_hours', 'other')),
    how          TEXT   CHECK (how IN ('used', 'saw', 'asked', 'phoned')),
    seen_at      BIGINT NOT NULL,
    text         TEXT,
    text_hash    TEXT,
    reporter     TEXT,
    weight       TEXT   NOT NULL,
    voice        TEXT   NOT NULL,
    proof        TEXT,
    created_at   BIGINT NOT NULL,
    held         TEXT,
    state        TEXT   NOT NULL
                 CHECK (state IN ('new', 'shown', 'accepted', 'rejected', 'duplicate', 'expired')),
    decided_by   TEXT,
    decided_at   BIGINT,
    decided_from TEXT,
    address      TEXT,
    network      TEXT
);
CREATE INDEX atm_reports_machine ON atm_reports (atm_id, id);
CREATE INDEX atm_reports_state ON atm_reports (state, id);
CREATE INDEX atm_reports_time ON atm_reports (created_at);
CREATE INDEX atm_reports_operator ON atm_reports (operator, created_at);
CREATE INDEX atm_reports_reporter ON atm_reports (reporter, created_at) WHERE reporter IS NOT NULL;
CREATE INDEX atm_reports_address ON atm_reports (address) WHERE address IS NOT NULL;
CREATE INDEX atm_reports_network ON atm_reports (network) WHERE network IS NOT NULL;
CREATE INDEX atm_reports_text ON atm_reports (text_hash) WHERE text_hash IS NOT NULL;
CREATE UNIQUE INDEX atm_reports_proof ON atm_reports (proof) WHERE proof IS NOT NULL;

CREATE TABLE atm_report_bans (
    reporter  TEXT   NOT NULL PRIMARY KEY,
    banned_at BIGINT NOT NULL
);

CREATE TABLE atm_report_salts (
    day  BIGINT NOT NULL PRIMARY KEY,
    salt TEXT   NOT NULL
);

-- The databases whose rows were copied into this one, and the position that was reached.
CREATE TABLE moves (
    source   TEXT   NOT NULL PRIMARY KEY,
    begun_at BIGINT NOT NULL,
    ended_at BIGINT,
    reached  TEXT
);

-- The running servers and the encryption key of each.
CREATE TABLE servers (
    id              TEXT   NOT NULL PRIMARY KEY,
    key_fingerprint TEXT   NOT NULL,
    seen_at         BIGINT NOT NULL
);

-- Tables of one row.

-- Increases with every change of the catalogue: running servers watch it, and of two simultaneous imports one is refused.
CREATE TABLE catalogue (version BIGINT NOT NULL);
INSERT INTO catalogue (version) VALUES (0);

CREATE TABLE atm_report_state (version BIGINT NOT NULL);
INSERT INTO atm_report_state (version) VALUES (0);

CREATE TABLE deployment (public_address TEXT, untrusted_proxy TEXT, untrusted_proxy_at BIGINT);
INSERT INTO deployment (public_address) VALUES (NULL);

CREATE TABLE encryption_key (fingerprint TEXT, old_fingerprint TEXT);
INSERT INTO encryption_key (fingerprint) VALUES (NULL);

CREATE TABLE probe (at BIGINT NOT NULL);
INSERT INTO probe (at) VALUES (0);
