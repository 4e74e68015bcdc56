package signpost_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"signpost"
)

// service simulates a running server, so that the examples run everywhere.
func service(reply string, status int) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-Id", "req_1")
		w.WriteHeader(status)
		fmt.Fprint(w, reply)
	}))
}

func ExampleSessions_Create() {
	server := service(`{"id":"sess_1","status":"pending","qr_data":"svc://auth?v=1","challenge":"svc:login:localhost","created_at":"2026-11-23T00:00:00Z","expires_at":"2026-11-23T00:05:00Z"}`, 201)
	defer server.Close()

	client := signpost.New("svc_test_…", signpost.WithBaseURL(server.URL+"/sandbox/v1"))
	_, err := client.Sessions.Create(context.Background(), signpost.SessionParams{Domain: "localhost"})
	fmt.Println(err)

	client = signpost.New("svc_test_key", signpost.WithBaseURL(server.URL+"/sandbox/v1"))
	session, err := client.Sessions.Create(context.Background(), signpost.SessionParams{Domain: "localhost"})
	fmt.Println(session.ID, session.QRData, err)
	// Output:
	// signpost: invalid_argument: the API key, the MCP token or the idempotency key contains a line end or a non-ASCII character
	// sess_1 svc://auth?v=1 <nil>
}

func ExampleError() {
	server := service(`{"error":{"code":"domain_not_registered","message":"shop.exmaple is not one of your domains","details":{"domain":"shop.exmaple"}}}`, 422)
	defer server.Close()

	client := signpost.New("svc_test_key", signpost.WithBaseURL(server.URL+"/sandbox/v1"))
	_, err := client.Sessions.Create(context.Background(), signpost.SessionParams{Domain: "shop.exmaple"})
	var failure *signpost.Error
	if errors.As(err, &failure) {
		fmt.Println(failure.Code, failure.Status, failure.Details["domain"], failure.RequestID)
	}
	// Output: domain_not_registered 422 shop.exmaple req_1
}

func ExampleDomains_Update() {
	server := service(`{"id":"dom_1","domain":"shop.example","handler":"hosted","methods":["scan"],"registration":"open"}`, 200)
	defer server.Close()

	client := signpost.New("svc_test_key", signpost.WithBaseURL(server.URL+"/sandbox/v1"))
	domain, err := client.Domains.Update(context.Background(), "dom_1", signpost.DomainChange{
		EventURL:    signpost.Value("https://shop.example/signpost/events"),
		DisplayName: signpost.Null[string](), // Removed; members that are not set stay unchanged.
	})
	fmt.Println(domain.Handler, domain.Methods, err)
	// Output: hosted [scan] <nil>
}

func ExampleUsers_All() {
	server := service(`{"users":[{"id":"usr_1","petname":"amber-otter-4821"},{"id":"usr_2","petname":"quiet-heron-77"}]}`, 200)
	defer server.Close()

	client := signpost.New("svc_test_key", signpost.WithBaseURL(server.URL+"/sandbox/v1"))
	for user, err := range client.Users.All(context.Background(), "dom_1") {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(user.ID, user.Petname)
	}
	// Output:
	// usr_1 amber-otter-4821
	// usr_2 quiet-heron-77
}

func ExampleVerifyWebhook() {
	endpoint := func(w http.ResponseWriter, r *http.Request) {
		body := []byte(`{"id":"evt_1","event":"test","timestamp":"2026-11-23T00:00:00Z","session_id":"","data":{}}`)
		event, err := signpost.VerifyWebhook(body, r.Header, "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		fmt.Println(event.Event)
	}
	request := httptest.NewRequest(http.MethodPost, "/events", nil)
	request.Header.Set("X-Svc-Signature", strings.Repeat("0", 64))
	recorder := httptest.NewRecorder()
	endpoint(recorder, request)
	fmt.Println(recorder.Code)
	// Output: 401
}

func ExampleNewLogin() {
	client := signpost.New("svc_test_key")
	mux := http.NewServeMux()
	mux.Handle("/signpost/", signpost.NewLogin(client, signpost.LoginOptions{
		Domain:       "shop.example",
		Site:         "https://shop.example",
		CookieSecret: "at least 32 characters, drawn once and kept",
		// There is no server in this example.
		SkipStartupCheck: true,
		SignIn: func(w http.ResponseWriter, r *http.Request, login signpost.Login) error {
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "a new one for " + login.User.ID, Path: "/", HttpOnly: true, Secure: true})
			return nil
		},
	}))
	recorder := httptest.NewRecorder()
	mux.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/signpost/return?session_id=sess_1&code=stolen", nil))
	fmt.Println(recorder.Code, recorder.Header().Get("Location"))
	// Output: 303 /?login_error=other_browser
}

func ExampleATMs_Nearest() {
	server := service(`{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"atms":[{"id":145,"name":"Corner shop","distance":"0.3 miles"}],"total":1,"truncated":false,"attribution":[],"advisories":[{"text":"Nobody honest sends you to a Bitcoin ATM."}]}}}`, 200)
	defer server.Close()

	client := signpost.New("", signpost.WithBaseURL(server.URL+"/sandbox/v1"))
	near, err := client.ATMs.Nearest(context.Background(), signpost.NearestParams{Location: "Miami, FL"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, atm := range near.ATMs {
		fmt.Println(atm.Name, atm.Distance)
	}
	for _, advisory := range near.Advisories {
		fmt.Println(advisory.Text)
	}
	// Output:
	// Corner shop 0.3 miles
	// Nobody honest sends you to a Bitcoin ATM.
}
