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
	// A browser waits.
	longestWait = 3 * time.Second
)

// LoginOptions are what [NewLogin] needs: Domain, Site, CookieSecret and SignIn.
type LoginOptions struct {
	// Domain is the registered name, which people see on the login page.
	Domain string
	// Site is the origin that people see, such as https://shop.example.
	Site string
	// Path is where the handler is mounted, /signpost if it is not set; / is the root.
	Path string
	// CookieSecret signs the state of a login; at least 32 characters, the same in all processes of the site.
	CookieSecret string
	// WebhookSecrets verify events: one secret, or two during a rotation. Without one <path>/events is 404.
	WebhookSecrets []string
	// SignIn sets the site's own login cookie on w, with a new value, and leaves the reply to the handler.
	SignIn func(w http.ResponseWriter, r *http.Request, login Login) error
	// OnEvent acts on an event. One that fails comes again; one that was acted on does not, as long as SeenEvents remembers it.
	OnEvent func(ctx context.Context, event *Event) error
	// CurrentUser returns the ID of the user who is logged in, or nothing. With it <path>/link lets people add a key. It is
	// called again when the browser comes back: a link completes only for the user who began it and is still logged in.
	CurrentUser func(r *http.Request) string
	// FailedPath is where a login that failed leads, with ?login_error=; / if it is not set.
	FailedPath string
	// SeenEvents is by default the memory of this process, for the last 10,000 events.
	SeenEvents SeenEvents
	// OnError answers what is nobody's wrong use: by default 500, and the error goes to [log/slog].
	OnError func(w http.ResponseWriter, r *http.Request, err error)
}

// Login is who logged in.
type Login struct {
	// User is the ID of the user: usr_… on the service's page, your own from [NewWallet].
	User string
	// Session is what the service says of the login.
	Session *Session
	// Mode is login, register or link.
	Mode string
	// Next is the path on your site to which the browser goes on.
	Next string
}

// LoginHandler logs people in on the service's page. It serves, below its path, GET /login, /register and /link, which
// lead to the page, GET /return, to which the browser comes back, and POST /events.
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

// NewLogin makes the handler. Mount it at its path with a slash at the end: mux.Handle("/signpost/", login).
//
// The login belongs to the browser that began it: a secret in its cookie completes it, and nothing is stored. Options that
// are wrong panic with an *[Error], as a wrong pattern does in net/http.
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

// start begins a login in this browser, and sends it to the page.
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

// user returns the ID of the user who is logged in at the site, or nothing.
func (h *LoginHandler) user(r *http.Request) string {
	if h.currentUser == nil {
		return ""
	}
	return h.currentUser(r)
}

// finish completes the login that this browser began.
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
	for _, cookie := range cookies { // Others may have been set by another site of the domain.
		if began, isBound = h.readState(id, cookie.Value); isBound {
			break
		}
	}
	switch code, reason := once(query, "code"), once(query, "error"); {
	case reason == "access_denied" || reason == "expired":
		fail(reason) // Also where the state has ended meanwhile: nobody is logged in.
	case query.Has("error"):
		fail("refused")
	case !isBound:
		fail("other_browser")
	case code == "":
		fail("refused")
	case began.mode == ModeLink && h.user(r) != began.user:
		fail("refused") // A link never logs in a browser whose user has logged out meanwhile.
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

// once is the value of a parameter that is given once, else nothing.
func once(query url.Values, name string) string {
	if values := query[name]; len(values) == 1 {
		return values[0]
	}
	return ""
}

// refusedReason is what people are told of an error; nothing for what is not theirs.
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

// state is what the browser keeps of a login that it began. There is one cookie per session, so that two tabs do not
// disturb each other.
type state struct {
	secret  string
	expires int64
	mode    string
	next    string
	user    string // The user who began a link; empty for every other mode.
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
	// Those beyond the newest are cleared, so that no browser sends headers that are too long.
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

// expiry is when a state ends, in Unix seconds; 0 if that cannot be read.
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
