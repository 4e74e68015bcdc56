-- Which endpoints something waits for, and what of it comes first.
CREATE INDEX deliveries_pending ON deliveries (endpoint, account, environment, next_attempt_at, id)
    WHERE state = 'pending';

-- Where the rows of this database were taken from, and how far that is.
CREATE TABLE moves (
    source   TEXT   PRIMARY KEY,
    begun_at BIGINT NOT NULL,
    ended_at BIGINT,
    reached  TEXT
);
