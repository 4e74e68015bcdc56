-- A session that its integrator called off. It stays readable as such, like one that expired.
ALTER TABLE sessions ADD COLUMN cancelled_at BIGINT;

-- What is over is deleted in time: sessions by their ids, which begin with the time, deliveries by their end.
CREATE INDEX deliveries_ended ON deliveries (ended_at) WHERE ended_at IS NOT NULL;
