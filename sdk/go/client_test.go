package signpost

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"os/exec"
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
		SignIn         string `json:"sign_in"`
		Wait           int
		ATMID          int64   `json:"atm_id"`
		ATMIDs         []int64 `json:"atm_ids"`
		IdempotencyKey string  `json:"idempotency_key"`
		ExternalID     string  `json:"external_id"`
		Q              string
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
	case "users.create":
		params := read[UserParams](t, c.Arguments)
		params.IdempotencyKey = of.IdempotencyKey
		return client.Users.Create(ctx, of.DomainID, params)
	case "users.list":
		search := read[UserSearch](t, c.Arguments)
		search.ExternalID, search.Query = of.ExternalID, of.Q
		if search == (UserSearch{ListParams: search.ListParams}) {
			return client.Users.List(ctx, of.DomainID, search.ListParams)
		}
		return client.Users.Search(ctx, of.DomainID, search)
	case "users.sign_ins":
		return client.Users.SignIns(ctx, of.DomainID, of.User, read[ListParams](t, c.Arguments))
	case "users.end_sign_in":
		return nil, client.Users.EndSignIn(ctx, of.DomainID, of.User, of.SignIn)
	case "users.end_sign_ins":
		return nil, client.Users.EndSignIns(ctx, of.DomainID, of.User)
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
