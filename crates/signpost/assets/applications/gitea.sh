# As the user that runs Gitea, with the name as it is: it is a part of the redirect URI.
# In app.ini, [oauth2_client] ENABLE_AUTO_REGISTRATION = true lets newcomers in; USERNAME = nickname is the default.
gitea admin auth add-oauth \
  --name signpost \
  --provider openidConnect \
  --key '@client_id@' \
  --secret '@client_secret@' \
  --auto-discover-url '@issuer@/.well-known/openid-configuration' \
  --scopes profile --scopes email \
  --group-claim-name groups
