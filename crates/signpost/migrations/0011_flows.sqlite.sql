-- A session may also be shown on a page of the service. A check of a column goes with the column alone.
ALTER TABLE sessions ADD COLUMN any_flow TEXT NOT NULL DEFAULT 'cross_device'
    CHECK (any_flow IN ('cross_device', 'same_device', 'page'));
UPDATE sessions SET any_flow = flow;
ALTER TABLE sessions DROP COLUMN flow;
ALTER TABLE sessions RENAME COLUMN any_flow TO flow;
