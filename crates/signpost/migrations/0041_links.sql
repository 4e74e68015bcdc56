-- The credential by which the user of a link was logged in when it was opened. None for links that an operator created.
ALTER TABLE sessions ADD COLUMN link_credential TEXT;
-- What takes a permission away cancels the links that were opened by it.
CREATE INDEX sessions_linked ON sessions (link_user) WHERE link_user IS NOT NULL;
