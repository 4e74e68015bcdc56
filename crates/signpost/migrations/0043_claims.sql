-- The hash of the secret in the fragment of a link that an operator hands over: only a browser that brings it owns the page.
ALTER TABLE sessions ADD COLUMN claim_secret TEXT;
