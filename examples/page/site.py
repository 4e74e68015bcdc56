"""A site with logins on Signpost's page. Python 3.9 or newer, no packages."""
import base64, hashlib, json, os, re, secrets
from urllib import error, parse, request
from wsgiref.simple_server import make_server

API, KEY, DOMAIN = os.environ["API"], os.environ["KEY"], os.environ.get("DOMAIN", "localhost")
PORT = os.environ.get("PORT", "9001")
SITE = os.environ.get("SITE", f"http://localhost:{PORT}")
logins = {}  # user IDs by cookie; a real site stores them in its database, with an expiry
def api(path, body):
    headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
    return json.load(request.urlopen(request.Request(API + path, json.dumps(body).encode(), headers), timeout=20))
HOST, SECURE = ("__Host-", "; Secure") if SITE.startswith("https:") else ("", "")  # no other host can set __Host- cookies
def go(location, *cookies):
    set_cookies = [("set-cookie", f"{HOST}{pair}; Path=/; HttpOnly; SameSite=Lax{SECURE}") for pair in cookies]
    return "303 See Other", [("location", location), *set_cookies], ""
def cookie(environ, name):
    values = re.findall(f"(?:^|; ){HOST}{name}=([^;]+)", environ.get("HTTP_COOKIE", ""))
    return values[0] if len(values) == 1 else ""  # a duplicate may be from an attacker
def log_in(environ, query):
    secret = cookie(environ, "site_browser") or secrets.token_urlsafe()  # binds the login to this browser
    digest = base64.urlsafe_b64encode(hashlib.sha256(secret.encode()).digest()).decode().rstrip("=")
    body = {"domain": DOMAIN, "flow": "page", "metadata": {"return_url": SITE + "/return"}, "browser_hash": digest}
    return go(api("/sessions", body)["page_url"], f"site_browser={secret}")
def come_back(environ, query):
    path, code = f"/sessions/{parse.quote(query['session_id'], safe='')}/complete", query.get("code", "")
    try:
        session = api(path, {"code": code, "browser_secret": cookie(environ, "site_browser")})
    except error.HTTPError:
        return go("/")  # cancelled, expired, or started in another browser
    logins[value := secrets.token_urlsafe()] = session["user"]["id"]  # a new value prevents session fixation
    return go("/", f"site_login={value}", "site_browser=; Max-Age=0")
def home(environ, query):
    user = logins.get(cookie(environ, "site_login"))
    text = f'You are <b id="user">{user}</b>.' if user else '<a href="/login">Log in or create an account</a>'
    return "200 OK", [("content-type", "text/html"), ("cache-control", "no-store")], text
def site(environ, start):
    pages = {"/login": log_in, "/return": come_back, "/events": lambda *_: ("204 No Content", [], "")}
    query = dict(parse.parse_qsl(environ["QUERY_STRING"]))
    status, headers, text = pages.get(environ["PATH_INFO"], home)(environ, query)
    start(status, headers)
    return [text.encode()]
make_server("localhost", int(PORT), site).serve_forever()
