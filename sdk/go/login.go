package signpost

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	minCookieSecret = 32
	maxStates       = 3
	// The user is waiting.
	longestWait = 3 * time.Second
)

// LoginOptions are the options of [NewLogin]. Domain, Site, CookieSecret and SignIn are required.
type LoginOptions struct {
	// Domain is the registered domain, shown to users on the login page.
	Domain string
	// Site is the site's public origin, such as https://shop.example.
	Site string
	// Path is the path of the handler. Default: /signpost. / is the root.
	Path string
	// CookieSecret signs the state of a login; at least 32 characters, identical in all processes of the site.
	CookieSecret string
	// WebhookSecrets verify events: a secret, or two during a rotation. Without a secret, <path>/events responds with 404.
	WebhookSecrets []string
	// SignIn sets the site's own login cookie on w, with a new value. The handler writes the response.
	SignIn func(w http.ResponseWriter, r *http.Request, login Login) error
	// OnEvent processes an event. After an error the event is delivered again; after success SeenEvents prevents a repetition.
	OnEvent func(ctx context.Context, event *Event) error
	// CurrentUser returns the ID of the logged-in user, or "". With it, <path>/link adds a key to the account. It is called
	// again when the browser returns: a link completes only if its user is still logged in.
	CurrentUser func(r *http.Request) string
	// FailedPath is the target after a failed login, with ?login_error=. Default: /.
	FailedPath string
	// SeenEvents records processed events. Default: the memory of this process, for the last 10,000 events.
	SeenEvents SeenEvents
	// OnError handles internal errors. Default: it responds with 500 and logs the error with [log/slog].
	OnError func(w http.ResponseWriter, r *http.Request, err error)
}

// Login is a completed login.
type Login struct {
	// User is the ID of the user: usr_… from the service's page, your own from [NewWallet].
	User string
	// Session is the authenticated session.
	Session *Session
	// Mode is login, register or link.
	Mode string
	// Next is the path of the site to continue at.
	Next string
}

// LoginHandler handles logins on the service's page. It serves, below its path, GET /login, /register and /link, which
// redirect to the page, GET /return, to which the browser returns, and POST /events.
type LoginHandler struct {
	site
	client      *Client
	domain      string
	failedPath  string
	signIn      func(http.ResponseWriter, *http.Request, Login) error
	currentUser func(*http.Request) string
	onError     func(http.ResponseWriter, *http.Request, error)
	sign        func(text string) string
	random      func([]byte)
}

// NewLogin creates the handler. Mount it at its path with a slash at the end: mux.Handle("/signpost/", login).
//
// A login belongs to the browser that started it: the secret in its cookie completes it, and nothing is stored. Invalid
// options panic with an *[Error], like an invalid pattern in net/http.
func NewLogin(client *Client, options LoginOptions) *LoginHandler {
	h := &LoginHandler{
		site:   newSite(options.Site, options.Path, options.WebhookSecrets, options.OnEvent, options.SeenEvents),
		client: client.within(longestWait), domain: options.Domain, failedPath: cmp.Or(options.FailedPath, "/"),
		signIn: options.SignIn, currentUser: options.CurrentUser, onError: options.OnError,
		sign:   func(text string) string { return encode(sign([]byte(options.CookieSecret), []byte(text))) },
		random: func(b []byte) { rand.Read(b) },
	}
	if h.onError == nil {
		h.onError = func(w http.ResponseWriter, r *http.Request, err error) {
			slog.ErrorContext(r.Context(), "a login failed", "error", err)
			http.Error(w, "something went wrong; try again", http.StatusInternalServerError)
		}
	}
	switch {
	case options.Domain == "" || options.SignIn == nil:
		panic(invalidArgument("Domain and SignIn are required"))
	case utf8.RuneCountInString(options.CookieSecret) < minCookieSecret:
		panic(invalidArgument("CookieSecret must have at least 32 characters: draw them once, such as with openssl rand -hex 32"))
	case !isLocalPath(h.failedPath) || strings.Contains(h.failedPath, "#"):
		panic(invalidArgument("FailedPath must be a path on this site, without a fragment"))
	}
	return h
}

// ServeHTTP implements [http.Handler].
func (h *LoginHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	route, ok := strings.CutPrefix(r.URL.Path, h.path)
	if ok && route == "/events" {
		h.events(w, r)
		return
	}
	serve := map[string]http.HandlerFunc{
		"/login": h.start(ModeLogin), "/register": h.start(ModeRegister), "/link": h.start(ModeLink), "/return": h.finish,
	}[route]
	switch {
	case !ok || serve == nil:
		http.NotFound(w, r)
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "only GET is possible here", http.StatusMethodNotAllowed)
	default:
		w.Header().Set("Cache-Control", "no-store")
		serve(w, r)
	}
}

// start starts a login in this browser and redirects it to the page.
func (h *LoginHandler) start(mode string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		user := ""
		if mode == ModeLink {
			if user = h.user(r); user == "" {
				http.NotFound(w, r)
				return
			}
		}
		random := make([]byte, 32)
		h.random(random)
		secret := encode(random)
		digest := sha256.Sum256([]byte(secret))
		session, err := h.client.Sessions.Create(r.Context(), SessionParams{
			Domain: h.domain, Mode: mode, User: user, Flow: "page", BrowserHash: encode(digest[:]),
			Metadata: map[string]any{"return_url": h.origin + h.path + "/return"},
		})
		if err == nil && !isWebAddress(session.PageURL) {
			err = &Error{Code: "invalid_response", Message: "the session has no page_url that a browser can be sent to", Status: http.StatusCreated}
		}
		if err != nil {
			h.onError(w, r, err)
			return
		}
		next := localNext(once(r.URL.Query(), "next"))
		h.setState(w, r, session.ID, state{secret, h.now().Unix() + cookieMaxAge, mode, next, user})
		redirect(w, session.PageURL)
	}
}

// user returns the ID of the user logged in at the site, or "".
func (h *LoginHandler) user(r *http.Request) string {
	if h.currentUser == nil {
		return ""
	}
	return h.currentUser(r)
}

// finish completes the login that this browser started.
func (h *LoginHandler) finish(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	fail := func(reason string) {
		separator := "?"
		if strings.Contains(h.failedPath, "?") {
			separator = "&"
		}
		redirect(w, h.failedPath+separator+"login_error="+url.QueryEscape(reason))
	}
	id := once(query, "session_id")
	if id == "" {
		fail("refused")
		return
	}
	began, isBound := state{}, false
	name := h.cookieName("signpost", id)
	cookies := r.CookiesNamed(name)
	if len(cookies) > 0 {
		w.Header().Add("Set-Cookie", h.cookie(name, "", "0"))
	}
	for _, cookie := range cookies { // Another site of the domain may have set more.
		if began, isBound = h.readState(id, cookie.Value); isBound {
			break
		}
	}
	switch code, reason := once(query, "code"), once(query, "error"); {
	case reason == "access_denied" || reason == "expired":
		fail(reason) // Also if the state has expired: no user is logged in.
	case query.Has("error"):
		fail("refused")
	case !isBound:
		fail("other_browser")
	case code == "":
		fail("refused")
	case began.mode == ModeLink && h.user(r) != began.user:
		fail("refused") // A link must not log in a browser whose user has logged out since.
	default:
		session, err := h.client.Sessions.Complete(r.Context(), id, Completion{Code: code, BrowserSecret: began.secret})
		if refused := (*Error)(nil); errors.As(err, &refused) && refusedReason(refused) != "" {
			fail(refusedReason(refused))
			return
		}
		if err != nil {
			h.onError(w, r, err)
			return
		}
		if session.ID != id || session.Status != StatusAuthenticated || session.User == nil || session.User.ID == "" {
			fail("refused")
			return
		}
		login := Login{User: session.User.ID, Session: session, Mode: cmp.Or(session.Mode, began.mode), Next: began.next}
		if (login.Mode == ModeLink) != (began.mode == ModeLink) || (login.Mode == ModeLink && login.User != began.user) {
			fail("refused")
			return
		}
		if err := h.signIn(w, r, login); err != nil {
			h.onError(w, r, err)
			return
		}
		redirect(w, login.Next)
	}
}

// once returns the value of a parameter that occurs once, or "".
func once(query url.Values, name string) string {
	if values := query[name]; len(values) == 1 {
		return values[0]
	}
	return ""
}

// refusedReason returns the login_error for an error that concerns the user, or "".
func refusedReason(err *Error) string {
	switch {
	case err.Status == http.StatusNotAcceptable && err.reason() == "browser":
		return "other_browser"
	case err.Code == "session_expired":
		return "expired"
	case slices.Contains([]int{http.StatusNotFound, http.StatusNotAcceptable, http.StatusConflict, http.StatusGone}, err.Status) &&
		err.Code != "invalid_response":
		return "refused"
	}
	return ""
}

// state is the content of the cookie of a pending login. Each session has its own cookie, so that logins in two tabs do
// not collide.
type state struct {
	secret  string
	expires int64
	mode    string
	next    string
	user    string // The user of a link; empty for other modes.
}

func (h *LoginHandler) stateMAC(id, text string) string {
	return h.sign("signpost-state:" + id + ":" + text)
}

func (h *LoginHandler) setState(w http.ResponseWriter, r *http.Request, id string, s state) {
	text := "v1." + s.secret + "." + strconv.FormatInt(s.expires, 10) + "." + s.mode + "." + encode([]byte(s.next))
	if s.user != "" {
		text += "." + encode([]byte(s.user))
	}
	name := h.cookieName("signpost", id)
	w.Header().Add("Set-Cookie", h.cookie(name, text+"."+h.stateMAC(id, text), strconv.Itoa(cookieMaxAge)))
	// All but the newest states are deleted, to limit the size of the Cookie header.
	isState := regexp.MustCompile("^" + name[:len(name)-16] + "[0-9a-f]{16}$")
	others := slices.DeleteFunc(r.Cookies(), func(c *http.Cookie) bool { return !isState.MatchString(c.Name) || c.Name == name })
	newest := slices.Clone(others)
	slices.SortStableFunc(newest, func(a, b *http.Cookie) int { return cmp.Compare(expiry(b.Value), expiry(a.Value)) })
	for _, other := range others {
		if slices.Index(newest, other) >= maxStates-1 {
			w.Header().Add("Set-Cookie", h.cookie(other.Name, "", "0"))
		}
	}
}

var isTime = regexp.MustCompile(`^[0-9]{1,12}$`)

// expiry returns the expiry of a state in Unix seconds; 0 if it is malformed.
func expiry(value string) int64 {
	parts := strings.Split(value, ".")
	if len(parts) < 6 || len(parts) > 7 || !isTime.MatchString(parts[2]) {
		return 0
	}
	expires, _ := strconv.ParseInt(parts[2], 10, 64)
	return expires
}

func (h *LoginHandler) readState(id, value string) (state, bool) {
	parts := strings.Split(value, ".")
	at := strings.LastIndexByte(value, '.')
	if len(parts) < 6 || len(parts) > 7 || parts[0] != "v1" || !hmac.Equal([]byte(h.stateMAC(id, value[:at])), []byte(value[at+1:])) {
		return state{}, false
	}
	next, err := base64.RawURLEncoding.DecodeString(parts[4])
	s := state{secret: parts[1], expires: expiry(value), mode: parts[3], next: localNext(string(next))}
	if len(parts) == 7 && err == nil {
		var user []byte
		user, err = base64.RawURLEncoding.DecodeString(parts[5])
		s.user = string(user)
	}
	return s, err == nil && s.expires > h.now().Unix() && (s.mode == ModeLink) == (s.user != "")
}
