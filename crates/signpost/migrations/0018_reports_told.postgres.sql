-- Other servers on this database show a report as soon as it is there.
CREATE TRIGGER tell AFTER UPDATE ON atm_report_state FOR EACH STATEMENT EXECUTE FUNCTION tell();
