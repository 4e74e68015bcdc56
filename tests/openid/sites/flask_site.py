"""A site with Authlib and Flask."""

import sys
from urllib.parse import urlencode

from authlib.integrations.base_client import OAuthError
from authlib.integrations.flask_client import OAuth
from flask import Flask, jsonify, redirect, request, session
from joserfc.errors import JoseError
from serving import serve


def open_site(client: dict, origin: str) -> Flask:
    app = Flask(__name__)
    app.secret_key = 'a secret for tests only'
    signpost = OAuth(app).register(
        'signpost',
        client_id=client['client_id'],
        client_secret=client['client_secret'],
        server_metadata_url=f'{client["issuer"]}/.well-known/openid-configuration',
        client_kwargs={'scope': 'openid profile email offline_access', 'code_challenge_method': 'S256'},
    )
    # Tokens are too long for a cookie.
    tokens = {}

    @app.get('/login')
    def login():
        session.clear()
        session['spoil'] = request.args.get('spoil')
        return signpost.authorize_redirect(f'{origin}/callback')

    @app.get('/callback')
    def callback():
        spoil = session.get('spoil')
        try:
            if spoil == 'nonce':
                (key,) = [key for key in session if key.startswith('_state_')]
                session[key] = {**session[key], 'data': {**session[key]['data'], 'nonce': 'another'}}
            token = signpost.authorize_access_token()
            if spoil == 'at_hash':
                nonce = token['userinfo']['nonce']
                signpost.parse_id_token({**token, 'access_token': 'another'}, nonce=nonce)
        except (OAuthError, JoseError) as error:
            print(repr(error), file=sys.stderr)
            return repr(error), 400
        user = token['userinfo']
        tokens[user['sub']] = token
        session['user'] = {**user, 'userinfo': signpost.userinfo(token=token)}
        return redirect('/')

    @app.get('/')
    def home():
        return jsonify(session['user']) if 'user' in session else ('nobody', 401)

    @app.get('/refresh')
    def refresh():
        before = tokens[session['user']['sub']]
        after = signpost.fetch_access_token(grant_type='refresh_token', refresh_token=before['refresh_token'])
        tokens[session['user']['sub']] = after
        who = signpost.userinfo(token=after)
        return jsonify(sub=who['sub'], rotated=after['refresh_token'] != before['refresh_token'])

    @app.get('/logout')
    def logout():
        hint = tokens[session.pop('user')['sub']]['id_token']
        query = urlencode({'id_token_hint': hint, 'post_logout_redirect_uri': f'{origin}/', 'state': 'bye'})
        return redirect(f'{signpost.load_server_metadata()["end_session_endpoint"]}?{query}')

    return app


serve(open_site)
