-- Applications receive the username.
CREATE TRIGGER tell_app_sessions_of_username AFTER UPDATE OF username ON users
FOR EACH STATEMENT EXECUTE FUNCTION tell_app_sessions();
