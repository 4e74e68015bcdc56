"""An administrator's settings for access by groups; jupyterhub_config.py includes it, and defines `c` and `site`."""

import urllib.request

with urllib.request.urlopen(f'{site["issuer"]}/.well-known/openid-configuration', timeout=30) as reply:  # noqa: F821
    document = json.load(reply)  # noqa: F821

c.JupyterHub.authenticator_class = 'generic-oauth'
c.GenericOAuthenticator.client_id = site['client_id']
c.GenericOAuthenticator.client_secret = site['client_secret']
c.GenericOAuthenticator.oauth_callback_url = f'http://127.0.0.1:{ports[0]}/hub/oauth_callback'
c.GenericOAuthenticator.authorize_url = document['authorization_endpoint']
c.GenericOAuthenticator.token_url = document['token_endpoint']
c.GenericOAuthenticator.userdata_url = document['userinfo_endpoint']
c.GenericOAuthenticator.logout_redirect_url = document['end_session_endpoint']
c.GenericOAuthenticator.scope = ['openid', 'profile', 'email']
c.GenericOAuthenticator.username_claim = 'preferred_username'
c.GenericOAuthenticator.manage_groups = True
c.GenericOAuthenticator.auth_state_groups_key = 'oauth_user.groups'
c.GenericOAuthenticator.allowed_groups = {'staff'}
c.GenericOAuthenticator.admin_groups = {'operators'}
