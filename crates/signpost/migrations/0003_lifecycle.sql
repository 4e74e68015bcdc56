-- A session that its integrator called off. It stays readable as such, like one that expired.
ALTER TABLE sessions ADD COLUMN cancelled_at BIGINT;

-- What is over is deleted in time: sessions by their ids, which begin with the time, deliveries by their end.
CREATE INDEX deliveries_ended ON deliveries (ended_at) WHERE ended_at IS NOT NULL;

-- The secrets of domains that are gone, for the events that were queued before.
CREATE TABLE deleted_domains (
    id                  TEXT   PRIMARY KEY,
    webhook_secret      TEXT   NOT NULL,
    next_webhook_secret TEXT,
    deleted_at          BIGINT NOT NULL
);

-- What was answered to a creation that named a key, so that asking again creates nothing.
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

-- Number match: what the page shows and the wallet must send back, and how many answers with a good signature came.
ALTER TABLE sessions ADD COLUMN confirm_code TEXT;
ALTER TABLE sessions ADD COLUMN confirm_tries BIGINT NOT NULL DEFAULT 0;

-- Proofs are looked for again: when that was last, how often in a row in vain, and since when.
ALTER TABLE domains ADD COLUMN last_checked_at BIGINT;
ALTER TABLE domains ADD COLUMN failing_since BIGINT;
ALTER TABLE domains ADD COLUMN misses BIGINT NOT NULL DEFAULT 0;
