-- Other servers on this database are told what changed. Each schema has a channel of its own.

CREATE FUNCTION tell_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('signpost_' || TG_TABLE_SCHEMA, 'session ' || NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER tell AFTER UPDATE ON sessions FOR EACH ROW EXECUTE FUNCTION tell_session();

-- Tables of which little changes are told of as a whole.
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('signpost_' || TG_TABLE_SCHEMA, TG_TABLE_NAME);
    RETURN NULL;
END $$;
CREATE TRIGGER tell AFTER INSERT OR UPDATE OR DELETE ON domains FOR EACH STATEMENT EXECUTE FUNCTION tell();
CREATE TRIGGER tell AFTER UPDATE ON catalogue FOR EACH STATEMENT EXECUTE FUNCTION tell();

-- Rows of these are changed soon after they were made, in columns that no index has: with room beside them, the new
-- version stays on the page and no index learns of it.
ALTER TABLE sessions SET (fillfactor = 75);
ALTER TABLE deliveries SET (fillfactor = 75);
