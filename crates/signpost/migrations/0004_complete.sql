-- What a session may have beyond its challenge: the hash of what lets a page follow it, where the service itself takes
-- the answer, who asked for it, and, on one device, the answer that waits for its completion code.
ALTER TABLE sessions ADD COLUMN client_secret TEXT;
ALTER TABLE sessions ADD COLUMN hosted_url TEXT;
ALTER TABLE sessions ADD COLUMN requester TEXT;
ALTER TABLE sessions ADD COLUMN flow TEXT NOT NULL DEFAULT 'cross_device' CHECK (flow IN ('cross_device', 'same_device'));
ALTER TABLE sessions ADD COLUMN answer TEXT;
ALTER TABLE sessions ADD COLUMN completion TEXT;
CREATE INDEX sessions_of ON sessions (account, environment, id);
-- A wallet that posts to the service names a challenge and nothing else.
CREATE INDEX sessions_hosted ON sessions (challenge) WHERE hosted_url IS NOT NULL;

-- Who answers the wallets of a domain: its integrator, or the service, which then keeps the users.
ALTER TABLE domains ADD COLUMN handler TEXT NOT NULL DEFAULT 'direct' CHECK (handler IN ('direct', 'hosted'));

CREATE TABLE users (
    domain_id     TEXT   NOT NULL,
    public_key    TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    last_login_at BIGINT,
    PRIMARY KEY (domain_id, public_key)
);

-- An endpoint that has only failed for days is left alone but for a probe an hour.
CREATE TABLE endpoints (
    account       TEXT   NOT NULL,
    environment   TEXT   NOT NULL,
    endpoint      TEXT   NOT NULL,
    failing_since BIGINT NOT NULL,
    disabled_at   BIGINT,
    next_probe_at BIGINT NOT NULL,
    PRIMARY KEY (account, environment, endpoint)
);

-- What a public endpoint said last; private ones are never quoted.
ALTER TABLE deliveries ADD COLUMN last_answer TEXT;
CREATE INDEX deliveries_of ON deliveries (account, environment, id);

-- When a key opened something last, to the minute, and when one that was replaced ends.
ALTER TABLE api_keys ADD COLUMN last_used_at BIGINT;
ALTER TABLE api_keys ADD COLUMN expires_at BIGINT;

-- Who did what, and who was refused. Rows are added and, after a year, forgotten; nothing changes one.
CREATE TABLE audit (
    id          TEXT   PRIMARY KEY,
    at          BIGINT NOT NULL,
    account     TEXT   NOT NULL,
    environment TEXT   NOT NULL,
    actor       TEXT   NOT NULL,
    action      TEXT   NOT NULL,
    object      TEXT   NOT NULL,
    details     TEXT   NOT NULL
);
