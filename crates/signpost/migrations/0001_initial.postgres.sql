-- Servers that share a PostgreSQL database notify each other of changes. Each schema has its own channel.

CREATE FUNCTION tell_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('signpost_' || TG_TABLE_SCHEMA, 'session ' || NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER tell AFTER UPDATE ON sessions FOR EACH ROW EXECUTE FUNCTION tell_session();

-- Tables that change seldom are named as a whole.
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('signpost_' || TG_TABLE_SCHEMA, TG_TABLE_NAME);
    RETURN NULL;
END $$;
CREATE TRIGGER tell AFTER INSERT OR UPDATE OR DELETE ON domains FOR EACH STATEMENT EXECUTE FUNCTION tell();
CREATE TRIGGER tell AFTER UPDATE ON catalogue FOR EACH STATEMENT EXECUTE FUNCTION tell();
CREATE TRIGGER tell AFTER UPDATE ON atm_report_state FOR EACH STATEMENT EXECUTE FUNCTION tell();

-- Servers keep sessions of applications (forward auth) in memory.
CREATE FUNCTION tell_app_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('signpost_' || TG_TABLE_SCHEMA, 'app_session ' || OLD.hash);
    RETURN NULL;
END $$;
CREATE TRIGGER tell AFTER UPDATE OR DELETE ON openid_tokens
FOR EACH ROW WHEN (OLD.kind = 'session') EXECUTE FUNCTION tell_app_session();

-- A login changes other columns of users and credentials.
CREATE FUNCTION tell_app_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('signpost_' || TG_TABLE_SCHEMA, 'app_sessions');
    RETURN NULL;
END $$;
CREATE TRIGGER tell_app_sessions AFTER UPDATE OR DELETE ON openid_clients
FOR EACH STATEMENT EXECUTE FUNCTION tell_app_sessions();
CREATE TRIGGER tell_app_sessions AFTER UPDATE OF revoked_at OR DELETE ON openid_grants
FOR EACH STATEMENT EXECUTE FUNCTION tell_app_sessions();
CREATE TRIGGER tell_app_sessions AFTER UPDATE OF name, groups, signed_out_at OR DELETE ON users
FOR EACH STATEMENT EXECUTE FUNCTION tell_app_sessions();
CREATE TRIGGER tell_app_sessions AFTER UPDATE OF user_id, public_key OR DELETE ON credentials
FOR EACH STATEMENT EXECUTE FUNCTION tell_app_sessions();

-- Rows of these tables are updated soon after their insertion, in columns without an index: with free space on the page the
-- new version stays there, and no index changes (HOT).
ALTER TABLE sessions SET (fillfactor = 75);
ALTER TABLE deliveries SET (fillfactor = 75);
