package signpost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// apiCalls are all operations of the interface, each with its call.
var apiCalls = map[string]func(context.Context, *Client) error{
	"GET /sessions":             func(ctx context.Context, c *Client) error { return second(c.Sessions.List(ctx, SessionListParams{})) },
	"POST /sessions":            func(ctx context.Context, c *Client) error { return second(c.Sessions.Create(ctx, SessionParams{})) },
	"GET /sessions/{}":          func(ctx context.Context, c *Client) error { return second(c.Sessions.Get(ctx, "{}")) },
	"DELETE /sessions/{}":       func(ctx context.Context, c *Client) error { return c.Sessions.Cancel(ctx, "{}") },
	"GET /sessions/{}/events":   func(ctx context.Context, c *Client) error { return second(collect(c.Sessions.Follow(ctx, "{}"))) },
	"GET /sessions/{}/qr.svg":   func(ctx context.Context, c *Client) error { return second(c.Sessions.QRSVG(ctx, "{}")) },
	"GET /sessions/{}/qr.png":   func(ctx context.Context, c *Client) error { return second(c.Sessions.QRPNG(ctx, "{}")) },
	"POST /sessions/{}/refresh": func(ctx context.Context, c *Client) error { return second(c.Sessions.Refresh(ctx, "{}")) },
	"POST /sessions/{}/authenticate": func(ctx context.Context, c *Client) error {
		return second(c.Sessions.Authenticate(ctx, "{}", Answer{}))
	},
	"POST /sessions/{}/complete": func(ctx context.Context, c *Client) error {
		return second(c.Sessions.Complete(ctx, "{}", Completion{}))
	},
	"POST /sessions/{}/simulate": func(ctx context.Context, c *Client) error {
		return second(c.Sessions.Simulate(ctx, "{}", SimulateParams{}))
	},
	"POST /verify":                func(ctx context.Context, c *Client) error { return second(c.Verify(ctx, VerifyParams{})) },
	"GET /domains":                func(ctx context.Context, c *Client) error { return second(c.Domains.List(ctx, ListParams{})) },
	"POST /domains":               func(ctx context.Context, c *Client) error { return second(c.Domains.Create(ctx, DomainParams{})) },
	"GET /domains/{}":             func(ctx context.Context, c *Client) error { return second(c.Domains.Get(ctx, "{}")) },
	"PATCH /domains/{}":           func(ctx context.Context, c *Client) error { return second(c.Domains.Update(ctx, "{}", DomainChange{})) },
	"DELETE /domains/{}":          func(ctx context.Context, c *Client) error { return c.Domains.Delete(ctx, "{}") },
	"POST /domains/{}/verify":     func(ctx context.Context, c *Client) error { return second(c.Domains.Verify(ctx, "{}")) },
	"POST /domains/{}/test-event": func(ctx context.Context, c *Client) error { return second(c.Domains.SendTestEvent(ctx, "{}")) },
	"GET /domains/{}/users":       func(ctx context.Context, c *Client) error { return second(c.Users.List(ctx, "{}", ListParams{})) },
	"POST /domains/{}/users":      func(ctx context.Context, c *Client) error { return second(c.Users.Create(ctx, "{}", UserParams{})) },
	"DELETE /domains/{}/users":    func(ctx context.Context, c *Client) error { return c.Users.DeleteAll(ctx, "{}") },
	"GET /domains/{}/users/{}":    func(ctx context.Context, c *Client) error { return second(c.Users.Get(ctx, "{}", "{}")) },
	"PATCH /domains/{}/users/{}": func(ctx context.Context, c *Client) error {
		return second(c.Users.Update(ctx, "{}", "{}", UserChange{}))
	},
	"DELETE /domains/{}/users/{}": func(ctx context.Context, c *Client) error { return c.Users.Delete(ctx, "{}", "{}") },
	"GET /domains/{}/clients":     func(ctx context.Context, c *Client) error { return second(c.Clients.List(ctx, "{}", ListParams{})) },
	"POST /domains/{}/clients": func(ctx context.Context, c *Client) error {
		return second(c.Clients.Create(ctx, "{}", OIDCClientParams{}))
	},
	"GET /domains/{}/clients/{}": func(ctx context.Context, c *Client) error { return second(c.Clients.Get(ctx, "{}", "{}")) },
	"PATCH /domains/{}/clients/{}": func(ctx context.Context, c *Client) error {
		return second(c.Clients.Update(ctx, "{}", "{}", OIDCClientChange{}))
	},
	"DELETE /domains/{}/clients/{}": func(ctx context.Context, c *Client) error { return c.Clients.Delete(ctx, "{}", "{}") },
	"GET /deliveries": func(ctx context.Context, c *Client) error {
		return second(c.Deliveries.List(ctx, DeliveryListParams{}))
	},
	"POST /deliveries/retry":    func(ctx context.Context, c *Client) error { return second(c.Deliveries.RetryAll(ctx)) },
	"GET /deliveries/{}":        func(ctx context.Context, c *Client) error { return second(c.Deliveries.Get(ctx, "{}")) },
	"POST /deliveries/{}/retry": func(ctx context.Context, c *Client) error { return second(c.Deliveries.Retry(ctx, "{}")) },
	"POST /atms/submissions":    func(ctx context.Context, c *Client) error { return second(c.ATMs.Submit(ctx, ATMSubmission{})) },
	"POST /atms/{}/reports":     func(ctx context.Context, c *Client) error { return second(c.ATMs.Report(ctx, 7, ATMReportParams{})) },
	"GET /domains/{}/users/{}/sign-ins": func(ctx context.Context, c *Client) error {
		return second(c.Users.SignIns(ctx, "{}", "{}", ListParams{}))
	},
	"DELETE /domains/{}/users/{}/sign-ins":    func(ctx context.Context, c *Client) error { return c.Users.EndSignIns(ctx, "{}", "{}") },
	"DELETE /domains/{}/users/{}/sign-ins/{}": func(ctx context.Context, c *Client) error { return c.Users.EndSignIn(ctx, "{}", "{}", "{}") },
	"DELETE /domains/{}/users/{}/credentials/{}": func(ctx context.Context, c *Client) error {
		return c.Users.DeleteCredential(ctx, "{}", "{}", "{}")
	},
	"POST /domains/{}/clients/{}/rotate": func(ctx context.Context, c *Client) error {
		return second(c.Clients.RotateSecret(ctx, "{}", "{}", OIDCClientRotation{}))
	},
}

func second(_ any, err error) error { return err }

// Paths without a method: calls of wallets and of the command line, and the document itself.
var isNotCalled = regexp.MustCompile(`^\w+ /(account$|deliveries/signed$|hosted/|openapi\.yaml|reference)`)

func TestEachOperationHasAMethod(t *testing.T) {
	for operation := range apiOperations(t) {
		if apiCalls[operation] == nil && !isNotCalled.MatchString(operation) {
			t.Error("no method for", operation)
		}
	}
	for operation, call := range apiCalls {
		sent := ""
		client := New("k", WithRetries(0), WithHTTPClient(&http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			sent = r.Method + " " + strings.ReplaceAll(strings.TrimPrefix(r.URL.Path, "/sandbox/v1"), "/7/", "/{}/")
			return errorReply(500, "internal_error")
		})}))
		checkError(t, call(t.Context(), client), map[string]any{"code": "internal_error", "status": 500.0})
		mustEqual(t, "call", sent, operation)
	}
}

// apiOperations returns the methods and paths of openapi.yaml.
func apiOperations(t *testing.T) map[string]bool {
	t.Helper()
	var document struct {
		Paths map[string]map[string]any
	}
	readDocument(t, &document)
	operations := map[string]bool{}
	for path, methods := range document.Paths {
		for method := range methods {
			if slices.Contains([]string{"get", "post", "patch", "put", "delete"}, method) {
				operations[strings.ToUpper(method)+" "+regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "{}")] = true
			}
		}
	}
	if len(operations) < 30 {
		t.Fatal("only", len(operations))
	}
	return operations
}

func readDocument(t *testing.T, into any) {
	t.Helper()
	file := os.Getenv("OPENAPI_JSON")
	if file == "" {
		t.Skip("OPENAPI_JSON is not set: the path of openapi.yaml as JSON")
	}
	text, err := os.ReadFile(file)
	if err := errors.Join(err, json.Unmarshal(text, into)); err != nil {
		t.Fatal(err)
	}
}

func TestEachErrorCodeHasAConstant(t *testing.T) {
	var document struct {
		Components struct {
			Schemas struct {
				Error struct {
					Properties struct {
						Error struct {
							Properties struct{ Code struct{ Enum []string } }
						}
					}
				}
			}
		}
	}
	readDocument(t, &document)
	codes := document.Components.Schemas.Error.Properties.Error.Properties.Code.Enum
	source := string(must(os.ReadFile("error_codes.go")))
	for _, code := range codes {
		if !strings.Contains(source, fmt.Sprintf("ErrorCode = %q", code)) {
			t.Error("no constant for", code)
		}
	}
	if len(codes) < 40 {
		t.Error("only", len(codes))
	}
}

func TestSessionIsFollowedUntilItIsAuthenticated(t *testing.T) {
	_, client := realServer(t)
	ctx := t.Context()
	domain := must(client.Domains.Create(ctx, DomainParams{Domain: "go-follow.localhost.example", WebhookURL: "http://localhost:9/hook"}))
	defer client.Domains.Delete(context.WithoutCancel(ctx), domain.ID)
	must(client.Domains.Update(ctx, domain.ID, DomainChange{Handler: "hosted"}))
	session := must(client.Sessions.Create(ctx, SessionParams{Domain: domain.Domain.Domain, Mode: ModeRegister}))
	png := must(client.Sessions.QRPNG(ctx, session.ID))
	mustEqual(t, "signature of the image", string(png[:4]), "\x89PNG")
	var states []string
	for state, err := range client.Sessions.Follow(ctx, session.ID) {
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, state.Status)
		if state.Status == StatusPending {
			must(client.Sessions.Simulate(ctx, session.ID, SimulateParams{}))
		}
	}
	mustEqual(t, "states", states, []string{StatusPending, StatusAuthenticated})
	_, err := collect(client.Sessions.Follow(ctx, "sess_x"))
	checkError(t, err, map[string]any{"code": "session_not_found", "status": 404.0})
}

func TestOIDCClientIsCreatedChangedRotatedAndDeleted(t *testing.T) {
	_, client := realServer(t)
	ctx := t.Context()
	domain := must(client.Domains.Create(ctx, DomainParams{Domain: "go-clients.localhost.example", WebhookURL: "http://localhost:9/hook"}))
	defer client.Domains.Delete(context.WithoutCancel(ctx), domain.ID)
	must(client.Domains.Update(ctx, domain.ID, DomainChange{Handler: "hosted"}))
	made := must(client.Clients.Create(ctx, domain.ID, OIDCClientParams{Name: "Wiki", RedirectURIs: []string{"http://localhost:9002/callback"}}))
	if !strings.HasPrefix(made.ClientSecret, "sgp_cs_") {
		t.Error("no secret")
	}
	isTrusted := true
	changed := must(client.Clients.Update(ctx, domain.ID, made.ClientID, OIDCClientChange{Name: Value("Notes"), Trusted: &isTrusted}))
	mustEqual(t, "changed", []any{changed.Name, changed.Trusted, changed.PKCE}, []any{"Notes", true, true})
	mustEqual(t, "stored", must(client.Clients.Get(ctx, domain.ID, made.ClientID)), changed)
	rotated := must(client.Clients.RotateSecret(ctx, domain.ID, made.ClientID, OIDCClientRotation{Now: true}))
	mustEqual(t, "the secret changed", rotated.ClientSecret != made.ClientSecret && rotated.ClientSecret != "", true)
	all, err := collect(client.Clients.All(ctx, domain.ID))
	if listed, ok := all.([]OIDCClient); err != nil || !ok || len(listed) != 1 {
		t.Error(all, err)
	}
	if err := client.Clients.Delete(ctx, domain.ID, made.ClientID); err != nil {
		t.Fatal(err)
	}
	_, err = client.Clients.Get(ctx, domain.ID, made.ClientID)
	checkError(t, err, map[string]any{"code": "client_not_found", "status": 404.0})
}

func TestLocatorGetsItsOwnTokenNeverTheKey(t *testing.T) {
	var sent []string
	mine := WithHTTPClient(&http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		sent = append(sent, r.URL.String()+" "+r.Header.Get("Authorization"))
		return jsonReply(200, `{"result":{"structuredContent":{"id":7}}}`)
	})})
	must(New("k", mine).ATMs.Get(t.Context(), 7))
	other := New("k", WithMCPURL("https://atm.example/mcp"), WithMCPToken("token"), mine)
	must(other.within(time.Second).ATMs.Get(t.Context(), 7))
	mustEqual(t, "URL", other.ATMs.MCPURL(), "https://atm.example/mcp")
	mustEqual(t, "sent", sent, []string{"http://localhost:8080/mcp ", "https://atm.example/mcp Bearer token"})
	for _, option := range []Option{WithMCPURL("/mcp"), WithMCPURL("ftp://a/mcp"), WithMCPURL("https://me@a/mcp"), WithMCPToken("a\nb")} {
		_, err := New("k", option, mine).ATMs.Get(t.Context(), 7)
		checkError(t, err, map[string]any{"code": "invalid_argument"})
	}
	mustEqual(t, "calls", len(sent), 2)
	if text := fmt.Sprintf("%+v %#v", other, *other); strings.Contains(text, "token\"") || strings.Contains(text, " token ") {
		t.Error("the token is printed:", text)
	}
}

func TestReportIsSentWithoutTheKeyOrAsOperator(t *testing.T) {
	var sent []string
	client := New("k", WithHTTPClient(&http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		body, _ := io.ReadAll(r.Body)
		sent = append(sent, r.Header.Get("Authorization")+" "+string(body))
		return jsonReply(201, `{"id":"rep_1"}`)
	})}))
	must(client.ATMs.Report(t.Context(), 7, ATMReportParams{Seen: "gone"}))
	must(client.ATMs.ReportAsOperator(t.Context(), 7, ATMReportParams{Seen: "gone"}))
	mustEqual(t, "sent", sent, []string{` {"seen":"gone"}`, `Bearer k {"seen":"gone"}`})
}

// stream follows a session of a service that sends these texts, and then waits if it stays open.
func stream(t *testing.T, ctx context.Context, staysOpen bool, texts ...string) iter.Seq2[*Session, error] {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, text := range texts {
			_, _ = io.WriteString(w, text)
			w.(http.Flusher).Flush()
		}
		if staysOpen {
			<-r.Context().Done()
		}
	}))
	t.Cleanup(server.Close)
	return New("k", WithBaseURL(server.URL+"/v1"), WithTimeout(time.Second)).Sessions.Follow(ctx, "sess_1")
}

func TestStreamIsParsedInAnyParts(t *testing.T) {
	text := ": keep-alive\r\n\r\nevent: status\r\ndata: {\"id\":\"sess_1\",\r\ndata: \"status\":\"pending\"}\r\n\r\nevent: status\ndata:{\"id\":\"é\"}\n\n"
	all, err := collect(stream(t, t.Context(), false, strings.Split(text, "")...))
	states, _ := all.([]*Session)
	if err != nil || len(states) != 2 {
		t.Fatal(states, err)
	}
	mustEqual(t, "states", []Session{*states[0], *states[1]}, []Session{{ID: "sess_1", Status: StatusPending}, {ID: "é"}})
}

func TestStreamFails(t *testing.T) {
	for name, c := range map[string]struct {
		staysOpen bool
		text      string
		code      string
	}{
		"pauses":            {true, "data: {}\n\n", "timeout"},
		"no JSON":           {false, "data: {\n\n", "invalid_response"},
		"a long line":       {false, "data: " + strings.Repeat("x", 70_000) + "\n\n", "invalid_response"},
		"a long event":      {false, strings.Repeat("data: "+strings.Repeat("x", 1000)+"\n", 70) + "\n", "invalid_response"},
		"JSON of two types": {false, "data: {\"id\":5}\n\n", "invalid_response"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := collect(stream(t, t.Context(), c.staysOpen, c.text))
			checkError(t, err, map[string]any{"code": c.code})
		})
	}
	none := New("k", WithHTTPClient(&http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) { return jsonReply(200, "{}") })}))
	_, err := collect(none.Sessions.Follow(t.Context(), "a"))
	checkError(t, err, map[string]any{"code": "invalid_response", "status": 200.0})
}

func TestStreamEndsWithItsContextOrItsCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for state, err := range stream(t, ctx, true, "data: {}\n\n") {
		if state == nil {
			mustEqual(t, "cancelled", errors.Is(err, context.Canceled), true)
		}
		cancel()
	}
	for _, err := range stream(t, t.Context(), true, "data: {}\n\n") {
		mustEqual(t, "error", err, nil)
		break
	}
}
