-- An event that waits for its next attempt is apart from those that are ready for one: only these' endpoints are looked at,
-- owner by owner, an owner being an account in an environment. What became due is made ready, along its own index.
ALTER TABLE deliveries ADD COLUMN in_backoff BIGINT NOT NULL DEFAULT 0;
UPDATE deliveries SET in_backoff = 1 WHERE state = 'pending' AND attempts > 0 AND leased_until IS NULL;
-- The owner as one text: a planner without statistics would take any other index that begins with the account.
CREATE INDEX deliveries_ready ON deliveries ((environment || ' ' || account), endpoint, next_attempt_at, id)
    WHERE state = 'pending' AND in_backoff = 0;
CREATE INDEX deliveries_backoff ON deliveries (next_attempt_at) WHERE state = 'pending' AND in_backoff = 1;
CREATE INDEX endpoints_disabled ON endpoints ((environment || ' ' || account), endpoint) WHERE disabled_at IS NOT NULL;
-- An older server finds its way without it, if slower.
DROP INDEX deliveries_pending;
