-- Standard login. A client is an application that people log in to by this server, within one domain.
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

-- The keys that sign ID tokens, in the order in which they do.
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

-- Requests that wait for their person, each for the browser that it came from.
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

-- What a client has of one login. The key is the one that proved it: when its user loses it, the grant is over.
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
    successor   TEXT
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

-- Since when none of a user's sign-ins of before counts, anywhere.
ALTER TABLE hosted_users ADD COLUMN signed_out_at BIGINT;
