-- When the next event is due is asked along an index that no other question can be answered along: without statistics of
-- the moment a planner took `deliveries_due` for the end of one event, or to go from endpoint to endpoint, and walked
-- through everything that waits. An older server finds its way without it, if slower.
CREATE INDEX deliveries_next ON deliveries (next_attempt_at) WHERE state || '' = 'pending';
DROP INDEX deliveries_due;
