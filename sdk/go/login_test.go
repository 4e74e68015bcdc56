package signpost

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

type returnCase struct {
	Name, Site, Path, Domain, Mode, Query, Cookies, Random string
	CurrentUser                                            string `json:"current_user"`
	FailedPath                                             string `json:"failed_path"`
	Now                                                    int64
	Session                                                any
	Created                                                json.RawMessage
	Completes                                              map[string]any
	Reply                                                  struct {
		Status int
		JSON   json.RawMessage
	}
	SignsIn *struct{ User, Mode, Next, Method string } `json:"signs_in"`
	Expect  struct {
		Status    int
		Location  string
		SetCookie []string `json:"set_cookie"`
		Error     *struct {
			Code   ErrorCode
			Status int
			Step   string
		}
	}
}

// returned is the effect of a request: its response, the calls of the service, and the calls of the site's functions.
type returned struct {
	header http.Header
	status int
	sent   []string
	login  *Login
	err    error
	step   string
}

// send sends a browser's request to a handler with the case's service.
func send(t *testing.T, c returnCase, cookieSecret, route string, status int, reply json.RawMessage) (got returned) {
	t.Helper()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got.sent = append(got.sent, r.URL.Path+" "+string(body))
		w.WriteHeader(status)
		_, _ = w.Write(reply)
	}))
	defer service.Close()
	path := c.Path
	if path == "" {
		path = "/"
	}
	handler := NewLogin(New("key", WithBaseURL(service.URL+"/v1"), WithRetries(0)), LoginOptions{
		Domain: c.Domain, Site: c.Site, Path: path, CookieSecret: cookieSecret, FailedPath: c.FailedPath,
		CurrentUser: func(*http.Request) string { return c.CurrentUser },
		SignIn: func(_ http.ResponseWriter, _ *http.Request, l Login) error {
			got.login = &l
			return nil
		},
		OnError:          func(err error, step string) { got.err, got.step = err, step },
		SkipStartupCheck: true,
	})
	handler.now = func() time.Time { return time.Unix(c.Now, 0) }
	handler.random = func(b []byte) {
		if n, err := hex.Decode(b, []byte(c.Random)); n != len(b) || err != nil {
			t.Error("the case has other random bytes", n, err)
		}
	}
	request := httptest.NewRequest(http.MethodGet, c.Site+c.Path+route+"?"+c.Query, nil)
	if c.Cookies != "" {
		request.Header.Set("Cookie", c.Cookies)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	mustEqual(t, "cache", recorder.Header().Get("Cache-Control"), "no-store")
	got.header, got.status = recorder.Header(), recorder.Code
	return got
}

func checkReturned(t *testing.T, c returnCase, got returned) {
	t.Helper()
	mustEqual(t, "status", got.status, c.Expect.Status)
	mustEqual(t, "location", got.header.Get("Location"), c.Expect.Location)
	mustEqual(t, "cookies", append([]string{}, got.header.Values("Set-Cookie")...), append([]string{}, c.Expect.SetCookie...))
	want := c.Expect.Error
	if want == nil {
		mustEqual(t, "error", got.err, nil)
		return
	}
	var failure *Error
	mustEqual(t, "typed", errors.As(got.err, &failure), true)
	mustEqual(t, "error", []any{failure.Code, got.step}, []any{want.Code, want.Step})
	if failure.Code != CodeInvalidResponse {
		mustEqual(t, "status of the call", failure.Status, want.Status)
	}
}

func TestLoginPassesTheVectors(t *testing.T) {
	var vectors struct {
		CookieSecret    string `json:"cookie_secret"`
		Starts, Returns []returnCase
	}
	readVectors(t, "return.json", &vectors)
	for _, c := range vectors.Starts {
		t.Run("start: "+c.Name, func(t *testing.T) {
			created := map[string]any{"status": "pending", "created_at": time.Unix(c.Now, 0), "expires_at": time.Unix(c.Now, 0), "challenge": "c", "qr_data": "q"}
			if err := json.Unmarshal(c.Created, &created); err != nil {
				t.Fatal(err)
			}
			reply, _ := json.Marshal(created)
			got := send(t, c, vectors.CookieSecret, "/"+c.Mode, 201, reply)
			checkReturned(t, c, got)
			var body any
			text, isCreation := strings.CutPrefix(got.sent[0], "/v1/sessions ")
			if err := json.Unmarshal([]byte(text), &body); err != nil || !isCreation || len(got.sent) != 1 {
				t.Fatal(got.sent, err)
			}
			mustEqual(t, "session", body, c.Session)
		})
	}
	for _, c := range vectors.Returns {
		t.Run("return: "+c.Name, func(t *testing.T) {
			got := send(t, c, vectors.CookieSecret, "/return", c.Reply.Status, c.Reply.JSON)
			checkReturned(t, c, got)
			var want []string
			if c.Completes != nil {
				want = []string{fmt.Sprintf(`/v1/sessions/%s/complete {"code":"%s","browser_secret":"%s"}`, c.Completes["id"], c.Completes["code"], c.Completes["browser_secret"])}
			}
			mustEqual(t, "requests", got.sent, want)
			mustEqual(t, "logged in", got.login != nil, c.SignsIn != nil)
			if got.login != nil && c.SignsIn != nil {
				login := got.login
				mustEqual(t, "signs in", []string{login.User.ID, login.Mode, login.Next, login.Method},
					[]string{c.SignsIn.User, c.SignsIn.Mode, c.SignsIn.Next, c.SignsIn.Method})
				mustEqual(t, "session", login.Session.User.ID, login.User.ID)
			}
		})
	}
}

func TestInvalidOptionsPanic(t *testing.T) {
	var vectors struct {
		CookieSecret   string `json:"cookie_secret"`
		RefusedOptions []struct {
			Name         string
			CookieSecret *string `json:"cookie_secret"`
			Site, Path   string
			FailedPath   string `json:"failed_path"`
		} `json:"refused_options"`
	}
	readVectors(t, "return.json", &vectors)
	refused := map[string]func(*LoginOptions){
		"no domain":     func(o *LoginOptions) { o.Domain = "" },
		"no sign-in":    func(o *LoginOptions) { o.SignIn = nil },
		"a wrong event": func(o *LoginOptions) { o.WebhookSecrets = []string{someSecret + "\n"} },
	}
	for _, c := range vectors.RefusedOptions {
		refused[c.Name] = func(o *LoginOptions) {
			o.CookieSecret, o.Path, o.FailedPath = vectors.CookieSecret, c.Path, c.FailedPath
			if c.CookieSecret != nil {
				o.CookieSecret = *c.CookieSecret
			}
			if c.Site != "" {
				o.Site = c.Site
			}
		}
	}
	for name, change := range refused {
		t.Run(name, func(t *testing.T) {
			defer func() {
				err, _ := recover().(error)
				var failure *Error
				if !errors.As(err, &failure) || failure.Code != CodeInvalidArgument && failure.Code != CodeInvalidSecret {
					t.Error("no panic with a reason:", err)
				}
			}()
			NewLogin(New("key"), loginOptions(change))
		})
	}
}

func TestUnknownRoutesAreNotFound(t *testing.T) {
	handler := NewLogin(New("key"), loginOptions(nil))
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/signpost/", 404}, {"GET", "/signpost", 404}, {"GET", "/login", 404}, {"GET", "/signpost/login/a", 404},
		{"GET", "/signpostlogin", 404}, {"GET", "/signpost/link", 404}, {"POST", "/signpost/login", 405}, {"HEAD", "/signpost/return", 405},
		{"PUT", "/signpost/logout", 405}, {"GET", "/signpost/events", 405},
	} {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(c.method, "https://shop.example"+c.path, nil))
		mustEqual(t, c.method+" "+c.path, recorder.Code, c.status)
	}
}

func TestOriginIsNormalized(t *testing.T) {
	for text, want := range map[string]string{
		"https://Example.com/": "https://example.com", "https://example.com:443": "https://example.com",
		"http://127.0.0.1:9000": "http://127.0.0.1:9000", "http://example.com:80": "http://example.com",
	} {
		mustEqual(t, text, parseOrigin(text), want)
	}
}

func TestCancellationIsReportedAfterExpiry(t *testing.T) {
	handler := NewLogin(New("key"), loginOptions(nil))
	for query, place := range map[string]string{
		"session_id=sess_1&error=access_denied": "/?login_error=access_denied",
		"session_id=sess_1&error=expired":       "/?login_error=expired",
		"session_id=sess_1&error=later":         "/?login_error=refused",
		"session_id=sess_1&code=a":              "/?login_error=other_browser",
		"error=expired":                         "/?login_error=refused",
	} {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/signpost/return?"+query, nil))
		mustEqual(t, query, recorder.Header().Get("Location"), place)
	}
}

func TestLoginLimitsItsRetryDelay(t *testing.T) {
	asked := 0
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Retry-After", "4")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer service.Close()
	client := New("key", WithBaseURL(service.URL+"/v1"))
	client.sleep = func(context.Context, time.Duration) error { return nil }
	recorder := httptest.NewRecorder()
	handler := NewLogin(client, loginOptions(func(o *LoginOptions) { o.OnError = func(error, string) {} }))
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "https://shop.example/signpost/login", nil))
	mustEqual(t, "the login", []any{recorder.Header().Get("Location"), asked}, []any{"/?login_error=unavailable", 1})
	_, _ = client.Sessions.Get(t.Context(), "sess_1")
	mustEqual(t, "only the client", asked, 4)
}

func TestSiteOutsideOfASCIIIsRejected(t *testing.T) {
	defer func() {
		err, _ := recover().(error)
		checkError(t, err, map[string]any{"code": "invalid_argument"})
	}()
	parseOrigin("https://bücher.example")
}

func TestRequestOfABrowserThatLeftIsNotReported(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client := New("key", WithHTTPClient(&http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		cancel()
		return nil, r.Context().Err()
	})}))
	handler := NewLogin(client, loginOptions(func(o *LoginOptions) { o.OnError = func(err error, _ string) { t.Error(err) } }))
	request := httptest.NewRequest(http.MethodGet, "https://shop.example/signpost/login", nil).WithContext(ctx)
	handler.ServeHTTP(httptest.NewRecorder(), request)
}

func TestErrorOfTheSiteIs500AndReported(t *testing.T) {
	var errs []string
	handler := NewLogin(New("key"), loginOptions(func(o *LoginOptions) {
		o.SignOut = func(http.ResponseWriter, *http.Request) error { return errors.New("the database is away") }
		o.OnError = func(err error, step string) { errs = append(errs, step+": "+err.Error()) }
	}))
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, "https://shop.example/signpost/logout", nil))
	mustEqual(t, "status and location", []any{recorder.Code, recorder.Header().Get("Location")}, []any{500, ""})
	mustEqual(t, "errors", errs, []string{"logout: the database is away"})
}

func TestConcurrentRequestsFromAnotherHostAreOneLine(t *testing.T) {
	var lines atomic.Int32
	handler := NewLogin(New("key"), loginOptions(nil))
	handler.log = func(string) { lines.Add(1) }
	var requests sync.WaitGroup
	for range 50 {
		requests.Add(1)
		go func() {
			defer requests.Done()
			recorder := httptest.NewRecorder()
			handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "https://evil.example/signpost/login?next=%2Fa", nil))
			mustEqual(t, "location", recorder.Header().Get("Location"), "https://shop.example/signpost/login?next=%2Fa&signpost_host=1")
		}()
	}
	requests.Wait()
	mustEqual(t, "lines", lines.Load(), int32(1))
}

func TestCancelPendingClearsTheStatesOfABrowser(t *testing.T) {
	request := httptest.NewRequest(http.MethodGet, "https://shop.example/logout", nil)
	request.Header.Set("Cookie", "__Host-signpost-0000000000000001=a; other=b; __Host-signpost-0000000000000002=c; signpost-0000000000000003=d")
	recorder := httptest.NewRecorder()
	NewLogin(New("key"), loginOptions(nil)).CancelPending(recorder, request)
	var names []string
	for _, line := range recorder.Header().Values("Set-Cookie") {
		name, _, _ := strings.Cut(line, ";")
		names = append(names, name)
	}
	mustEqual(t, "cleared", names, []string{"__Host-signpost-0000000000000001=", "__Host-signpost-0000000000000002="})
}

func TestStartDeletesOnlyItsOwnCookies(t *testing.T) {
	handler := NewLogin(New("key"), loginOptions(nil))
	request := httptest.NewRequest(http.MethodGet, "/signpost/login", nil)
	for at := range 5 {
		request.AddCookie(&http.Cookie{Name: fmt.Sprintf("__Host-signpost-theme%d", at), Value: "dark"})
		request.AddCookie(&http.Cookie{Name: handler.cookieName("signpost", fmt.Sprint(at)), Value: fmt.Sprintf("v1.s.%d.login.Lw.mac", at)})
	}
	cookies := handler.clearOld(request)
	mustEqual(t, "deletions", len(cookies), 3)
	for at, cookie := range cookies {
		mustEqual(t, "cleared", cookie, handler.cookie(handler.cookieName("signpost", fmt.Sprint(at)), "", "0"))
	}
}

func TestSiteCookieHasTheHostPrefix(t *testing.T) {
	secure, plain := NewSiteCookie("https://shop.example", "login", time.Minute), NewSiteCookie("http://localhost:9001", "login", time.Minute)
	recorder := httptest.NewRecorder()
	secure.Set(recorder, "a-b_c")
	secure.Clear(recorder)
	plain.Set(recorder, "a")
	mustEqual(t, "cookies", recorder.Header().Values("Set-Cookie"), []string{
		"__Host-login=a-b_c; Path=/; Max-Age=60; HttpOnly; Secure; SameSite=Lax",
		"__Host-login=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax",
		"login=a; Path=/; Max-Age=60; HttpOnly; SameSite=Lax",
	})
	for _, c := range []struct {
		cookie         SiteCookie
		header, wanted string
	}{
		{secure, "__Host-login=a", "a"},
		{secure, "x=y; __Host-login=a; login=b", "a"},
		{secure, "login=a", ""},
		{secure, "__Host-login=a; __Host-login=b", ""},
		{secure, "__Host-login=a; __Host-login=a", ""},
		{secure, "", ""},
		{plain, "login=a", "a"},
		{plain, "login=a; login=b", ""},
		{plain, "__Host-login=a", ""},
	} {
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		request.Header.Set("Cookie", c.header)
		mustEqual(t, c.header, c.cookie.Value(request), c.wanted)
	}
}
