package signpost

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

func headers(lines map[string]string) http.Header {
	header := http.Header{}
	for name, value := range lines {
		header[name] = []string{value} // Not normalized: some frameworks do not use net/http.
	}
	return header
}

func TestVerifyWebhookPassesTheVectors(t *testing.T) {
	var vectors struct {
		Verify []struct {
			Name    string
			Secrets []string
			Now     int64
			Headers map[string]string
			Body    string
			Parsed  any
			Event   json.RawMessage
			Error   *struct{ Code, Reason string }
		}
	}
	readVectors(t, "events.json", &vectors)
	for _, c := range vectors.Verify {
		t.Run(c.Name, func(t *testing.T) {
			if c.Parsed != nil {
				// The Go type of the body allows no parsed body; a body that a middleware has read is tested below.
				mustEqual(t, "code", c.Error.Code, "parsed_body")
				return
			}
			event, err := verifyWebhook([]byte(c.Body), headers(c.Headers), c.Secrets, time.Unix(c.Now, 0))
			if c.Error != nil {
				var failure *Error
				if !errors.As(err, &failure) || string(failure.Code) != c.Error.Code || failure.reason() != c.Error.Reason {
					t.Fatalf("got %v, wanted %v", err, *c.Error)
				}
				for _, secret := range c.Secrets {
					if len(secret) > 10 && strings.Contains(err.Error(), strings.TrimSpace(secret)[6:]) {
						t.Error("the message repeats the secret")
					}
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			mustEqual(t, "event", generic(t, event), generic(t, c.Event))
			checkMembers(t, event, c.Event)
		})
	}
}

// checkMembers compares the fields with the original members.
func checkMembers(t *testing.T, event *Event, came json.RawMessage) {
	t.Helper()
	var want map[string]any
	if err := json.Unmarshal(came, &want); err != nil {
		t.Fatal(err)
	}
	type plain Event
	got := generic(t, plain(*event)).(map[string]any)
	for _, name := range []string{"event", "timestamp", "session_id"} {
		mustEqual(t, name, got[name], want[name])
	}
	var data map[string]any
	switch event.Event {
	case EventLogin, EventRegister, EventLink:
		data = got["data"].(map[string]any)
	case EventUserUpdated, EventUserDeleted, EventCredentialAdded, EventCredentialRemoved, EventUserSignedOut:
		data = generic(t, event.User).(map[string]any)
		if _, ok := data["everywhere"]; !ok && event.Event == EventUserSignedOut {
			data["everywhere"] = event.User.Everywhere
		}
	default:
		return
	}
	for name, value := range want["data"].(map[string]any) {
		if name != "later" {
			mustEqual(t, name, data[name], value)
		}
	}
}

func TestSignaturesMatchTheVectors(t *testing.T) {
	type signed struct {
		Name, Secret, Header, ID, Body string
		Timestamp                      int64
		Valid                          bool
		XSvcSignature                  string `json:"x_svc_signature"`
		WebhookSignature               string `json:"webhook_signature"`
	}
	var vectors struct {
		Made             []signed
		XSvcSignature    []signed `json:"x_svc_signature"`
		WebhookSignature []signed `json:"webhook_signature"`
		MalformedSecrets []signed `json:"malformed_secrets"`
	}
	readVectors(t, "webhook.json", &vectors)
	// refused returns whether a body is rejected for its signature; its content is ignored.
	refused := func(c signed, header http.Header) bool {
		_, err := verifyWebhook([]byte(c.Body), header, []string{c.Secret}, time.Unix(c.Timestamp, 0))
		var failure *Error
		return errors.As(err, &failure) && failure.Code != "invalid_event"
	}
	both := func(c signed, x, standard string) http.Header {
		header := headers(map[string]string{"X-Svc-Signature": x, "webhook-id": c.ID})
		header.Set("webhook-timestamp", strconv.FormatInt(c.Timestamp, 10))
		header.Set("webhook-signature", standard)
		return header
	}
	for _, c := range vectors.Made {
		mustEqual(t, c.Name, refused(c, both(c, c.XSvcSignature, c.WebhookSignature)), false)
	}
	for _, c := range vectors.XSvcSignature {
		mustEqual(t, c.Name, refused(c, headers(map[string]string{"X-Svc-Signature": c.Header})), !c.Valid)
	}
	for _, c := range vectors.WebhookSignature {
		made := hex.EncodeToString(sign([]byte(c.Secret), []byte(c.Body)))
		mustEqual(t, c.Name, refused(c, both(c, made, c.Header)), !c.Valid)
	}
	vectors.MalformedSecrets = append(vectors.MalformedSecrets, signed{Name: "a line end inside", Secret: someSecret[:20] + "\n" + someSecret[20:]})
	for _, c := range vectors.MalformedSecrets {
		_, err := VerifyWebhook(nil, nil, c.Secret)
		checkError(t, err, map[string]any{"code": "invalid_secret"})
	}
}

func TestEventEndpointPassesTheVectors(t *testing.T) {
	var vectors struct {
		Endpoint []struct {
			Name    string
			Secrets []string
			Now     int64
			Steps   []struct {
				Headers map[string]string
				Body    string
				Status  int
				Says    string
				Acts    int
				Fails   bool
			}
		}
	}
	readVectors(t, "events.json", &vectors)
	for _, c := range vectors.Endpoint {
		t.Run(c.Name, func(t *testing.T) {
			acts, fails := 0, false
			var steps []string
			handler := NewLogin(New("key"), loginOptions(func(o *LoginOptions) {
				o.OnError = func(_ error, step string) { steps = append(steps, step) }
				o.WebhookSecrets = c.Secrets
				o.OnEvent = func(context.Context, *Event) error {
					acts++
					if fails {
						return errors.New("the database is away")
					}
					return nil
				}
			}))
			handler.now = func() time.Time { return time.Unix(c.Now, 0) }
			for _, step := range c.Steps {
				acts, fails, steps = 0, step.Fails, nil
				request := httptest.NewRequest(http.MethodPost, "/signpost/events", strings.NewReader(step.Body))
				request.Header = headers(step.Headers)
				said := serve(t, handler, request, step.Status)
				mustEqual(t, "acts", acts, step.Acts)
				mustEqual(t, "reported", len(steps) == 1 && steps[0] == StepEvents, fails && acts > 0)
				if text, _ := said["status"].(string); text != step.Says {
					t.Errorf("got %v, want %q", said, step.Says)
				}
				if text, _ := said["error"].(string); step.Says == "" && text == "" {
					t.Errorf("got %v, want an error", said)
				}
			}
		})
	}
}

// serve returns the members of a JSON response.
func serve(t *testing.T, handler http.Handler, request *http.Request, status int) map[string]any {
	t.Helper()
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	mustEqual(t, "status", recorder.Code, status)
	var said map[string]any
	if err := json.Unmarshal(recorder.Body.Bytes(), &said); err != nil {
		t.Fatal(err, recorder.Body.String())
	}
	return said
}

func loginOptions(change func(*LoginOptions)) LoginOptions {
	options := LoginOptions{
		Domain: "shop.example", Site: "https://shop.example", CookieSecret: strings.Repeat("c", 32),
		SignIn:           func(http.ResponseWriter, *http.Request, Login) error { return nil },
		SkipStartupCheck: true,
	}
	if change != nil {
		change(&options)
	}
	return options
}

const someSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

func TestConsumedBodyIsAnError(t *testing.T) {
	handler := NewLogin(New("key"), loginOptions(func(o *LoginOptions) { o.WebhookSecrets = []string{someSecret} }))
	careless := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		handler.ServeHTTP(w, r)
	})
	request := httptest.NewRequest(http.MethodPost, "/signpost/events", strings.NewReader(`{"event":"login"}`))
	said := serve(t, careless, request, http.StatusInternalServerError)
	if text, _ := said["error"].(string); !strings.Contains(text, "parsed_body") || !strings.Contains(text, "io.NopCloser") {
		t.Error(said)
	}
}

func TestEventsRequireASecret(t *testing.T) {
	request := httptest.NewRequest(http.MethodPost, "/signpost/events", strings.NewReader("{}"))
	serve(t, NewLogin(New("key"), loginOptions(nil)), request, http.StatusNotFound)
}

func TestPanickingOnEventIsRetried(t *testing.T) {
	calls := 0
	handler := NewLogin(New("key"), loginOptions(func(o *LoginOptions) {
		o.OnEvent = func(context.Context, *Event) error {
			if calls++; calls == 1 {
				panic("a fault")
			}
			return nil
		}
	}))
	event := &Event{ID: "evt_1", Event: EventLogin}
	func() {
		defer func() { mustEqual(t, "panic", recover(), any("a fault")) }()
		_, _ = handler.handle(t.Context(), event)
	}()
	isNew, err := handler.handle(t.Context(), event)
	mustEqual(t, "the second time", []any{isNew, err, calls}, []any{true, nil, 2})
	isNew, err = handler.handle(t.Context(), event)
	mustEqual(t, "the third time", []any{isNew, err, calls}, []any{false, nil, 2})
}

func TestConcurrentDeliveryIsDeferred(t *testing.T) {
	began, failure := make(chan bool), make(chan error)
	handler := NewLogin(New("key"), loginOptions(func(o *LoginOptions) {
		o.WebhookSecrets = []string{someSecret}
		o.OnEvent = func(context.Context, *Event) error {
			began <- true
			return <-failure
		}
	}))
	body := `{"id":"evt_1","event":"later","timestamp":"2026-01-01T00:00:00Z","session_id":"sess_1","data":{}}`
	deliver := func() *httptest.ResponseRecorder {
		request := httptest.NewRequest(http.MethodPost, "/signpost/events", strings.NewReader(body))
		request.Header.Set("X-Svc-Signature", hex.EncodeToString(sign([]byte(someSecret), []byte(body))))
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		return recorder
	}
	for _, c := range []struct {
		failure error
		status  int
	}{{errors.New("the database is away"), 500}, {nil, 200}} {
		slow := make(chan int, 1)
		go func() { slow <- deliver().Code }()
		select {
		case <-began:
		case status := <-slow:
			t.Fatal("nothing acted", status)
		}
		concurrent := deliver()
		mustEqual(t, "concurrent", []any{concurrent.Code, concurrent.Header().Get("Retry-After")}, []any{503, "5"})
		failure <- c.failure
		mustEqual(t, "the slow request", <-slow, c.status)
	}
	mustEqual(t, "afterwards", strings.TrimSpace(deliver().Body.String()), `{"status":"received before"}`)
}

func TestProcessedEventIsRecordedAfterADisconnect(t *testing.T) {
	ctx, hangUp := context.WithCancel(t.Context())
	store := &attentive{memory: memory{known: map[string]bool{}}}
	handler := NewLogin(New("key"), loginOptions(func(o *LoginOptions) {
		o.SeenEvents = store
		o.OnEvent = func(context.Context, *Event) error {
			hangUp()
			return nil
		}
	}))
	_, err := handler.handle(ctx, &Event{ID: "evt_1", Event: EventLogin})
	isNew, _ := handler.handle(t.Context(), &Event{ID: "evt_1", Event: EventLogin})
	mustEqual(t, "remembered", []any{err, isNew}, []any{nil, false})
}

// attentive is a store that checks its context, like a database.
type attentive struct{ memory }

func (a *attentive) Add(ctx context.Context, identity string) error {
	return errors.Join(ctx.Err(), a.memory.Add(ctx, identity))
}

func TestEventMemoryIsBounded(t *testing.T) {
	seen := &memory{known: map[string]bool{}}
	knows := func(identity string) bool {
		known, _ := seen.Has(t.Context(), identity)
		return known
	}
	for range 2 {
		mustEqual(t, "error", seen.Add(t.Context(), "first"), nil)
	}
	mustEqual(t, "first", []any{knows("first"), knows("second"), len(seen.order)}, []any{true, false, 1})
	for at := range maxRemember {
		_ = seen.Add(t.Context(), strings.Repeat("x", at+1))
	}
	mustEqual(t, "entries", []int{len(seen.order), len(seen.known)}, []int{maxRemember, maxRemember})
	mustEqual(t, "evicted", knows("first"), false)
}
