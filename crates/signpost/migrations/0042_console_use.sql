-- When a browser session was last used at the console, which ends earlier there than elsewhere: a visit of another page does
-- not count.
ALTER TABLE browser_sessions ADD COLUMN console_used_at BIGINT;
