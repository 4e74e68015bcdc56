-- The address of the last connection from a private network that named other clients without being a trusted proxy, and when,
-- in milliseconds since 1970: the doctor names it.
ALTER TABLE deployment ADD COLUMN untrusted_proxy TEXT;
ALTER TABLE deployment ADD COLUMN untrusted_proxy_at BIGINT;
