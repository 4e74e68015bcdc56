package signpost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

type receiverCase struct {
	Name, Handler string
	Held          struct {
		Sessions []struct{ Challenge, State string }
		Users    []string
		Codes    []struct {
			SID, State string
			ReturnURL  string `json:"return_url"`
		}
		Secrets        []string
		Seen           []string
		Completed      []string
		AllowedSources []string `json:"allowed_sources"`
		BindPoll       *bool    `json:"bind_poll"`
		Fails          bool
		Busy           int
	}
	Request struct {
		Body         json.RawMessage
		Text         *string
		Headers      map[string]string
		SID          *string
		Browser      string
		Origin       *string
		SecFetchSite *string `json:"sec_fetch_site"`
	}
	Expect struct {
		Status     int
		Body       map[string]string
		LogsIn     *bool `json:"logs_in"`
		RetryAfter int   `json:"retry_after"`
	}
}

// unsupported returns the reason why this SDK does not support a case, or "".
func (c receiverCase) unsupported() string {
	switch {
	case c.Held.AllowedSources != nil:
		return "the SDK does not restrict source addresses; use a firewall"
	}
	return ""
}

// playService simulates the service at the time `now`.
func playService(sessions map[string]*Code, busy int, now int64) http.HandlerFunc {
	var mutex sync.Mutex
	fail := func(w http.ResponseWriter, status int, code string) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"code":%q,"message":"no","details":{}}}`, code)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		var body struct {
			Answer
			Message string
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		if busy > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(busy))
			fail(w, 429, "rate_limited")
			return
		}
		if r.URL.Path == "/v1/verify" {
			code, valid := verifySignature(body.PublicKey, body.Signature, body.Message)
			if code != "" {
				fail(w, 400, code)
				return
			}
			fmt.Fprintf(w, `{"valid":%t,"public_key":%q,"message_hash":"sha256:"}`, valid, body.PublicKey)
			return
		}
		id, _ := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/v1/sessions/"), "/authenticate")
		session := sessions[id]
		code, valid := verifySignature(body.PublicKey, body.Signature, body.Challenge)
		switch {
		case session == nil:
			fail(w, 404, "session_not_found")
		case session.User != "":
			fail(w, 409, "session_already_authenticated")
		case code != "" || !valid:
			fail(w, 406, "invalid_signature")
		default:
			session.User = body.PublicKey
			fmt.Fprintf(w, `{"id":%q,"status":"authenticated","user":{"public_key":%q,"device_info":{}}}`, id, body.PublicKey)
		}
	}
}

func TestWalletHandlerPassesTheVectors(t *testing.T) {
	var vectors struct {
		Now    int64
		Origin string
		Cases  []receiverCase
	}
	readVectors(t, "receiver.json", &vectors)
	skipped := 0
	for _, c := range vectors.Cases {
		t.Run(c.Name, func(t *testing.T) {
			if why := c.unsupported(); why != "" {
				skipped++
				t.Skip(why)
			}
			playReceiver(t, c, vectors.Origin, vectors.Now)
		})
	}
	mustEqual(t, "cases that are not supported", skipped, 5)
}

// failing is a store that fails.
type failing struct{}

func (failing) Save(context.Context, Code) error               { return errors.New("away") }
func (failing) Find(context.Context, string) (*Code, error)    { return nil, errors.New("away") }
func (failing) Complete(context.Context, string) (bool, error) { return false, errors.New("away") }
func (failing) Has(context.Context, string) (bool, error)      { return false, errors.New("away") }
func (failing) Add(context.Context, string) error              { return errors.New("away") }

const shownTo = "the-cookie-value-of-this-browser"

func playReceiver(t *testing.T, c receiverCase, origin string, now int64) {
	sessions := map[string]*Code{}
	asked, play := 0, playService(sessions, c.Held.Busy, now)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		play(w, r)
	}))
	defer service.Close()
	users, signedIn := map[string]bool{}, 0
	for _, user := range c.Held.Users {
		users[user] = true
	}
	options := WalletOptions{
		Domain: "example.com", Site: origin, WebhookSecrets: c.Held.Secrets,
		SignIn: func(http.ResponseWriter, *http.Request, Login) error {
			signedIn++
			return nil
		},
		FindUser: func(_ context.Context, key string) (string, error) {
			if users[key] {
				return "user of " + key, nil
			}
			return "", nil
		},
		CreateUser: func(_ context.Context, key string, _ Device) (string, error) { return "user of " + key, nil },
	}
	options.UnboundPolls = c.Held.BindPoll != nil && !*c.Held.BindPoll
	if c.Held.Fails {
		options.Codes, options.SeenEvents = failing{}, failing{}
	}
	handler := NewWallet(New("key", WithBaseURL(service.URL+"/v1")), options)
	handler.now = func() time.Time { return time.Unix(now, 0) }
	hold(t, handler, c, sessions, time.Unix(now, 0))
	request := receiverRequest(c, handler)
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	if c.Expect.Body["post"] == "answer" {
		c.Expect.Status = http.StatusNotFound // No session is pending, so the signature is not checked.
	}
	mustEqual(t, "status", recorder.Code, c.Expect.Status)
	for _, session := range c.Held.Sessions {
		if session.State != "pending" && asked > 0 {
			t.Error("the service was polled for a code that is not pending")
		}
	}
	if c.Expect.RetryAfter > 0 {
		mustEqual(t, "Retry-After", recorder.Header().Get("Retry-After"), strconv.Itoa(c.Expect.RetryAfter))
	}
	if c.Expect.LogsIn != nil {
		mustEqual(t, "logs in", signedIn == 1, *c.Expect.LogsIn)
	}
	var got map[string]string
	if err := json.Unmarshal(recorder.Body.Bytes(), &got); err != nil {
		t.Fatal(err, recorder.Body.String())
	}
	if c.Handler == "classify" && c.Expect.Status != http.StatusUnauthorized {
		return // The status shows how it was classified.
	}
	for name, text := range got {
		if c.Expect.Body[name] == "<text>" && text != "" {
			got[name] = "<text>"
		}
	}
	mustEqual(t, "body", got, c.Expect.Body)
}

// hold stores the state of a case in the handler.
func hold(t *testing.T, handler *WalletHandler, c receiverCase, sessions map[string]*Code, now time.Time) {
	save := func(code Code) {
		code.Browser = hashText(shownTo)
		if err := handler.codes.Save(t.Context(), code); err != nil {
			t.Fatal(err)
		}
	}
	for at, session := range c.Held.Sessions {
		code := Code{SID: fmt.Sprint("sess_", at), Challenge: session.Challenge, ExpiresAt: now.Add(time.Minute)}
		code.Mode, _, _ = strings.Cut(strings.TrimPrefix(session.Challenge, "svc:"), ":")
		switch session.State {
		case "answered":
			code.User = "somebody"
		case "expired":
			code.ExpiresAt = now
		}
		save(code)
		if session.State == "pending" {
			sessions[code.SID] = &Code{}
		}
	}
	for _, shown := range c.Held.Codes {
		code := Code{SID: shown.SID, Challenge: "svc:" + shown.SID, Mode: ModeLogin, Next: shown.ReturnURL}
		if shown.State == "authenticated" {
			code.User = "somebody"
		}
		save(code)
	}
	for _, sid := range c.Held.Completed {
		_, _ = handler.codes.Complete(t.Context(), sid)
	}
	for _, identity := range c.Held.Seen {
		_ = handler.seen.Add(t.Context(), identity)
	}
}

func receiverRequest(c receiverCase, handler *WalletHandler) *http.Request {
	path := map[string]string{"login": "/wallet/login", "classify": "/wallet/login", "register": "/wallet/register", "event": "/events"}[c.Handler]
	method, body := http.MethodPost, string(c.Request.Body)
	if c.Request.Text != nil {
		body = *c.Request.Text
	}
	sid := ""
	if c.Handler == "poll" {
		method, path = http.MethodGet, "/poll"
		if c.Request.SID != nil {
			sid = *c.Request.SID
			path += "?sid=" + sid
		}
	}
	request := httptest.NewRequest(method, "/signpost"+path, strings.NewReader(body))
	request.Header = headers(c.Request.Headers)
	if cookie := map[string]string{"shown": shownTo, "other": "another browser"}[c.Request.Browser]; cookie != "" {
		request.AddCookie(&http.Cookie{Name: handler.cookieName("code", sid), Value: cookie})
	}
	if c.Request.Origin != nil {
		request.Header.Set("Origin", *c.Request.Origin)
	}
	if c.Request.SecFetchSite != nil {
		request.Header.Set("Sec-Fetch-Site", *c.Request.SecFetchSite)
	}
	return request
}
