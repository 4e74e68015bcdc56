# In Nextcloud's folder, as the user that runs it.
php occ app:install user_oidc
php occ user_oidc:provider signpost \
  --clientid='CLIENT' \
  --clientsecret='SECRET' \
  --discoveryuri='ISSUER/.well-known/openid-configuration' \
  --scope='openid profile email' \
  --mapping-uid=sub \
  --mapping-display-name=name \
  --mapping-email=email \
  --mapping-groups=groups \
  --group-provisioning=1
