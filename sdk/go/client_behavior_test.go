package signpost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestFirstCallReportsAnInvalidOption(t *testing.T) {
	for _, base := range []string{"", "localhost:8080/v1", "ftp://a.example/v1", "http://a.example/v1?x=1", "http:///v1", "http://a.example/v1#a", "http://me:pw@a.example/v1"} {
		client := New("key", WithBaseURL(base))
		_, err := client.Domains.List(t.Context(), ListParams{})
		checkError(t, err, map[string]any{"code": "invalid_argument"})
		mustEqual(t, base, client.ATMs.MCPURL(), "")
	}
	for _, option := range []Option{WithTimeout(0), WithRetries(-1)} {
		_, err := New("key", option).Domains.List(t.Context(), ListParams{})
		checkError(t, err, map[string]any{"code": "invalid_argument"})
	}
	client := New("", WithBaseURL("https://a.example/v1//"))
	mustEqual(t, "base", client.base, "https://a.example/v1")
	mustEqual(t, "MCP", client.ATMs.MCPURL(), "https://a.example/mcp")
}

func TestInvalidOrLongImageIsRejected(t *testing.T) {
	body := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
	defer server.Close()
	client := New("key", WithBaseURL(server.URL+"/v1"))
	for _, body = range []string{"<h1>Welcome</h1>", "<svg>" + strings.Repeat(" ", maxReply) + "</svg>"} {
		_, err := client.Sessions.QRSVG(t.Context(), "sess_1")
		checkError(t, err, map[string]any{"code": "invalid_response", "status": 200.0})
	}
	err := client.Domains.Delete(t.Context(), "dom_1")
	checkError(t, err, map[string]any{"code": "invalid_response", "status": 200.0})
}

func TestWaitAcceptsAnyDuration(t *testing.T) {
	client := New("key")
	for text, want := range map[string]time.Duration{
		"0": 0, "30": 30 * time.Second, "99999999999999999999": math.MaxInt32 * time.Second, "1.5": 0, "+1": 0, "": 0, "-1": 0,
	} {
		mustEqual(t, text, client.retryAfter(text), want)
	}
}

func TestKeyIsNeverPrinted(t *testing.T) {
	const key = "svc_test_secret-key"
	client := New(key, WithBaseURL("http://127.0.0.1:1/v1"), WithRetries(0))
	log := &strings.Builder{}
	slog.New(slog.NewJSONHandler(log, nil)).Info("a client", "client", client)
	slog.New(slog.NewTextHandler(log, nil)).Info("a client", "client", *client)
	_, err := client.Domains.Get(t.Context(), "dom_1")
	texts := []string{log.String(), fmt.Sprint(err), fmt.Sprintf("%#v", err)}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		texts = append(texts, fmt.Sprintf(format, client), fmt.Sprintf(format, *client), fmt.Sprintf(format, client.Sessions))
	}
	for _, text := range texts {
		if strings.Contains(text, "secret-key") {
			t.Error(text)
		}
	}
}

func TestKeyWithALineEndIsNotSent(t *testing.T) {
	_, err := New("svc_test_a\n", WithBaseURL("http://127.0.0.1:1/v1")).Domains.List(t.Context(), ListParams{})
	checkError(t, err, map[string]any{"code": "invalid_argument"})
}

func TestTimeoutAndContextBoundACall(t *testing.T) {
	entered := make(chan struct{}, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		entered <- struct{}{}
		<-r.Context().Done()
	}))
	defer server.Close()
	client := New("key", WithBaseURL(server.URL+"/v1"), WithTimeout(20*time.Millisecond))
	// A busy machine may not have read a request before the client times out: the waits between attempts are counted here.
	waits := 0
	client.sleep = func(context.Context, time.Duration) error { waits++; return nil }
	_, err := client.Sessions.Get(t.Context(), "sess_1")
	checkError(t, err, map[string]any{"code": "timeout"})
	mustEqual(t, "waits between tries", waits, 2)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}

	client = New("key", WithBaseURL(server.URL+"/v1"))
	ctx, cancel := context.WithCancel(t.Context())
	for len(entered) > 0 {
		<-entered
	}
	go func() {
		<-entered
		cancel()
	}()
	if _, err := client.Sessions.Get(ctx, "sess_1"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	mustEqual(t, "further tries", len(entered), 0)
}

func TestWaitEndsWithItsTimeout(t *testing.T) {
	polls := []string{}
	now := time.Unix(1_700_000_000, 0)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		polls = append(polls, r.URL.RawQuery)
		now = now.Add(25 * time.Second)
		fmt.Fprint(w, `{"id":"sess_1","status":"pending","expires_at":"2023-11-14T22:18:10Z"}`)
	}))
	defer server.Close()
	client := New("key", WithBaseURL(server.URL+"/v1"))
	client.now = func() time.Time { return now }
	session, err := client.Sessions.Wait(t.Context(), "sess_1", WaitAtMost(60*time.Second))
	if err != nil || session.Status != StatusPending {
		t.Fatal(session, err)
	}
	mustEqual(t, "polls", polls, []string{"wait=25", "wait=25", "wait=10"})
}

func TestWaitPollsOnceASecond(t *testing.T) {
	polls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if polls++; polls > 100 {
			w.WriteHeader(http.StatusInternalServerError) // Otherwise it would never end.
		}
		fmt.Fprint(w, `{"id":"sess_1","status":"pending","expires_at":"2023-11-14T22:18:10Z"}`)
	}))
	defer server.Close()
	client, now := New("key", WithBaseURL(server.URL+"/v1")), time.Unix(1_700_000_000, 0)
	client.now = func() time.Time { return now }
	client.pause = func(_ context.Context, delay time.Duration) error {
		now = now.Add(delay)
		return nil
	}
	if _, err := client.Sessions.Wait(t.Context(), "sess_1", WaitAtMost(5*time.Second)); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "polls", polls, 6)
}

func TestPagesEndWhenTheCallerStops(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Query().Get("cursor") != "" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":{"code":"invalid_request","message":"no","details":{}}}`)
			return
		}
		fmt.Fprint(w, `{"users":[{"id":"usr_1"},{"id":"usr_2"}],"next_cursor":"c"}`)
	}))
	defer server.Close()
	client := New("key", WithBaseURL(server.URL+"/v1"))
	for user, err := range client.Users.All(t.Context(), "dom_1") {
		mustEqual(t, "first", []any{user.ID, err}, []any{"usr_1", nil})
		break
	}
	mustEqual(t, "pages", asked, 1)
	var got []string
	for user, err := range client.Users.All(t.Context(), "dom_1") {
		var failure *Error
		if errors.As(err, &failure) {
			got = append(got, string(failure.Code))
		} else {
			got = append(got, user.ID)
		}
	}
	mustEqual(t, "items, then the error", got, []string{"usr_1", "usr_2", "invalid_request"})
}

func TestCustomHTTPClientIsUsed(t *testing.T) {
	sent := 0
	mine := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		sent++
		header := http.Header{"Location": {"http://elsewhere.example/"}}
		return &http.Response{StatusCode: 307, Header: header, Body: http.NoBody}, nil
	})}
	client := New("key", WithHTTPClient(mine))
	_, err := client.Sessions.Create(t.Context(), SessionParams{Domain: "localhost"})
	checkError(t, err, map[string]any{"code": "invalid_response", "status": 307.0})
	mustEqual(t, "sent", sent, 1)
	if reflect.ValueOf(mine.CheckRedirect).IsValid() && mine.CheckRedirect != nil {
		t.Error("the client that was given is changed")
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestOneShotRequestUsesANewConnection(t *testing.T) {
	opened := 0
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened++
		}
	}
	server.Start()
	client := New("key", WithBaseURL(server.URL+"/v1"))
	for range 3 {
		_, err1 := client.Sessions.Get(t.Context(), "sess_1")
		_, err2 := client.Sessions.Complete(t.Context(), "sess_1", Completion{})
		mustEqual(t, "errors", errors.Join(err1, err2), nil)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	server.Close()
	mustEqual(t, "one for all retries, and one for each other call", opened, 4)
}

func TestQRCodeRejectsAProxyPage(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html><svg></svg></html>")
	}))
	defer server.Close()
	client := New("key", WithBaseURL(server.URL+"/v1"))
	_, err := client.Sessions.QRSVG(t.Context(), "sess_1")
	checkError(t, err, map[string]any{"code": "invalid_response", "status": 200.0})
	checkError(t, client.Sessions.Cancel(t.Context(), "sess_1"), map[string]any{"code": "invalid_response", "status": 200.0})
}
