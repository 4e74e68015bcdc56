"""A site with mozilla-django-oidc: users in a database, identified by their e-mail address."""

import os
import tempfile

import django
import requests
from django.conf import settings
from serving import serve


def settle(client: dict, origin: str) -> None:
    folder = tempfile.mkdtemp()
    document = requests.get(f'{client["issuer"]}/.well-known/openid-configuration', timeout=30).json()
    settings.configure(
        SECRET_KEY='a secret for tests only',
        ALLOWED_HOSTS=['127.0.0.1'],
        ROOT_URLCONF='django_urls',
        INSTALLED_APPS=['django.contrib.auth', 'django.contrib.contenttypes', 'django.contrib.sessions', 'mozilla_django_oidc'],
        MIDDLEWARE=[
            'django.contrib.sessions.middleware.SessionMiddleware',
            'django.contrib.auth.middleware.AuthenticationMiddleware',
            'mozilla_django_oidc.middleware.SessionRefresh',
        ],
        AUTHENTICATION_BACKENDS=['django_urls.Backend'],
        DATABASES={'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': os.path.join(folder, 'site.sqlite')}},
        DEFAULT_AUTO_FIELD='django.db.models.AutoField',
        OIDC_RP_CLIENT_ID=client['client_id'],
        OIDC_RP_CLIENT_SECRET=client['client_secret'],
        OIDC_RP_SIGN_ALGO='RS256',
        OIDC_RP_SCOPES='openid profile email',
        OIDC_OP_AUTHORIZATION_ENDPOINT=document['authorization_endpoint'],
        OIDC_OP_TOKEN_ENDPOINT=document['token_endpoint'],
        OIDC_OP_USER_ENDPOINT=document['userinfo_endpoint'],
        OIDC_OP_JWKS_ENDPOINT=document['jwks_uri'],
        OIDC_USE_PKCE=True,
        OIDC_STORE_ID_TOKEN=True,
        ALLOW_LOGOUT_GET_METHOD=True,
        LOGGING={'version': 1, 'handlers': {'stderr': {'class': 'logging.StreamHandler'}}, 'root': {'handlers': ['stderr']}},
        OIDC_OP_LOGOUT_URL_METHOD='django_urls.logout_url',
        END_SESSION=document['end_session_endpoint'],
        ORIGIN=origin,
        LOGIN_REDIRECT_URL='/',
        LOGOUT_REDIRECT_URL='/',
        LOGIN_REDIRECT_URL_FAILURE='/failed',
    )


def open_site(client: dict, origin: str):
    settle(client, origin)
    django.setup()
    from django.core.management import call_command
    from django.core.wsgi import get_wsgi_application

    call_command('migrate', verbosity=0)
    return get_wsgi_application()


serve(open_site)
