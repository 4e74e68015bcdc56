-- Sessions that the login host opens for itself, for anybody who comes: those by which nobody logged in are deleted within
-- hours, not days. The terms of a page that a site opened name no purpose.
CREATE INDEX sessions_own ON sessions (id) WHERE authenticated_at IS NULL AND page_terms LIKE '%"purpose":%';
