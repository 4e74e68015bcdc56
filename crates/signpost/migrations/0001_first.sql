-- Times are Unix milliseconds. One text for every database that the store knows.

CREATE TABLE api_keys (
    id          TEXT   PRIMARY KEY,
    account     TEXT   NOT NULL,
    environment TEXT   NOT NULL CHECK (environment IN ('live', 'sandbox')),
    name        TEXT   NOT NULL,
    hash        TEXT   NOT NULL UNIQUE,
    created_at  BIGINT NOT NULL,
    revoked_at  BIGINT
);

CREATE TABLE domains (
    id                  TEXT   PRIMARY KEY,
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
    UNIQUE (account, environment, name)
);
-- Whether another account has proved a name, one above or one below it, is asked whenever an unproved one is used.
-- All of these share the apex, the name right below a public suffix.
CREATE INDEX domains_verified ON domains (environment, apex) WHERE verified_at IS NOT NULL;

-- Ids begin with the time, so both this table and its index grow at their end. That a session expired is not
-- remembered: it follows from the clock.
CREATE TABLE sessions (
    id               TEXT   PRIMARY KEY,
    account          TEXT   NOT NULL,
    environment      TEXT   NOT NULL CHECK (environment IN ('live', 'sandbox')),
    domain_id        TEXT   NOT NULL,
    challenge        TEXT   NOT NULL,
    webhook_url      TEXT   NOT NULL,
    metadata         TEXT,
    created_at       BIGINT NOT NULL,
    expires_at       BIGINT NOT NULL,
    authenticated_at BIGINT,
    user_json        TEXT,
    CHECK ((authenticated_at IS NULL) = (user_json IS NULL))
);

-- An event and what became of it. The body is made once; every attempt sends the same bytes.
CREATE TABLE deliveries (
    id              TEXT   PRIMARY KEY,
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
    leased_until    BIGINT,
    ended_at        BIGINT,
    last_status     BIGINT,
    last_error      TEXT
);
CREATE INDEX deliveries_due ON deliveries (next_attempt_at) WHERE state = 'pending';

-- Where machines come from. Each source keeps its own rows and its own attribution.
CREATE TABLE atm_sources (
    name        TEXT   PRIMARY KEY,
    attribution TEXT   NOT NULL,
    imported_at BIGINT NOT NULL
);

-- A machine that is gone keeps its row, so that its id is never given to another.
CREATE TABLE atms (
    id         BIGINT PRIMARY KEY,
    source     TEXT   NOT NULL,
    ref        TEXT   NOT NULL,
    record     TEXT   NOT NULL,
    first_seen BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    removed_at BIGINT,
    UNIQUE (source, ref)
);

-- Goes up with every change of the catalogue: running servers watch it, and of two imports at once one is refused.
CREATE TABLE catalogue (version BIGINT NOT NULL);
INSERT INTO catalogue (version) VALUES (0);
