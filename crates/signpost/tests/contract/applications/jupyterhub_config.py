# Needs oauthenticator 17 or newer: pip install 'oauthenticator>=17'
c.JupyterHub.authenticator_class = "generic-oauth"
c.GenericOAuthenticator.login_service = "Signpost"
c.GenericOAuthenticator.client_id = "CLIENT"
c.GenericOAuthenticator.client_secret = "SECRET"
c.GenericOAuthenticator.oauth_callback_url = "https://jupyterhub.test/tools/hub/oauth_callback"
c.GenericOAuthenticator.authorize_url = "ISSUER/authorize"
c.GenericOAuthenticator.token_url = "ISSUER/token"
c.GenericOAuthenticator.userdata_url = "ISSUER/userinfo"
c.GenericOAuthenticator.scope = ["openid", "profile", "email"]
c.GenericOAuthenticator.username_claim = "preferred_username"
# Who may log in is decided by the client's own list.
c.GenericOAuthenticator.allow_all = True
