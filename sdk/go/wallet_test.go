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
	"testing"
	"time"
)

// shop returns a handler with a simulated service, and a request of the browser that was shown its code.
func shop(t *testing.T, change func(*WalletOptions)) (handler *WalletHandler, browser func(path string) *httptest.ResponseRecorder) {
	t.Helper()
	challenges := 0
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/authenticate"):
			fmt.Fprint(w, `{"id":"sess_1","status":"authenticated","user":{"public_key":"02","device_info":{}}}`)
		default:
			challenges++
			fmt.Fprintf(w, `{"id":"sess_1","status":"pending","challenge":"svc:register:example.com:1:%022d","qr_data":"svc://auth?n=%d","expires_at":"2100-01-01T00:00:00Z","created_at":"2023-11-14T22:13:10Z"}`, challenges, challenges)
		}
	}))
	t.Cleanup(service.Close)
	options := WalletOptions{
		Domain: "example.com", Site: "https://example.com",
		SignIn:     func(http.ResponseWriter, *http.Request, Login) error { return nil },
		FindUser:   func(context.Context, string) (string, error) { return "", nil },
		CreateUser: func(_ context.Context, key string, _ Device) (string, error) { return key, nil },
	}
	change(&options)
	handler = NewWallet(New("key", WithBaseURL(service.URL+"/v1")), options)
	shown := httptest.NewRecorder()
	code, err := handler.ShowCode(shown, httptest.NewRequest(http.MethodGet, "/", nil), ModeRegister, "//evil.example")
	if err != nil || code.SID != "sess_1" || code.QRData != "svc://auth?n=1" {
		t.Fatal(code, err)
	}
	cookie := shown.Header().Get("Set-Cookie")
	if !strings.HasPrefix(cookie, "__Host-code-") || !strings.HasSuffix(cookie, "; Path=/; Max-Age=1800; HttpOnly; SameSite=Lax; Secure") {
		t.Error(cookie)
	}
	return handler, func(path string) *httptest.ResponseRecorder {
		request := httptest.NewRequest(http.MethodGet, path, nil)
		request.Header.Set("Cookie", cookie[:strings.Index(cookie, ";")])
		recorder := httptest.NewRecorder()
		if path == "/refresh" {
			if code, err := handler.RefreshCode(request, "sess_1"); err != nil || code.QRData != "svc://auth?n=2" {
				t.Error(code, err)
			}
			return recorder
		}
		handler.ServeHTTP(recorder, request)
		return recorder
	}
}

// answers posts a wallet's answer to the challenge with this number.
func answers(handler http.Handler, number int) *httptest.ResponseRecorder {
	body := fmt.Sprintf(`{"public_key":"%s","signature":"30","challenge":"Sign this to register to example.com at 1:%022d","timestamp":%d}`,
		"02"+strings.Repeat("ab", 32), number, time.Now().Unix())
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, "/signpost/wallet/register", strings.NewReader(body)))
	return recorder
}

func TestRefreshRequiresTheBrowserOfTheCode(t *testing.T) {
	handler, browser := shop(t, func(*WalletOptions) {})
	_, err := handler.RefreshCode(httptest.NewRequest(http.MethodPost, "/refresh", nil), "sess_1")
	checkError(t, err, map[string]any{"code": "invalid_argument"})
	browser("/refresh")
	mustEqual(t, "the old code", answers(handler, 1).Code, http.StatusNotFound)
	mustEqual(t, "the new code", answers(handler, 2).Code, http.StatusOK)
	mustEqual(t, "the poll", strings.TrimSpace(browser("/signpost/poll?sid=sess_1").Body.String()), `{"redirect":"/","status":"authenticated"}`)
}

func TestConcurrentRegistrationIsAConflict(t *testing.T) {
	handler, _ := shop(t, func(o *WalletOptions) {
		o.CreateUser = func(context.Context, string, Device) (string, error) {
			return "", fmt.Errorf("insert: %w", ErrUserExists)
		}
	})
	mustEqual(t, "status", answers(handler, 1).Code, http.StatusConflict)
}

func TestFailedSignInIsRetried(t *testing.T) {
	signIns := 0
	var errs []string
	handler, browser := shop(t, func(o *WalletOptions) {
		o.OnError = func(err error, step string) { errs = append(errs, step+": "+err.Error()) }
		o.SignIn = func(http.ResponseWriter, *http.Request, Login) error {
			if signIns++; signIns == 1 {
				return errors.New("the database is away")
			}
			return nil
		}
	})
	mustEqual(t, "answer", answers(handler, 1).Code, http.StatusOK)
	for _, status := range []int{500, 200, 200} {
		mustEqual(t, "poll", browser("/signpost/poll?sid=sess_1").Code, status)
	}
	mustEqual(t, "sign-ins", signIns, 2)
	mustEqual(t, "errors", errs, []string{"wallet: the database is away"})
}

func TestCodeMemoryIsBounded(t *testing.T) {
	codes := &codeMemory{bySID: map[string]*Code{}, completed: map[string]bool{}}
	for at := range maxRemember + 5 {
		sid := strconv.Itoa(at)
		_ = codes.Save(t.Context(), Code{SID: sid, Challenge: "svc:" + sid})
		_, _ = codes.Complete(t.Context(), sid)
	}
	mustEqual(t, "entries", []int{len(codes.bySID), len(codes.completed), len(codes.order)}, []int{2 * maxRemember, maxRemember, maxRemember})
}

func TestUnknownWalletRoutesAreNotFound(t *testing.T) {
	handler, _ := shop(t, func(*WalletOptions) {})
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/poll", 404}, {"POST", "/wallet/login", 404}, {"POST", "/signpost/poll?sid=a", 405}, {"GET", "/signpost/wallet/login", 405},
		{"POST", "/signpost/wallet/link", 404}, {"GET", "/signpost/poll", 400}, {"POST", "/signpost/events", 404},
	} {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(c.method, c.path, nil))
		mustEqual(t, c.method+" "+c.path, recorder.Code, c.status)
	}
	// An unknown member does not turn an answer into an event.
	request := httptest.NewRequest(http.MethodPost, "/signpost/wallet/login", strings.NewReader(`{"Event":"login"}`))
	serve(t, handler, request, http.StatusBadRequest)
}

func TestUserExistenceRequiresAValidSignature(t *testing.T) {
	cases := signatures(t)
	for _, c := range cases {
		if c.code != "" || c.Message != cases[0].Message {
			continue
		}
		for mode, route := range map[string]string{ModeLogin: "login", ModeRegister: "register"} {
			service := httptest.NewServer(playService(nil, 0, 0))
			handler := NewWallet(New("key", WithBaseURL(service.URL+"/v1")), WalletOptions{
				Domain: "example.com", Site: "https://example.com",
				SignIn: func(http.ResponseWriter, *http.Request, Login) error { return nil },
				FindUser: func(context.Context, string) (string, error) {
					return map[string]string{ModeRegister: "somebody"}[mode], nil
				},
				CreateUser: func(context.Context, string, Device) (string, error) {
					return "", errors.New("user creation is disabled")
				},
			})
			challenge := "svc:login:example.com:1699999990:AQEBAQEBAQEBAQEBAQEBAQ"
			_ = handler.codes.Save(t.Context(), Code{SID: "sess_1", Challenge: challenge, Mode: mode, ExpiresAt: time.Now().Add(time.Minute)})
			body, _ := json.Marshal(Answer{PublicKey: c.PublicKey, Signature: c.Signature, Challenge: c.Message, Timestamp: time.Now().Unix()})
			recorder := httptest.NewRecorder()
			handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, "/signpost/wallet/"+route, strings.NewReader(string(body))))
			want := http.StatusNotAcceptable
			if c.Valid {
				want = map[string]int{ModeLogin: http.StatusNotFound, ModeRegister: http.StatusConflict}[mode]
			}
			mustEqual(t, mode+" "+c.Name, recorder.Code, want)
			service.Close()
		}
	}
}
