-- Hosted domains: who may log in how, and the name that people know the site by.
ALTER TABLE domains ADD COLUMN methods TEXT;
ALTER TABLE domains ADD COLUMN registration TEXT NOT NULL DEFAULT 'open' CHECK (registration IN ('open', 'closed'));
ALTER TABLE domains ADD COLUMN display_name TEXT;

-- A user has an id and a name; what logs a user in is a key, and there may be several.
CREATE TABLE hosted_users (
    domain_id     TEXT   NOT NULL,
    id            TEXT   NOT NULL,
    petname       TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    last_login_at BIGINT,
    name          TEXT,
    groups        TEXT,
    PRIMARY KEY (domain_id, id)
);

-- Stays when the user goes, so that nobody ever gets another's name.
CREATE TABLE petnames (
    domain_id TEXT NOT NULL,
    petname   TEXT NOT NULL,
    PRIMARY KEY (domain_id, petname)
);

-- The keys stay in the table that older servers know as their users: what one of them adds or deletes while servers of
-- both versions run, the others see at once. A key that an older server added has no user until a newer one meets it.
ALTER TABLE users ADD COLUMN id TEXT;
ALTER TABLE users ADD COLUMN user_id TEXT;
ALTER TABLE users ADD COLUMN kind TEXT NOT NULL DEFAULT 'wallet' CHECK (kind IN ('wallet', 'lightning', 'passkey'));
ALTER TABLE users ADD COLUMN name TEXT NOT NULL DEFAULT '';
CREATE INDEX users_of ON users (domain_id, user_id);

-- Ids as the program spells them: 48 bits of the time, then of the domain's random ones, then the key's number there.
UPDATE users SET id = 'cred_' || made.rest, user_id = 'usr_' || made.rest, name = 'Wallet'
FROM (
    SELECT domain_id, public_key,
           substr('0123456789abcdefghjkmnpqrstvwxyz', CAST(1 + ((created_at >> 43) & 31) AS INTEGER), 1)
        || substr('0123456789abcdefghjkmnpqrstvwxyz', CAST(1 + ((created_at >> 38) & 31) AS INTEGER), 1)
        || substr('0123456789abcdefghjkmnpqrstvwxyz', CAST(1 + ((created_at >> 33) & 31) AS INTEGER), 1)
        || substr('0123456789abcdefghjkmnpqrstvwxyz', CAST(1 + ((created_at >> 28) & 31) AS INTEGER), 1)
        || substr('0123456789abcdefghjkmnpqrstvwxyz', CAST(1 + ((created_at >> 23) & 31) AS INTEGER), 1)
        || substr('0123456789abcdefghjkmnpqrstvwxyz', CAST(1 + ((created_at >> 18) & 31) AS INTEGER), 1)
        || substr('0123456789abcdefghjkmnpqrstvwxyz', CAST(1 + ((created_at >> 13) & 31) AS INTEGER), 1)
        || substr('0123456789abcdefghjkmnpqrstvwxyz', CAST(1 + ((created_at >> 8) & 31) AS INTEGER), 1)
        || substr('0123456789abcdefghjkmnpqrstvwxyz', CAST(1 + ((created_at >> 3) & 31) AS INTEGER), 1)
        || substr('0123456789abcdefghjkmnpqrstvwxyz', CAST(1 + ((created_at & 7) * 4) AS INTEGER), 1)
        || substr(domain_id, 15, 15) || substr(CAST(10000000000 + number AS TEXT), 2) || '0' AS rest
    FROM (
        SELECT domain_id, public_key, created_at,
               ROW_NUMBER() OVER (PARTITION BY domain_id ORDER BY created_at, public_key) AS number
        FROM users
    ) AS numbered
) AS made
WHERE users.domain_id = made.domain_id AND users.public_key = made.public_key;

-- Five digits and more: the program gives four.
INSERT INTO hosted_users (domain_id, id, petname, created_at, last_login_at)
WITH adjectives (number, word) AS (
    VALUES (0, 'amber'), (1, 'brave'), (2, 'calm'), (3, 'eager'), (4, 'gentle'), (5, 'jolly'), (6, 'merry'),
           (7, 'quiet'), (8, 'sunny'), (9, 'witty')
), animals (number, word) AS (
    VALUES (0, 'otter'), (1, 'badger'), (2, 'crane'), (3, 'dolphin'), (4, 'finch'), (5, 'hare'), (6, 'koala'),
           (7, 'lynx'), (8, 'puffin'), (9, 'wombat')
), numbered AS (
    SELECT domain_id, user_id, created_at, last_login_at, CAST(substr(user_id, 30, 10) AS BIGINT) AS number FROM users
)
SELECT domain_id, user_id, adjectives.word || '-' || animals.word || '-' || CAST(10000 + numbered.number AS TEXT),
       created_at, last_login_at
FROM numbered
JOIN adjectives ON adjectives.number = numbered.number % 10
JOIN animals ON animals.number = (numbered.number / 10) % 10;

INSERT INTO petnames (domain_id, petname) SELECT domain_id, petname FROM hosted_users;
