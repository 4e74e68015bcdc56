-- The fingerprint of the key that the secrets are encrypted with, and of the key before during a rotation: one row. NULL:
-- the secrets are in plain text. 'unknown': they were encrypted before fingerprints were recorded, and the first process
-- whose key decrypts all of them records it.
CREATE TABLE encryption_key (fingerprint TEXT, old_fingerprint TEXT);
INSERT INTO encryption_key (fingerprint, old_fingerprint)
SELECT CASE WHEN
    EXISTS (SELECT 1 FROM domains WHERE webhook_secret LIKE 'sealed1:%' OR next_webhook_secret LIKE 'sealed1:%')
    OR EXISTS (SELECT 1 FROM deleted_domains
               WHERE webhook_secret LIKE 'sealed1:%' OR next_webhook_secret LIKE 'sealed1:%')
    OR EXISTS (SELECT 1 FROM signing_keys WHERE private_key LIKE 'sealed1:%')
    THEN 'unknown' END, NULL;

-- The servers that run, with the fingerprint of their key ('' without one), so that the key is not changed under them.
CREATE TABLE servers (
    id              TEXT   PRIMARY KEY,
    key_fingerprint TEXT   NOT NULL,
    seen_at         BIGINT NOT NULL
);
