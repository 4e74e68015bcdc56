-- What people say of machines. The hashes of addresses go after a day, and whose they were cannot be told once the salt of
-- their day is gone.
CREATE TABLE atm_reports (
    id         TEXT   NOT NULL PRIMARY KEY,
    atm_id     BIGINT NOT NULL,
    operator   TEXT   NOT NULL,
    seen       TEXT   NOT NULL CHECK (seen IN ('there', 'gone', 'broken', 'wrong_place', 'wrong_hours', 'other')),
    how        TEXT   CHECK (how IN ('used', 'saw', 'asked', 'phoned')),
    seen_at    BIGINT NOT NULL,
    text       TEXT,
    text_hash  TEXT,
    reporter   TEXT,
    weight     TEXT   NOT NULL,
    voice      TEXT   NOT NULL,
    proof      TEXT,
    created_at BIGINT NOT NULL,
    held       TEXT,
    state      TEXT   NOT NULL
               CHECK (state IN ('new', 'shown', 'accepted', 'rejected', 'duplicate', 'expired')),
    decided_by TEXT,
    decided_at BIGINT,
    address    TEXT,
    network    TEXT
);
CREATE INDEX atm_reports_machine ON atm_reports (atm_id, id);
CREATE INDEX atm_reports_state ON atm_reports (state, id);
CREATE INDEX atm_reports_time ON atm_reports (created_at);
CREATE INDEX atm_reports_operator ON atm_reports (operator, created_at);
CREATE INDEX atm_reports_reporter ON atm_reports (reporter, created_at) WHERE reporter IS NOT NULL;
CREATE INDEX atm_reports_address ON atm_reports (address) WHERE address IS NOT NULL;
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

-- Which change of the reports is the last: a report is admitted by what was read of the others, unless they changed since.
CREATE TABLE atm_report_state (version BIGINT NOT NULL);
INSERT INTO atm_report_state VALUES (0);
