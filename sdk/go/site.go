package signpost

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	maxBody      = 64 << 10
	maxNext      = 1024 // bytes, so that its cookie is at most 4096
	maxRemember  = 10_000
	cookieMaxAge = 1800 // lifetime of a pending login, in seconds
)

// SeenEvents records the processed events, so that a repeated delivery has no second effect. Use your own store if several
// processes receive events, or if the record must survive a restart. Two processes may still process an event
// concurrently: if that matters, process and record the event in one transaction, in OnEvent.
type SeenEvents interface {
	// Has reports whether an event was processed.
	Has(ctx context.Context, identity string) (bool, error)
	// Add records an event, after OnEvent.
	Add(ctx context.Context, identity string) error
}

// site is the common configuration of both handlers.
type site struct {
	origin, path   string
	webhookSecrets func() []string
	onEvent        func(context.Context, *Event) error
	seen           SeenEvents
	onError        func(err error, step string)
	// The identities of the events that OnEvent is processing.
	acting *sync.Map
	now    func() time.Time
}

// newSite panics with an *Error of the code invalid_argument, like net/http for an invalid pattern.
func newSite(origin, path string, secrets []string, onEvent func(context.Context, *Event) error, seen SeenEvents) site {
	switch {
	case path == "":
		path = "/signpost"
	case path == "/":
		path = ""
	case !isLocalPath(path) || strings.HasSuffix(path, "/") || strings.ContainsAny(path, "?#"):
		panic(invalidArgument("Path must begin with a slash and end without one, such as /signpost; / is the root"))
	}
	if len(secrets) > 0 {
		if _, err := standardKeys(secrets); err != nil {
			panic(err)
		}
	}
	if seen == nil {
		seen = &memory{known: map[string]bool{}}
	}
	return site{
		origin: parseOrigin(origin), path: path, webhookSecrets: func() []string { return secrets },
		onEvent: onEvent, seen: seen, acting: &sync.Map{}, now: time.Now,
	}
}

func parseOrigin(text string) string {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil ||
		(u.Path != "" && u.Path != "/") || strings.ContainsAny(text, "?#") {
		panic(invalidArgument("Site must be the origin that people see, such as https://shop.example, without a path"))
	}
	if strings.ContainsFunc(u.Host, func(r rune) bool { return r > unicode.MaxASCII }) {
		// Browsers send the ASCII form in the Host header.
		panic(invalidArgument("Site must have its host in ASCII, such as https://xn--bcher-kva.example"))
	}
	return u.Scheme + "://" + normalizeHost(u.Scheme, u.Host)
}

// normalizeHost returns a host in lower case without the default port.
func normalizeHost(scheme, host string) string {
	port := map[string]string{"http": ":80", "https": ":443"}[scheme]
	return strings.TrimSuffix(strings.ToLower(host), port)
}

func (s *site) isSecure() bool { return strings.HasPrefix(s.origin, "https:") }

// cookieName returns a name with the prefix that binds the cookie to this host, if the site uses https.
func (s *site) cookieName(kind, id string) string {
	digest := sha256.Sum256([]byte(id))
	return s.prefixed(kind + "-" + hex.EncodeToString(digest[:8]))
}

func (s *site) prefixed(name string) string {
	if s.isSecure() {
		return "__Host-" + name
	}
	return name
}

// hasHost reports whether a Host header names the site's host.
func (s *site) hasHost(host string) bool {
	scheme, _, _ := strings.Cut(s.origin, ":")
	return scheme+"://"+normalizeHost(scheme, host) == s.origin
}

// report passes an error to OnError, or logs it.
func (s *site) report(ctx context.Context, err error, step string) {
	if s.onError != nil {
		s.onError(err, step)
		return
	}
	slog.ErrorContext(ctx, "signpost: the step "+step+" failed", "error", err)
}

func (s *site) cookie(name, value string, maxAge string) string {
	text := name + "=" + value + "; Path=/; Max-Age=" + maxAge + "; HttpOnly; SameSite=Lax"
	if s.isSecure() {
		text += "; Secure"
	}
	return text
}

// SiteCookie is a cookie of your site, such as its login cookie. No other host can set or change it: over https, its name
// begins with __Host-.
type SiteCookie struct {
	name     string
	isSecure bool
	maxAge   time.Duration
}

// NewSiteCookie creates the cookie with this name and lifetime. Site is the site's public origin; it panics if the origin
// is invalid, like [NewLogin].
func NewSiteCookie(site, name string, maxAge time.Duration) SiteCookie {
	isSecure := strings.HasPrefix(parseOrigin(site), "https:")
	if isSecure {
		name = "__Host-" + name
	}
	return SiteCookie{name, isSecure, maxAge}
}

// Set sets the cookie's value in the browser.
func (c SiteCookie) Set(w http.ResponseWriter, value string) {
	http.SetCookie(w, c.with(value, int(c.maxAge/time.Second)))
}

// Clear deletes the cookie.
func (c SiteCookie) Clear(w http.ResponseWriter) {
	http.SetCookie(w, c.with("", -1))
}

// Value returns the value in a request, or "" if it is missing or ambiguous: another site may set a duplicate.
func (c SiteCookie) Value(r *http.Request) string {
	cookies := r.CookiesNamed(c.name)
	if len(cookies) != 1 {
		return ""
	}
	return cookies[0].Value
}

func (c SiteCookie) with(value string, seconds int) *http.Cookie {
	return &http.Cookie{
		Name: c.name, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: c.isSecure, SameSite: http.SameSiteLaxMode,
	}
}

// redirect escapes invalid characters of the address. Existing escapes are not encoded again.
func redirect(w http.ResponseWriter, to string) {
	location := strings.Builder{}
	for _, b := range []byte(to) {
		if b > ' ' && b < 0x7f && !strings.ContainsRune("\"<>\\^`{|}", rune(b)) {
			location.WriteByte(b)
		} else {
			fmt.Fprintf(&location, "%%%02X", b)
		}
	}
	w.Header().Set("Location", location.String())
	w.WriteHeader(http.StatusSeeOther)
}

func writeJSON(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func writeError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"error": message})
}

// readBody reads at most 64 KiB. If it returns false, the response has been written.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		writeError(w, http.StatusMethodNotAllowed, "only POST is possible here")
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		writeError(w, http.StatusRequestEntityTooLarge, "the body is too long: at most 64 KiB are accepted")
		return nil, false
	}
	if err != nil {
		writeError(w, http.StatusBadRequest, "the body did not arrive in full")
		return nil, false
	}
	if len(body) == 0 && r.ContentLength > 0 {
		err := &Error{Code: CodeParsedBody, Message: "something has read the body already: mount this handler in front " +
			"of it, or let it restore the body with r.Body = io.NopCloser(bytes.NewReader(body))"}
		slog.ErrorContext(r.Context(), "an event or an answer cannot be read", "error", err)
		writeError(w, http.StatusInternalServerError, err.Error())
		return nil, false
	}
	return body, true
}

func (s *site) events(w http.ResponseWriter, r *http.Request) {
	if len(s.webhookSecrets()) == 0 {
		writeError(w, http.StatusNotFound, "no events are expected here: the handler has no WebhookSecrets")
		return
	}
	if body, ok := readBody(w, r); ok {
		s.receive(w, r, body)
	}
}

func (s *site) receive(w http.ResponseWriter, r *http.Request, body []byte) {
	event, err := verifyWebhook(body, r.Header, s.webhookSecrets(), s.now())
	if refused := (*Error)(nil); errors.As(err, &refused) {
		status := map[ErrorCode]int{CodeInvalidSignature: http.StatusUnauthorized, CodeInvalidEvent: http.StatusBadRequest}[refused.Code]
		writeError(w, max(status, http.StatusBadRequest), refused.Message)
		return
	}
	said := "received"
	if event.Event != EventTest {
		isNew, err := s.handle(r.Context(), event)
		if errors.Is(err, errActing) {
			w.Header().Set("Retry-After", "5")
			writeError(w, http.StatusServiceUnavailable, err.Error())
			return
		}
		if err != nil {
			s.report(r.Context(), fmt.Errorf("the event %s will be sent again: %w", event.Identity(), err), StepEvents)
			writeError(w, http.StatusInternalServerError, "the event could not be handled: send it again")
			return
		}
		if !isNew {
			said = "received before"
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{"status": said})
}

var errActing = errors.New("this event is being acted on: send it again")

// handle processes an event and then records it, so that a failed or panicking OnEvent is repeated at the next delivery.
func (s *site) handle(ctx context.Context, event *Event) (isNew bool, err error) {
	identity := event.Identity()
	// The outcome is not known yet: the service must retry.
	if _, isActing := s.acting.LoadOrStore(identity, true); isActing {
		return false, errActing
	}
	defer s.acting.Delete(identity)
	known, err := s.seen.Has(ctx, identity)
	if err != nil || known {
		return false, err
	}
	if s.onEvent != nil {
		if err := s.onEvent(ctx, event); err != nil {
			return false, err
		}
	}
	// Recorded even if the service has disconnected, because the event was processed.
	return true, s.seen.Add(context.WithoutCancel(ctx), identity)
}

// isLocalPath reports whether a text is a path that stays on this site in a browser.
func isLocalPath(text string) bool {
	leaves := strings.HasPrefix(text, "//") || strings.HasPrefix(text, `/\`) || strings.ContainsFunc(text, unicode.IsControl)
	return strings.HasPrefix(text, "/") && !leaves
}

// isWebAddress reports whether a text is an http or https URL that a browser may be redirected to.
func isWebAddress(text string) bool {
	u, err := url.Parse(text)
	hasGap := strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) })
	return err == nil && !hasGap && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// localNext returns the path to continue at; / if the text is not a path of this site.
func localNext(text string) string {
	if isLocalPath(text) && utf8.ValidString(text) && len(text) <= maxNext {
		return text
	}
	return "/"
}

func encode(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// memory stores the last identities.
type memory struct {
	mutex sync.Mutex
	known map[string]bool
	order []string
}

func (m *memory) Has(_ context.Context, identity string) (bool, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.known[identity], nil
}

func (m *memory) Add(_ context.Context, identity string) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.known[identity] {
		return nil
	}
	m.known[identity] = true
	m.order = append(m.order, identity)
	if len(m.order) > maxRemember {
		delete(m.known, m.order[0])
		m.order = m.order[1:]
	}
	return nil
}
