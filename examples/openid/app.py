"""An application with logins by OpenID Connect: Flask and Authlib. Run `python app.py` next to client.json."""
import json, os, secrets
from html import escape
from urllib.parse import urlencode
from authlib.integrations.flask_client import OAuth, OAuthError
from flask import Flask, redirect, session

PORT = os.environ.get("PORT", "9003")
SITE = os.environ.get("SITE", f"http://localhost:{PORT}")
with open(os.environ.get("CLIENT", "client.json")) as file:
    client = json.load(file)  # issuer, client_id and client_secret, as 'signpost clients create --json' prints them
app = Flask(__name__)
app.secret_key = os.environ.get("COOKIE_SECRET") or secrets.token_bytes(32)
is_secure = SITE.startswith("https:")
name = "__Host-app_login" if is_secure else "app_login"  # no other host can set a __Host- cookie
app.config.update(SESSION_COOKIE_NAME=name, SESSION_COOKIE_SECURE=is_secure, SESSION_COOKIE_SAMESITE="Lax")
signpost = OAuth(app).register(
    "signpost",
    server_metadata_url=client["issuer"] + "/.well-known/openid-configuration",
    client_id=client["client_id"],
    client_secret=client["client_secret"],
    client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
)
@app.get("/")
def home():
    user = session.get("user")  # a real application finds its own record of the user by "sub"
    if not user:
        return '<a href="/login">Log in or create an account</a>'
    return f'<b id="user">{escape(user["sub"])}</b> is {escape(user["name"])}. <a href="/logout">Log out</a>'
@app.get("/login")
def log_in():
    return signpost.authorize_redirect(SITE + "/callback")
@app.get("/callback")
def come_back():
    try:
        tokens = signpost.authorize_access_token()  # checks state, PKCE, and the ID token with its nonce
    except OAuthError as error:
        return escape(f"The login failed: {error.description or error.error}"), 403
    user = tokens["userinfo"]  # the claims of the ID token
    session.clear()  # prevents session fixation
    session["user"], session["id_token"] = {"sub": user["sub"], "name": user["name"]}, tokens["id_token"]
    return redirect("/")
@app.get("/logout")
def log_out():
    query = {"client_id": client["client_id"], "id_token_hint": session.get("id_token", "")}
    session.clear()
    query = urlencode(query | {"post_logout_redirect_uri": SITE + "/"})
    return redirect(signpost.load_server_metadata()["end_session_endpoint"] + "?" + query)
if __name__ == "__main__":
    app.run("localhost", int(PORT))
