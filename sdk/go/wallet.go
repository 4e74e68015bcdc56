package signpost

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const clockTolerance = 30

// ErrUserExists is returned by CreateUser if the key has a user in the meantime.
var ErrUserExists = errors.New("a user with this public key exists")

// WalletOptions are the options of [NewWallet]. Domain, Site, FindUser, CreateUser and SignIn are required. Fields with a
// name of [LoginOptions] have its meaning.
type WalletOptions struct {
	Domain         string
	Site           string
	Path           string
	WebhookSecrets []string
	SignIn         func(w http.ResponseWriter, r *http.Request, login Login) error
	OnEvent        func(ctx context.Context, event *Event) error
	SeenEvents     SeenEvents
	OnError        func(err error, step string)
	// FindUser returns the ID of the user with this key, or "". Keys are normalized: compressed, in lower-case hex.
	FindUser func(ctx context.Context, publicKey string) (user string, err error)
	// CreateUser creates the user of a new key, or returns [ErrUserExists].
	CreateUser func(ctx context.Context, publicKey string, device Device) (user string, err error)
	// Codes stores shown codes. Default: the memory of this process, for the last 10,000 codes.
	Codes Codes
	// UnboundPolls logs in any browser with the sid, as the specification defines it. It permits relayed codes.
	UnboundPolls bool
}

// WalletHandler receives wallets' answers. It serves, below its path, POST /wallet/login, /wallet/register and /events,
// and GET /poll?sid=.
type WalletHandler struct {
	site
	client     *Client
	domain     string
	codes      Codes
	signIn     func(http.ResponseWriter, *http.Request, Login) error
	findUser   func(context.Context, string) (string, error)
	createUser func(context.Context, string, Device) (string, error)
	unbound    bool
}

// NewWallet creates the handler. Invalid options panic with an *[Error], like an invalid pattern in net/http.
func NewWallet(client *Client, options WalletOptions) *WalletHandler {
	h := &WalletHandler{
		site:   newSite(options.Site, options.Path, options.WebhookSecrets, options.OnEvent, options.SeenEvents),
		client: client, domain: options.Domain, codes: options.Codes,
		signIn: options.SignIn, findUser: options.FindUser, createUser: options.CreateUser, unbound: options.UnboundPolls,
	}
	h.onError = options.OnError
	if h.codes == nil {
		h.codes = &codeMemory{bySID: map[string]*Code{}, completed: map[string]bool{}}
	}
	if options.Domain == "" || options.SignIn == nil || options.FindUser == nil || options.CreateUser == nil {
		panic(invalidArgument("Domain, SignIn, FindUser and CreateUser are required"))
	}
	return h
}

// ServeHTTP implements [http.Handler].
func (h *WalletHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch route, ok := strings.CutPrefix(r.URL.Path, h.path); {
	case ok && route == "/wallet/login":
		h.answer(w, r, ModeLogin)
	case ok && route == "/wallet/register":
		h.answer(w, r, ModeRegister)
	case ok && route == "/poll":
		h.poll(w, r)
	case ok && route == "/events":
		h.events(w, r)
	default:
		http.NotFound(w, r)
	}
}

// ShowCode creates a session for your page, and sets a cookie that binds it to the browser: call it before the page is
// written. Mode is login or register, next the path to continue at.
func (h *WalletHandler) ShowCode(w http.ResponseWriter, r *http.Request, mode, next string) (*ShownCode, error) {
	ctx := r.Context()
	if mode != ModeLogin && mode != ModeRegister {
		return nil, invalidArgument("a code is for login or register")
	}
	webhook := h.origin + h.path + "/wallet/" + mode
	session, err := h.client.Sessions.Create(ctx, SessionParams{Domain: h.domain, Mode: mode, WebhookURL: webhook})
	if err != nil {
		return nil, err
	}
	random := make([]byte, 32)
	rand.Read(random)
	binding := encode(random)
	code := Code{
		SID: session.ID, Challenge: session.Challenge, Mode: mode, Next: localNext(next), ExpiresAt: session.ExpiresAt,
		Browser: hashText(binding),
	}
	if err := h.codes.Save(ctx, code); err != nil {
		return nil, err
	}
	w.Header().Add("Set-Cookie", h.cookie(h.cookieName("code", session.ID), binding, strconv.Itoa(cookieMaxAge)))
	w.Header().Set("Cache-Control", "no-store")
	return &ShownCode{SID: session.ID, QRData: session.QRData, ExpiresAt: session.ExpiresAt}, nil
}

// RefreshCode replaces a code before it expires, for the browser that was shown it. The browser's cookie stays valid.
func (h *WalletHandler) RefreshCode(r *http.Request, sid string) (*ShownCode, error) {
	ctx := r.Context()
	code, err := h.codes.Find(ctx, sid)
	if err != nil {
		return nil, err
	}
	if code == nil || code.SID != sid || !h.isShown(r, code) {
		return nil, invalidArgument("no code was shown to this browser under this sid")
	}
	session, err := h.client.Sessions.Refresh(ctx, sid)
	if err != nil {
		return nil, err
	}
	code.Challenge, code.ExpiresAt = session.Challenge, session.ExpiresAt
	if err := h.codes.Save(ctx, *code); err != nil {
		return nil, err
	}
	return &ShownCode{SID: sid, QRData: session.QRData, ExpiresAt: session.ExpiresAt}, nil
}

// isShown reports whether a request comes from the browser that was shown a code, and from no other site.
func (h *WalletHandler) isShown(r *http.Request, code *Code) bool {
	from, hasOrigin := headerValue(r.Header, "Origin")
	fetched, hasFetch := headerValue(r.Header, "Sec-Fetch-Site")
	if hasOrigin && from != h.origin || hasFetch && fetched != "same-origin" && fetched != "none" {
		return false
	}
	return slices.ContainsFunc(r.CookiesNamed(h.cookieName("code", code.SID)), func(cookie *http.Cookie) bool {
		return hmac.Equal([]byte(hashText(cookie.Value)), []byte(code.Browser))
	})
}

func (h *WalletHandler) poll(w http.ResponseWriter, r *http.Request) {
	sid := r.URL.Query().Get("sid")
	switch {
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", http.MethodGet)
		writeError(w, http.StatusMethodNotAllowed, "only GET is possible here")
		return
	case sid == "":
		writeError(w, http.StatusBadRequest, "the query parameter sid is missing: poll with ?sid=<session id>")
		return
	}
	code, err := h.codes.Find(r.Context(), sid)
	switch {
	case err != nil:
		h.fail(w, r, err)
		return
	case code == nil || code.SID != sid:
		writeJSON(w, http.StatusNotFound, map[string]any{"status": "not_found"})
		return
	case code.User == "" || !h.unbound && !h.isShown(r, code):
		writeJSON(w, http.StatusOK, map[string]any{"status": StatusPending})
		return
	}
	next := localNext(code.Next)
	first, err := h.codes.Complete(r.Context(), sid)
	if err == nil && first {
		err = h.signIn(w, r, Login{User: LoginUser{ID: code.User}, Session: code.Session, Mode: code.Mode, Next: next})
		if err != nil {
			err = errors.Join(err, h.codes.Save(r.Context(), *code)) // The next poll tries again.
		}
	}
	if err != nil {
		h.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"status": StatusAuthenticated, "redirect": next})
}
