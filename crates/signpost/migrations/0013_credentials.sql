-- What authenticators know a user by, from the first passkey on, and when somebody last wanted none.
ALTER TABLE hosted_users ADD COLUMN passkey_handle TEXT;
ALTER TABLE hosted_users ADD COLUMN passkey_declined_at BIGINT;

-- A passkey has, beside its key, the name that its authenticator gave it, which no other passkey has, and a counter.
ALTER TABLE users ADD COLUMN passkey_id TEXT;
ALTER TABLE users ADD COLUMN sign_count BIGINT;
CREATE UNIQUE INDEX users_passkey ON users (passkey_id) WHERE passkey_id IS NOT NULL;

-- Whose account a session links a key to, since when the owner of its page said that the key is theirs, and what became
-- of the offer of a passkey. What a server of an older version reads of a link is an error there.
ALTER TABLE sessions ADD COLUMN link_user TEXT;
ALTER TABLE sessions ADD COLUMN link_confirmed_at BIGINT;
ALTER TABLE sessions ADD COLUMN passkey_offer TEXT;
