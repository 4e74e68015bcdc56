# Needs oauthenticator 17 or newer: pip install 'oauthenticator>=17'
c.JupyterHub.authenticator_class = "generic-oauth"
c.GenericOAuthenticator.login_service = "Signpost"
c.GenericOAuthenticator.client_id = "@client_id@"
c.GenericOAuthenticator.client_secret = "@client_secret@"
c.GenericOAuthenticator.oauth_callback_url = "@redirect_uri@"
c.GenericOAuthenticator.authorize_url = "@issuer@/authorize"
c.GenericOAuthenticator.token_url = "@issuer@/token"
c.GenericOAuthenticator.userdata_url = "@issuer@/userinfo"
c.GenericOAuthenticator.scope = ["openid", "profile", "email"]
c.GenericOAuthenticator.username_claim = "preferred_username"
# Who may log in is decided by the client's own list.
c.GenericOAuthenticator.allow_all = True
