-- Who may use the console: users of the server's own domain, and the links by which somebody becomes one of them. A link is
-- known by the hash of its token; the browser that opens it first has it, by the hash of a cookie.
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
-- What failed for good is rare, and looked for often: all of it, and that of one domain.
CREATE INDEX deliveries_failed ON deliveries (id) WHERE state = 'failed';
CREATE INDEX deliveries_failed_of ON deliveries (domain_id, id) WHERE state = 'failed';
CREATE INDEX audit_action ON audit (action, id);
