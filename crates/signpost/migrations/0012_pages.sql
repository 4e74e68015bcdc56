-- What a session has that is shown on a page of the service: the hash of the secret that the site's browser brings back,
-- until when the page renews its code by itself, what the creation asked for, the browser that owns it with the hash of
-- its completion code, the challenge before the current one, and why an answer was refused last.
ALTER TABLE sessions ADD COLUMN browser_hash TEXT;
ALTER TABLE sessions ADD COLUMN page_until BIGINT;
ALTER TABLE sessions ADD COLUMN page_terms TEXT;
ALTER TABLE sessions ADD COLUMN page_cookie TEXT;
ALTER TABLE sessions ADD COLUMN page_code TEXT;
ALTER TABLE sessions ADD COLUMN replaced_challenge TEXT;
ALTER TABLE sessions ADD COLUMN notice TEXT;

-- A Lightning wallet names the last 12 characters of an id, and nothing else of the session.
CREATE INDEX sessions_paged ON sessions (substr(id, 30)) WHERE page_until IS NOT NULL;
-- A wallet that signed a code which was replaced meanwhile is told so.
CREATE INDEX sessions_replaced ON sessions (replaced_challenge) WHERE replaced_challenge IS NOT NULL;
