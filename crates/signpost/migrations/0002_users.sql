-- Identifiers that sites give to users, and everything else that this version adds. Older servers ignore all of it.

ALTER TABLE users ADD COLUMN username TEXT;
ALTER TABLE users ADD COLUMN external_id TEXT;
ALTER TABLE users ADD COLUMN email TEXT;
ALTER TABLE users ADD COLUMN metadata TEXT;
CREATE INDEX users_username ON users (domain_id, (COALESCE(username, petname)));

-- The identifiers that are unique in a domain. A username is an HMAC, and stays when its user changes it or is removed, so that
-- no other user ever gets it.
CREATE TABLE user_identifiers (
    domain_id TEXT NOT NULL,
    kind      TEXT NOT NULL CHECK (kind IN ('username', 'external_id', 'email')),
    value     TEXT NOT NULL,
    user_id   TEXT,
    PRIMARY KEY (domain_id, kind, value)
);
CREATE INDEX user_identifiers_user ON user_identifiers (domain_id, user_id) WHERE user_id IS NOT NULL;

-- The key of these HMACs, in a table of one row. The first server that needs it creates it.
CREATE TABLE username_key (key TEXT);
INSERT INTO username_key (key) VALUES (NULL);

-- The scopes of an API key besides the scope in `scope`, separated by commas.
ALTER TABLE api_keys ADD COLUMN extra_scopes TEXT;

-- The kinds of events that a domain receives, separated by commas. NULL is the default of its handler.
ALTER TABLE domains ADD COLUMN events TEXT;

-- The browser of a sign-in: its User-Agent, which is removed after 30 days, and its name.
ALTER TABLE browser_sessions ADD COLUMN user_agent TEXT;
ALTER TABLE browser_sessions ADD COLUMN browser_family TEXT;
ALTER TABLE openid_grants ADD COLUMN user_agent TEXT;
ALTER TABLE openid_grants ADD COLUMN browser_family TEXT;
