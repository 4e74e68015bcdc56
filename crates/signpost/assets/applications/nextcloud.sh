# In Nextcloud's folder, as the user that runs it.
php occ app:install user_oidc
php occ user_oidc:provider signpost \
  --clientid='@client_id@' \
  --clientsecret='@client_secret@' \
  --discoveryuri='@issuer@/.well-known/openid-configuration' \
  --scope='openid profile email' \
  --mapping-uid=sub \
  --mapping-display-name=name \
  --mapping-email=email \
  --mapping-groups=groups \
  --group-provisioning=1
