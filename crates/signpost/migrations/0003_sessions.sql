-- A session that its integrator called off. It stays readable as such, like one that expired.
ALTER TABLE sessions ADD COLUMN cancelled_at BIGINT;

-- What is over is deleted in time: sessions by their ids, which begin with the time, deliveries by their end.
CREATE INDEX deliveries_ended ON deliveries (ended_at) WHERE ended_at IS NOT NULL;

-- The secrets of domains that are gone, for the events that were queued before.
CREATE TABLE deleted_domains (
    id                  TEXT   PRIMARY KEY,
    webhook_secret      TEXT   NOT NULL,
    next_webhook_secret TEXT,
    deleted_at          BIGINT NOT NULL
);
