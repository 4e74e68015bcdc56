-- A session may also be shown on a page of the service. What a server of an older version reads of such a session is an
-- error there, and never one of the flows that it knows.
ALTER TABLE sessions DROP CONSTRAINT sessions_flow_check;
ALTER TABLE sessions ADD CONSTRAINT sessions_flow_check CHECK (flow IN ('cross_device', 'same_device', 'page'));
