-- Servers keep sessions of applications in memory, and are told what ends or changes one.
CREATE FUNCTION tell_app_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('signpost_' || TG_TABLE_SCHEMA, 'app_session ' || OLD.hash);
    RETURN NULL;
END $$;
CREATE TRIGGER tell AFTER UPDATE OR DELETE ON openid_tokens
FOR EACH ROW WHEN (OLD.kind = 'session') EXECUTE FUNCTION tell_app_session();

-- Of what changes seldom, all of them are told as one. A login changes other columns of users and their keys.
CREATE FUNCTION tell_app_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('signpost_' || TG_TABLE_SCHEMA, 'app_sessions');
    RETURN NULL;
END $$;
CREATE TRIGGER tell_app_sessions AFTER UPDATE OR DELETE ON openid_clients
FOR EACH STATEMENT EXECUTE FUNCTION tell_app_sessions();
CREATE TRIGGER tell_app_sessions AFTER UPDATE OF revoked_at OR DELETE ON openid_grants
FOR EACH STATEMENT EXECUTE FUNCTION tell_app_sessions();
CREATE TRIGGER tell_app_sessions AFTER UPDATE OF name, groups, signed_out_at OR DELETE ON hosted_users
FOR EACH STATEMENT EXECUTE FUNCTION tell_app_sessions();
CREATE TRIGGER tell_app_sessions AFTER UPDATE OF user_id, public_key OR DELETE ON users
FOR EACH STATEMENT EXECUTE FUNCTION tell_app_sessions();
