package signpost

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	minCookieSecret = 32
	// Maximum Retry-After that the client waits for, because the user is waiting.
	longestWait = 3 * time.Second
	// Time in which a second fault of the service is a 503 instead of a redirect, in seconds.
	unavailableSeconds = 10
)

// LoginHandler handles logins on the service's page. It serves, below its path, GET /login, /register and /link, which
// redirect to the page, GET /return, to which the browser returns, GET and POST /logout, and POST /events.
type LoginHandler struct {
	site
	states
	hostCheck
	client        *Client
	domain        string
	failedPath    string
	signIn        func(http.ResponseWriter, *http.Request, Login) error
	signOut       func(http.ResponseWriter, *http.Request) error
	currentUser   func(*http.Request) string
	confirmRecent func(*http.Request) bool
	random        func([]byte)
}

// loginRoutes are the methods of each route.
var loginRoutes = map[string][]string{
	"/login": {http.MethodGet}, "/register": {http.MethodGet}, "/link": {http.MethodGet}, "/return": {http.MethodGet},
	"/logout": {http.MethodGet, http.MethodPost}, "/events": {http.MethodPost},
}

// NewLogin creates the handler. Mount it at its path with a slash at the end: mux.Handle("/signpost/", login).
//
// A login belongs to the browser that started it: the secret in its cookie completes it, and nothing is stored. Invalid
// options panic with an *[Error], like an invalid pattern in net/http.
func NewLogin(client *Client, options LoginOptions) *LoginHandler {
	h := &LoginHandler{
		site:   newSite(options.Site, options.Path, options.WebhookSecrets, options.OnEvent, options.SeenEvents),
		client: client.within(longestWait), domain: options.Domain, failedPath: cmp.Or(options.FailedPath, "/"),
		signIn: options.SignIn, signOut: options.SignOut, currentUser: options.CurrentUser, confirmRecent: options.ConfirmRecent,
		random: func(b []byte) { rand.Read(b) },
	}
	h.onError = options.OnError
	h.states = newStates(&h.site, options.CookieSecret)
	h.hostCheck = hostCheck{site: &h.site, log: logWarning}
	switch {
	case options.Domain == "" || options.SignIn == nil:
		panic(invalidArgument("Domain and SignIn are required"))
	case utf8.RuneCountInString(options.CookieSecret) < minCookieSecret:
		panic(invalidArgument("CookieSecret must have at least 32 characters: draw them once, such as with openssl rand -hex 32"))
	}
	checkFailedPath(h.failedPath, h.path)
	if !options.SkipStartupCheck {
		go checkSettings(client, options.Domain, logWarning)
	}
	return h
}

// logWarning logs a line about the settings of the site.
func logWarning(line string) { slog.Warn(line) }

// checkFailedPath panics unless the path is a page of the site that starts no login.
func checkFailedPath(failedPath, path string) {
	if !isLocalPath(failedPath) || strings.Contains(failedPath, "#") {
		panic(invalidArgument("FailedPath must be a path on this site without a fragment, such as /log-in"))
	}
	page, _, _ := strings.Cut(failedPath, "?")
	isHandler := page == path || strings.HasPrefix(page, path+"/")
	if path == "" {
		_, isHandler = loginRoutes[page]
	}
	if isHandler {
		panic(invalidArgument("FailedPath must not be below %s, the option Path, because a failed login would start the next", cmp.Or(path, "/")))
	}
}

// ServeHTTP implements [http.Handler].
func (h *LoginHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	route, isBelow := strings.CutPrefix(r.URL.Path, h.path)
	methods := loginRoutes[route]
	switch {
	case !isBelow || methods == nil:
		http.NotFound(w, r)
		return
	case !slices.Contains(methods, r.Method):
		w.Header().Set("Allow", strings.Join(methods, ", "))
		writeError(w, http.StatusMethodNotAllowed, "this path requires "+strings.Join(methods, " or "))
		return
	case route == "/events":
		h.events(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	if route != "/return" && r.Method == http.MethodGet && isPrefetch(r) {
		// The navigation that follows needs another response, so this response must not be stored.
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if route != "/return" && route != "/logout" {
		if target := h.siteURL(r, route); target != "" {
			redirect(w, target)
			return
		}
	}
	h.respond(w, r, route)
}

// visit is a request of a browser, with the data for the response if it fails.
type visit struct {
	w http.ResponseWriter
	r *http.Request
	// The checked path to continue at.
	next string
	// Set-Cookie values that delete the state of this login.
	cleared []string
}

// redirect sets the cookies and writes a redirect.
func (v *visit) redirect(to string, cookies ...string) {
	v.setCookies(cookies)
	redirect(v.w, to)
}

func (v *visit) setCookies(cookies []string) {
	for _, cookie := range cookies {
		v.w.Header().Add("Set-Cookie", cookie)
	}
}

// respond responds to a request of a browser. An error of the service never sets the status of the page.
func (h *LoginHandler) respond(w http.ResponseWriter, r *http.Request, route string) {
	v := &visit{w: w, r: r, next: "/"}
	var step string
	var err error
	switch route {
	case "/return":
		step, err = StepReturn, h.finish(v)
	case "/logout":
		v.next = nextOf(r)
		step, err = StepLogout, h.logOut(v)
	case "/link":
		v.next = nextOf(r)
		step, err = StepLink, h.link(v)
	default:
		v.next = nextOf(r)
		step, err = StepStart, h.open(v, strings.TrimPrefix(route, "/"), "")
	}
	// A browser that left, such as after a second click, is no fault of the service.
	if err == nil || r.Context().Err() != nil {
		return
	}
	h.report(r.Context(), err, step)
	var failure *Error
	if errors.As(err, &failure) {
		h.fail(v, loginErrorOf(failure))
		return
	}
	writeError(w, http.StatusInternalServerError, "something went wrong on this server: try again")
}

// open creates a session and redirects the browser to its page.
func (h *LoginHandler) open(v *visit, mode, user string) error {
	random := make([]byte, 32)
	h.random(random)
	secret := encode(random)
	digest := sha256.Sum256([]byte(secret))
	params := SessionParams{
		Domain: h.domain, Mode: mode, User: user, Flow: "page", BrowserHash: encode(digest[:]),
		Metadata: map[string]any{"return_url": h.origin + h.path + "/return"},
	}
	if mode == modeConfirm {
		params.Mode = ModeLogin
	}
	session, err := h.client.Sessions.Create(v.r.Context(), params)
	if err != nil {
		return err
	}
	if !isWebAddress(session.PageURL) {
		return &Error{Code: CodeInvalidResponse, Message: "the session has no page_url that a browser can be sent to", Status: http.StatusCreated}
	}
	cookies := append([]string{h.setState(session.ID, state{secret: secret, mode: mode, next: v.next, user: user})}, v.cleared...)
	for _, old := range h.clearOld(v.r) {
		if !slices.Contains(v.cleared, old) {
			cookies = append(cookies, old)
		}
	}
	v.redirect(session.PageURL, cookies...)
	return nil
}

// finish completes the login that this browser started.
func (h *LoginHandler) finish(v *visit) error {
	query := v.r.URL.Query()
	id := once(query, "session_id")
	if id == "" {
		h.fail(v, LoginErrorRefused)
		return nil
	}
	began, isBound := h.takeState(v, id)
	if isBound {
		v.next = began.next
	}
	if query.Has("error") {
		// Any browser may see an error, because it logs in no user.
		h.fail(v, pageError(once(query, "error")))
		return nil
	}
	if !isBound {
		h.fail(v, LoginErrorOtherBrowser)
		return nil
	}
	code := once(query, "code")
	// A link, and the login before it, must not affect a browser whose user has logged out since.
	if code == "" || began.user != "" && h.user(v.r) != began.user {
		h.fail(v, LoginErrorRefused)
		return nil
	}
	session, err := h.client.Sessions.Complete(v.r.Context(), id, Completion{Code: code, BrowserSecret: began.secret})
	if err != nil {
		return err
	}
	switch {
	case !hasCompleted(session, id, began):
		h.fail(v, LoginErrorRefused)
	case began.mode == modeConfirm:
		return h.open(v, ModeLink, began.user)
	case began.mode == ModeLink:
		v.redirect(began.next, v.cleared...)
	default:
		return h.completeLogin(v, newLogin(session, began))
	}
	return nil
}

func (h *LoginHandler) completeLogin(v *visit, login Login) error {
	v.setCookies(v.cleared)
	v.cleared = nil
	if err := h.signIn(v.w, v.r, login); err != nil {
		return err
	}
	v.redirect(login.Next)
	return nil
}

// logOut ends the login of the site, and cancels pending logins and links of the browser.
func (h *LoginHandler) logOut(v *visit) error {
	if h.signOut == nil {
		writeError(v.w, http.StatusNotFound, "there is no logout here: the handler has no SignOut")
		return nil
	}
	if v.r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		writeError(v.w, http.StatusForbidden, "another site cannot log users out")
		return nil
	}
	h.CancelPending(v.w, v.r)
	if err := h.signOut(v.w, v.r); err != nil {
		return err
	}
	v.redirect(v.next)
	return nil
}

// CancelPending cancels pending logins and links of the browser, for a logout of your own: call it before the response is
// written. Without it, a pending link is still refused, because CurrentUser returns no user.
func (h *LoginHandler) CancelPending(w http.ResponseWriter, r *http.Request) {
	for _, cookie := range h.clearAll(r) {
		w.Header().Add("Set-Cookie", cookie)
	}
}

// fail redirects to FailedPath. A page that starts a login again would loop during an outage: the second fault is a 503.
func (h *LoginHandler) fail(v *visit, reason string) {
	marker := h.prefixed("signpost-unavailable")
	if reason == LoginErrorUnavailable && len(v.r.CookiesNamed(marker)) > 0 {
		v.setCookies(v.cleared)
		v.w.Header().Set("Retry-After", strconv.Itoa(unavailableSeconds))
		http.Error(v.w, "The login is not available at the moment. Try again in a few seconds.", http.StatusServiceUnavailable)
		return
	}
	separator := "?"
	if strings.Contains(h.failedPath, "?") {
		separator = "&"
	}
	location := h.failedPath + separator + "login_error=" + reason
	if v.next != "/" {
		location += "&next=" + escapeQuery(v.next)
	}
	cookies := v.cleared
	if reason == LoginErrorUnavailable {
		cookies = append(cookies, h.cookie(marker, "1", strconv.Itoa(unavailableSeconds)))
	}
	v.redirect(location, cookies...)
}

// user returns the ID of the user logged in at the site, or "".
func (h *LoginHandler) user(r *http.Request) string {
	if h.currentUser == nil {
		return ""
	}
	return h.currentUser(r)
}
