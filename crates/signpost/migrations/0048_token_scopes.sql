-- The scopes of an access token that a refresh narrowed; NULL is those of its grant.
ALTER TABLE openid_tokens ADD COLUMN scopes TEXT;
