-- Who is signed in at the login host, by a cookie, for days, at which domain. A row without a user is a login whose site
-- has not completed it. The key is the one that proved it: when its user loses it, the row says nothing any more.
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
    authenticated_at BIGINT
);
CREATE UNIQUE INDEX browser_sessions_begun ON browser_sessions (session_id);
CREATE INDEX browser_sessions_cookie ON browser_sessions (cookie);
CREATE INDEX browser_sessions_user ON browser_sessions (domain_id, user_id);
