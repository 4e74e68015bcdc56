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
-- What failed for good is rare, and looked for often: all of it, that of one domain, of one account, and at one endpoint. What
-- waits for an endpoint is looked for by whoever asks why it fails.
CREATE INDEX deliveries_failed ON deliveries (id) WHERE state = 'failed';
CREATE INDEX deliveries_failed_of ON deliveries (domain_id, id) WHERE state = 'failed';
CREATE INDEX deliveries_failed_in ON deliveries (account, environment, id) WHERE state = 'failed';
CREATE INDEX deliveries_failed_to ON deliveries (account, environment, endpoint, id) WHERE state = 'failed';
CREATE INDEX deliveries_refused ON deliveries ((environment || ' ' || account), endpoint, next_attempt_at, id)
    WHERE state = 'pending' AND in_backoff = 1;
-- So is a proof that is missing, an endpoint that fails, a key that works, and a machine that is gone.
CREATE INDEX domains_failing ON domains (failing_since, id) WHERE failing_since IS NOT NULL;
CREATE INDEX endpoints_failing ON endpoints (failing_since, endpoint);
CREATE INDEX api_keys_made ON api_keys (created_at, id);
CREATE INDEX api_keys_working ON api_keys (id) WHERE revoked_at IS NULL;
CREATE INDEX atms_gone ON atms (source) WHERE removed_at IS NOT NULL;
CREATE INDEX audit_action ON audit (action, id);
