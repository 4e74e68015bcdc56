package signpost

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"
)

type clientCase struct {
	Name      string
	Call      string
	Arguments json.RawMessage
	Options   struct{ Retries *int }
	Requests  []struct {
		Method, Path string
		Body         any
		Has, Lacks   []string
		Headers      map[string]string
	}
	SameIdempotencyKey bool `json:"same_idempotency_key"`
	Waits              [][2]int64
	Now                *time.Time
	Result             json.RawMessage
	ResultHas          any `json:"result_has"`
	Error              map[string]any
}

// UnmarshalJSON parses the output of MarshalJSON, because the vectors contain changes in JSON.
func (n *Nullable[T]) UnmarshalJSON(text []byte) error {
	n.given = true
	return json.Unmarshal(text, &n.value)
}

func TestClientPassesTheVectors(t *testing.T) {
	var vectors struct {
		Key   string
		Cases []clientCase
	}
	readVectors(t, "client.json", &vectors)
	ports := startReplies(t)
	for _, c := range vectors.Cases {
		t.Run(c.Name, func(t *testing.T) {
			port, ok := ports[c.Name]
			if !ok {
				t.Fatal("unknown case")
			}
			playCase(t, c, vectors.Key, fmt.Sprintf("http://127.0.0.1:%d", port))
		})
	}
}

// startReplies starts the scripted service, and returns its port for each case.
func startReplies(t *testing.T) map[string]int {
	t.Helper()
	program := exec.Command("python3", "../replies.py", "../../vectors/client.json")
	input, err1 := program.StdinPipe()
	output, err2 := program.StdoutPipe()
	if err := errors.Join(err1, err2, program.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = input.Close()
		_ = program.Wait()
	})
	line, err := bufio.NewReader(output).ReadBytes('\n')
	ports := map[string]int{}
	if err := errors.Join(err, json.Unmarshal(line, &ports)); err != nil {
		t.Fatal(err)
	}
	return ports
}

func playCase(t *testing.T, c clientCase, key, server string) {
	var waits []time.Duration
	client := New(key, WithBaseURL(server+"/sandbox/v1"))
	client.sleep = func(_ context.Context, delay time.Duration) error {
		waits = append(waits, delay)
		return nil
	}
	client.pause = func(context.Context, time.Duration) error { return nil }
	if c.Options.Retries != nil {
		WithRetries(*c.Options.Retries)(client)
	}
	if c.Now != nil {
		client.now = func() time.Time { return *c.Now }
	}
	result, err := perform(t, client, c)
	checkError(t, err, c.Error)
	if err == nil && c.ResultHas != nil && !contains(generic(t, result), c.ResultHas) {
		t.Errorf("%v lacks some of %v", result, c.ResultHas)
	}
	if c.Result != nil {
		var want any
		if err := json.Unmarshal(c.Result, &want); err != nil {
			t.Fatal(err)
		}
		mustEqual(t, "result", generic(t, result), want)
	}
	checkRequests(t, c, key, server)
	if c.Waits == nil {
		return
	}
	if len(waits) != len(c.Waits) {
		t.Fatalf("waits %v, wanted %v ms", waits, c.Waits)
	}
	for at, bounds := range c.Waits {
		if ms := waits[at].Milliseconds(); ms < bounds[0] || ms > bounds[1] {
			t.Errorf("wait %d: %v, wanted %v ms", at, waits[at], bounds)
		}
	}
}

func checkError(t *testing.T, err error, want map[string]any) {
	t.Helper()
	if want == nil {
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	var failure *Error
	if !errors.As(err, &failure) {
		t.Fatalf("got %v, wanted %v", err, want)
	}
	got := map[string]any{
		"code": string(failure.Code), "status": float64(failure.Status), "details": generic(t, failure.Details),
		"request_id": failure.RequestID, "retry_after": failure.RetryAfter.Seconds(),
	}
	if want["status"] == nil {
		want["status"] = 0.0
	}
	for name, value := range want {
		mustEqual(t, name, got[name], value)
	}
	if failure.RequestID != "" && !strings.HasSuffix(err.Error(), "("+failure.RequestID+")") {
		t.Errorf("the message does not name the request: %v", err)
	}
}

func checkRequests(t *testing.T, c clientCase, key, server string) {
	t.Helper()
	response, err := http.Get(server + "/seen")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var seen []struct {
		Method, Path string
		Headers      map[string]string
		Body         any
	}
	if err := json.NewDecoder(response.Body).Decode(&seen); err != nil {
		t.Fatal(err)
	}
	if len(seen) != len(c.Requests) {
		t.Fatalf("%d requests, wanted %d: %v", len(seen), len(c.Requests), seen)
	}
	keys := map[string]bool{}
	for at, want := range c.Requests {
		got := seen[at]
		gotPath, gotQuery, _ := strings.Cut(got.Path, "?")
		wantPath, wantQuery, _ := strings.Cut(want.Path, "?")
		mustEqual(t, "method and path", got.Method+" "+gotPath, want.Method+" "+wantPath)
		gotValues, _ := url.ParseQuery(gotQuery)
		wantValues, _ := url.ParseQuery(wantQuery)
		mustEqual(t, "query", gotValues, wantValues)
		if want.Body != nil {
			mustEqual(t, "body", got.Body, want.Body)
		}
		for _, name := range want.Has {
			if got.Headers[name] == "" {
				t.Errorf("no header %s", name)
			}
		}
		for _, name := range want.Lacks {
			if value, ok := got.Headers[name]; ok {
				t.Errorf("%s: %s", name, value)
			}
		}
		for name, value := range want.Headers {
			mustEqual(t, name, got.Headers[name], value)
		}
		if wantPath != "/mcp" {
			mustEqual(t, "authorization", got.Headers["authorization"], "Bearer "+key)
		}
		mustEqual(t, "user-agent", got.Headers["user-agent"], "signpost-sdk-go/0.1.0")
		keys[got.Headers["idempotency-key"]] = true
	}
	if c.SameIdempotencyKey && (len(keys) != 1 || keys[""]) {
		t.Errorf("idempotency keys %v", keys)
	}
}

func read[T any](t *testing.T, arguments json.RawMessage) T {
	t.Helper()
	var params T
	if err := json.Unmarshal(arguments, &params); err != nil {
		t.Fatal(err)
	}
	return params
}

func collect[T any](pages iter.Seq2[T, error]) (any, error) {
	var all []T
	for item, err := range pages {
		if err != nil {
			return nil, err
		}
		all = append(all, item)
	}
	return all, nil
}

func perform(t *testing.T, client *Client, c clientCase) (any, error) {
	t.Helper()
	ctx := t.Context()
	of := read[struct {
		ID             string
		DomainID       string `json:"domain_id"`
		User           string
		Credential     string
		Wait           int
		ATMID          int64   `json:"atm_id"`
		ATMIDs         []int64 `json:"atm_ids"`
		IdempotencyKey string  `json:"idempotency_key"`
	}](t, c.Arguments)
	switch c.Call {
	case "sessions.create":
		params := read[SessionParams](t, c.Arguments)
		params.IdempotencyKey = of.IdempotencyKey
		return client.Sessions.Create(ctx, params)
	case "sessions.list":
		return client.Sessions.List(ctx, read[SessionListParams](t, c.Arguments))
	case "sessions.all":
		return collect(client.Sessions.All(ctx, read[SessionListParams](t, c.Arguments)))
	case "sessions.get":
		if of.Wait > 0 {
			return client.Sessions.Get(ctx, of.ID, LongPoll(time.Duration(of.Wait)*time.Second))
		}
		return client.Sessions.Get(ctx, of.ID)
	case "sessions.wait":
		return client.Sessions.Wait(ctx, of.ID)
	case "sessions.refresh":
		return client.Sessions.Refresh(ctx, of.ID)
	case "sessions.complete":
		return client.Sessions.Complete(ctx, of.ID, read[Completion](t, c.Arguments))
	case "sessions.authenticate":
		return client.Sessions.Authenticate(ctx, of.ID, read[Answer](t, c.Arguments))
	case "sessions.cancel":
		return nil, client.Sessions.Cancel(ctx, of.ID)
	case "sessions.simulate":
		return client.Sessions.Simulate(ctx, of.ID, read[SimulateParams](t, c.Arguments))
	case "sessions.qr_svg":
		return client.Sessions.QRSVG(ctx, of.ID)
	case "verify":
		return client.Verify(ctx, read[VerifyParams](t, c.Arguments))
	case "domains.create":
		return client.Domains.Create(ctx, read[DomainParams](t, c.Arguments))
	case "domains.list":
		return client.Domains.List(ctx, read[ListParams](t, c.Arguments))
	case "domains.all":
		return collect(client.Domains.All(ctx))
	case "domains.get":
		return client.Domains.Get(ctx, of.ID)
	case "domains.update":
		return client.Domains.Update(ctx, of.ID, read[DomainChange](t, c.Arguments))
	case "domains.verify":
		return client.Domains.Verify(ctx, of.ID)
	case "domains.delete":
		return nil, client.Domains.Delete(ctx, of.ID)
	case "domains.send_test_event":
		return client.Domains.SendTestEvent(ctx, of.ID)
	case "users.list":
		return client.Users.List(ctx, of.DomainID, read[ListParams](t, c.Arguments))
	case "users.all":
		return collect(client.Users.All(ctx, of.DomainID))
	case "users.get":
		return client.Users.Get(ctx, of.DomainID, of.User)
	case "users.update":
		return client.Users.Update(ctx, of.DomainID, of.User, read[UserChange](t, c.Arguments))
	case "users.delete":
		return nil, client.Users.Delete(ctx, of.DomainID, of.User)
	case "users.delete_all":
		return nil, client.Users.DeleteAll(ctx, of.DomainID)
	case "users.delete_credential":
		return nil, client.Users.DeleteCredential(ctx, of.DomainID, of.User, of.Credential)
	case "deliveries.list":
		return client.Deliveries.List(ctx, read[DeliveryListParams](t, c.Arguments))
	case "deliveries.all":
		return collect(client.Deliveries.All(ctx, read[DeliveryListParams](t, c.Arguments)))
	case "deliveries.get":
		return client.Deliveries.Get(ctx, of.ID)
	case "deliveries.retry":
		return client.Deliveries.Retry(ctx, of.ID)
	case "deliveries.retry_all":
		return client.Deliveries.RetryAll(ctx)
	case "atms.nearest":
		return client.ATMs.Nearest(ctx, read[NearestParams](t, c.Arguments))
	case "atms.get":
		return client.ATMs.Get(ctx, of.ATMID)
	case "atms.get_many":
		return client.ATMs.GetMany(ctx, of.ATMIDs)
	case "atms.status":
		return client.ATMs.Status(ctx, read[StatusParams](t, c.Arguments))
	case "atms.list_by_city":
		return client.ATMs.ListByCity(ctx, read[CityParams](t, c.Arguments))
	}
	t.Fatalf("no method for %s", c.Call)
	return nil, nil
}

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
