-- Rows that are never taken for the machine of another source's row.
CREATE TABLE atm_apart (id BIGINT PRIMARY KEY);

-- What is remembered of a source that is fetched: what to ask its server with next time, and when.
CREATE TABLE atm_feeds (
    name          TEXT   PRIMARY KEY,
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

-- What a key opens: the authentication API, or the reporting of an operator's own machines.
ALTER TABLE api_keys ADD COLUMN scope TEXT NOT NULL DEFAULT 'auth' CHECK (scope IN ('auth', 'atms'));
