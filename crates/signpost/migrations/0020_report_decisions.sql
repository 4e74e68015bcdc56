-- The state that a report was in before the moderator decided on it: what is undone becomes what it was.
ALTER TABLE atm_reports ADD COLUMN decided_from TEXT;
CREATE INDEX atm_reports_network ON atm_reports (network) WHERE network IS NOT NULL;
