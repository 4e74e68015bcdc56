package signpost

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// server is the built program, started once for all tests.
type server struct {
	program, data, sandbox, mcp string
	key                         string
}

var startServer = sync.OnceValues(func() (*server, error) {
	s := &server{program: os.Getenv("SIGNPOST")}
	folder, err := os.MkdirTemp("", "signpost-go-")
	if err != nil {
		return nil, err
	}
	atEnd = append(atEnd, func() { _ = os.RemoveAll(folder) })
	s.data = filepath.Join(folder, "data")
	command := exec.Command(s.program, "serve", "--json", "--listen", "127.0.0.1:0", "--data-dir", s.data)
	line, err := start(command)
	if err != nil {
		return nil, err
	}
	atEnd = append(atEnd, func() { stop(command) })
	var said struct{ Sandbox, MCP string }
	if err := json.Unmarshal(line, &said); err != nil {
		return nil, err
	}
	s.sandbox, s.mcp = strings.Replace(said.Sandbox, "127.0.0.1", "localhost", 1), said.MCP
	key, err := exec.Command(s.program, "keys", "create", "--environment", "sandbox", "--name", "go", "--data-dir", s.data).Output()
	s.key = strings.TrimSpace(string(key))
	return s, err
})

var atEnd []func()

func TestMain(m *testing.M) {
	code := m.Run()
	for at := range atEnd {
		atEnd[len(atEnd)-1-at]()
	}
	os.Exit(code)
}

// realServer skips the test if the program is not built; test.sh requires it.
func realServer(t *testing.T) (*server, *Client) {
	t.Helper()
	if os.Getenv("SIGNPOST") == "" {
		t.Skip("SIGNPOST is not set: the path of the built program")
	}
	s, err := startServer()
	if err != nil {
		t.Fatal(err)
	}
	return s, New(s.key, WithBaseURL(s.sandbox))
}

// start starts a program, and returns its first line of output.
func start(command *exec.Cmd) ([]byte, error) {
	log := &bytes.Buffer{}
	command.Stderr = log
	output, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err != nil {
		_ = command.Wait()
		err = fmt.Errorf("%s: %w: %s", command, err, log)
	}
	return line, err
}

func stop(command *exec.Cmd) {
	_ = command.Process.Signal(syscall.SIGTERM)
	_ = command.Wait()
}

// freePort returns an unused port.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}

func TestServerAPI(t *testing.T) {
	_, client := realServer(t)
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := client.Sessions.Create(ctx, SessionParams{Domain: "nobody.example"})
	checkError(t, err, map[string]any{"code": "domain_not_registered", "status": 422.0, "details": map[string]any{"domain": "nobody.example"}})

	created, err := client.Domains.Create(ctx, DomainParams{Domain: "go-api.localhost.example", WebhookURL: "http://localhost:9/hook"})
	must(err)
	if !strings.HasPrefix(created.WebhookSecret, "whsec_") {
		t.Error(created.WebhookSecret)
	}
	domain, err := client.Domains.Update(ctx, created.ID, DomainChange{
		Handler: "hosted", EventURL: Value("http://localhost:9/events"), DisplayName: Value("A shop"), Methods: []string{"scan"},
	})
	must(err)
	mustEqual(t, "changed", []string{domain.Handler, domain.EventURL, domain.DisplayName}, []string{"hosted", "http://localhost:9/events", "A shop"})
	domain, err = client.Domains.Update(ctx, created.ID, DomainChange{DisplayName: Null[string]()})
	must(err)
	mustEqual(t, "removed", []string{domain.DisplayName, domain.EventURL}, []string{"", "http://localhost:9/events"})
	_, err = client.Domains.Verify(ctx, created.ID)
	checkError(t, err, map[string]any{"code": "domain_verification_failed", "status": 422.0})

	params := SessionParams{
		Domain: domain.Domain, Mode: ModeRegister, Confirm: "code", IdempotencyKey: "go-1",
		Metadata: map[string]any{"return_url": "/", "custom_data": "7"}, Requester: &Requester{IP: "192.0.2.1", Country: "DE", UserAgent: "Go"},
	}
	session, err := client.Sessions.Create(ctx, params)
	must(err)
	again, err := client.Sessions.Create(ctx, params)
	must(err)
	mustEqual(t, "the same session", again.ID, session.ID)
	svg, err := client.Sessions.QRSVG(ctx, session.ID)
	must(err)
	if !strings.HasPrefix(svg, "<svg") && !strings.HasPrefix(svg, "<?xml") {
		t.Error(svg[:40])
	}
	refreshed, err := client.Sessions.Refresh(ctx, session.ID)
	must(err)
	if refreshed.Challenge == session.Challenge {
		t.Error("the challenge did not change")
	}
	pending, err := client.Sessions.Wait(ctx, session.ID, WaitAtMost(time.Millisecond))
	must(err)
	mustEqual(t, "pending", pending.Status, StatusPending)
	simulation, err := client.Sessions.Simulate(ctx, session.ID, SimulateParams{Wallet: 3})
	must(err)
	mustEqual(t, "the wallet's answer", simulation.Status, 200)
	done, err := client.Sessions.Wait(ctx, session.ID)
	must(err)
	if done.Status != StatusAuthenticated || done.User == nil || done.User.ID == "" || done.AuthenticatedAt.IsZero() {
		t.Errorf("%+v", done)
	}

	user, err := client.Users.Update(ctx, domain.ID, done.User.ID, UserChange{Name: Value("Ada"), Groups: Value([]string{"staff"})})
	must(err)
	mustEqual(t, "named", []any{user.Name, user.Groups, len(user.Credentials)}, []any{"Ada", []string{"staff"}, 1})
	byKey, err := client.Users.Get(ctx, domain.ID, user.PublicKey)
	must(err)
	mustEqual(t, "by key", byKey.ID, user.ID)
	checkError(t, client.Users.DeleteCredential(ctx, domain.ID, user.ID, user.Credentials[0].ID), map[string]any{"code": "last_credential", "status": 409.0})
	must(client.Users.Delete(ctx, domain.ID, user.ID))
	must(client.Users.DeleteAll(ctx, domain.ID))
	for user := range client.Users.All(ctx, domain.ID) {
		t.Error("a user is left", user)
	}

	open, err := client.Sessions.Create(ctx, SessionParams{Domain: domain.Domain})
	must(err)
	must(client.Sessions.Cancel(ctx, open.ID))
	cancelled, err := client.Sessions.Wait(ctx, open.ID)
	must(err)
	mustEqual(t, "cancelled", *cancelled, Session{ID: open.ID, Status: StatusCancelled})
	_, err = client.Sessions.Get(ctx, open.ID)
	checkError(t, err, map[string]any{"code": "session_cancelled", "status": 410.0})
	listed := 0
	for session, err := range client.Sessions.All(ctx, SessionListParams{Domain: domain.Domain, ListParams: ListParams{Limit: 1}}) {
		must(err)
		mustEqual(t, "domain", session.Domain, domain.Domain)
		listed++
	}
	mustEqual(t, "sessions", listed, 2)

	delivery, err := client.Domains.SendTestEvent(ctx, domain.ID)
	must(err)
	delivery, err = client.Deliveries.Get(ctx, delivery.ID)
	must(err)
	mustEqual(t, "its body", []string{delivery.Body.Event, delivery.Body.ID}, []string{EventTest, delivery.ID})
	_, err = client.Deliveries.Retry(ctx, delivery.ID)
	must(err)
	_, err = client.Deliveries.RetryAll(ctx)
	must(err)
	events := map[string]bool{}
	for delivery, err := range client.Deliveries.All(ctx, DeliveryListParams{}) {
		must(err)
		events[delivery.ID] = true
	}
	mustEqual(t, "listed", events[delivery.ID], true)
	must(client.Domains.Delete(ctx, domain.ID))
	for left, err := range client.Domains.All(ctx) {
		must(err)
		if left.ID == domain.ID {
			t.Error("the domain is still there")
		}
	}
}

func TestServerPassesTheSignatureVectors(t *testing.T) {
	_, client := realServer(t)
	for _, c := range signatures(t) {
		checked, err := client.Verify(t.Context(), VerifyParams{PublicKey: c.PublicKey, Signature: c.Signature, Message: c.Message})
		if c.code != "" {
			checkError(t, err, map[string]any{"code": c.code, "status": 400.0})
		} else if err != nil || checked.Valid != c.Valid {
			t.Errorf("%s: %v, %v", c.Name, checked, err)
		}
	}
}

func TestServerLocator(t *testing.T) {
	s, client := realServer(t)
	ctx := t.Context()
	mustEqual(t, "MCP", client.ATMs.MCPURL(), strings.Replace(s.mcp, "127.0.0.1", "localhost", 1))
	near, err := client.ATMs.Nearest(ctx, NearestParams{Location: "Miami, FL", Limit: 2})
	if err != nil || len(near.ATMs) != 2 || near.ResolvedLocation.Name != "Miami" || near.Notice == "" {
		t.Fatal(near, err)
	}
	around, err := client.ATMs.Nearest(ctx, NearestParams{Position: &Position{25.778, -80.197}, Limit: 1, Units: "km"})
	if err != nil || around.ATMs[0].ID != near.ATMs[0].ID || !strings.HasSuffix(around.ATMs[0].Distance, "km") && around.ATMs[0].DistanceMeters != 0 {
		t.Fatal(around, err)
	}
	details, err := client.ATMs.Get(ctx, near.ATMs[0].ID)
	if err != nil || details.Name != near.ATMs[0].Name || len(details.Sources) == 0 || len(details.Advisories) == 0 {
		t.Fatal(details, err)
	}
	status, err := client.ATMs.Status(ctx, StatusParams{Location: "Miami, FL", Limit: 1})
	if err != nil || status.Counts["open"] == 0 || len(status.ATMs) != 1 {
		t.Fatal(status, err)
	}
	city, err := client.ATMs.ListByCity(ctx, CityParams{City: "Miami", State: "FL"})
	if err != nil || city.Total == 0 || city.Total != int64(len(city.ATMs)) {
		t.Fatal(city, err)
	}
	_, err = client.ATMs.Get(ctx, 999_999_999)
	checkError(t, err, map[string]any{"code": "tool_error", "status": 200.0})
	_, err = client.ATMs.ListByCity(ctx, CityParams{City: "Miami", State: "Florida"})
	checkError(t, err, map[string]any{"code": "mcp_error", "status": 200.0, "details": map[string]any{"code": -32602.0}})
}

// example starts a program of the folder examples until the test ends, and returns its address.
func example(t *testing.T, name string, environment ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), name)
	if text, err := exec.Command("go", "build", "-o", program, "./examples/"+name).CombinedOutput(); err != nil {
		t.Fatal(err, string(text))
	}
	port := freePort(t)
	command := exec.Command(program)
	command.Env = append([]string{"PORT=" + port}, environment...)
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-ended
	})
	address := "http://localhost:" + port
	for {
		connection, err := net.DialTimeout("tcp", "localhost:"+port, time.Second)
		if err == nil {
			connection.Close()
			return address
		}
		select {
		case <-ended:
			t.Fatal("it ended")
		case <-t.Context().Done():
			t.Fatal(err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// browser navigates like a user's browser.
type browser struct {
	t      *testing.T
	client *http.Client
}

func newBrowser(t *testing.T) *browser {
	jar, _ := cookiejar.New(nil)
	return &browser{t, &http.Client{Jar: jar}}
}

// open returns the text of a page, and its final address.
func (b *browser) open(address string) (text, at string) {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("Accept", "text/html")
	request.Header.Set("Sec-Fetch-Mode", "navigate")
	request.Header.Set("Sec-Fetch-Dest", "document")
	response, err := b.client.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	// net/http reports this type for a page that is plain text; its markup would be shown.
	if kind := response.Header.Get("Content-Type"); strings.HasPrefix(kind, "text/plain") {
		b.t.Errorf("%s is %s", address, kind)
	}
	return string(body), response.Request.URL.String()
}

// find returns the first match of an expression in a page.
func (b *browser) find(page, expression string) string {
	b.t.Helper()
	found := regexp.MustCompile(expression).FindStringSubmatch(page)
	if found == nil {
		b.t.Fatalf("no %s on\n%s", expression, page)
	}
	return html.UnescapeString(found[1])
}

const continueLink = `<a [^>]*id="continue"[^>]*href="([^"]*)"|<a [^>]*href="([^"]*)"[^>]*id="continue"`

func TestPageExampleLogsAUserIn(t *testing.T) {
	s, client := realServer(t)
	ctx := t.Context()
	domain, err := client.Domains.Create(ctx, DomainParams{Domain: "localhost", WebhookURL: "http://localhost:9/hook"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Domains.Delete(context.WithoutCancel(ctx), domain.ID)
	site := example(t, "site", "KEY="+s.key, "API="+s.sandbox, "WEBHOOK_SECRET="+domain.WebhookSecret)
	if _, err := client.Domains.Update(ctx, domain.ID, DomainChange{Handler: "hosted", EventURL: Value(site + "/signpost/events")}); err != nil {
		t.Fatal(err)
	}
	person := newBrowser(t)
	login := func() string {
		t.Helper()
		person.find(first(person.open(site)), `(<a href="/signpost/login">Log in</a>|id="user")`)
		page, at := person.open(site + "/signpost/login?next=/%3Fwelcome")
		session := at[strings.LastIndex(at, "/")+1:]
		person.find(page, `(id="number")`)
		for {
			simulation, err := client.Sessions.Simulate(ctx, session, SimulateParams{})
			if err != nil {
				t.Fatal(err)
			}
			if simulation.Status == 200 {
				break
			}
			// The key is unknown: the page shows a new code, which creates an account.
			mustEqual(t, "status", []any{simulation.Status, strings.Contains(simulation.Body, "account_needed")}, []any{404, true})
			page, _ = person.open(at)
		}
		page, _ = person.open(at)
		back := regexp.MustCompile(continueLink).FindStringSubmatch(page)
		if back == nil {
			t.Fatal(page)
		}
		returned := html.UnescapeString(back[1] + back[2])
		home, where := person.open(returned)
		mustEqual(t, "where", where, site+"/?welcome")

		// A repeated return fails, in another browser and in this browser.
		_, where = newBrowser(t).open(returned)
		mustEqual(t, "elsewhere", where, site+"/?login_error=other_browser")
		_, where = person.open(returned)
		mustEqual(t, "again", where, site+"/?login_error=other_browser")
		return person.find(home, `<b id="user">(usr_[0-9a-z]+)</b>`)
	}
	registered := login()
	person.client.Jar, _ = cookiejar.New(nil)
	mustEqual(t, "user", login(), registered)

	// A logged-in user adds a key: the page names the account.
	page, at := person.open(site + "/signpost/link")
	if !strings.Contains(at, "/sandbox/login/") {
		t.Error(at, page)
	}
	waitForEvents(t, client, 2)

	// After the logout, the login page shows no account of the site.
	home, _ := person.open(site + "/signpost/logout")
	person.find(home, `(<a href="/signpost/login">Log in</a>)`)
}

func first(text, _ string) string { return text }

// waitForEvents waits until this many events have arrived.
func waitForEvents(t *testing.T, client *Client, count int) {
	t.Helper()
	for arrived := 0; arrived < count; {
		arrived = 0
		for delivery, err := range client.Deliveries.All(t.Context(), DeliveryListParams{State: "delivered"}) {
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(delivery.URL, "/signpost/events") {
				arrived++
			}
		}
		for delivery := range client.Deliveries.All(t.Context(), DeliveryListParams{}) {
			if strings.HasSuffix(delivery.URL, "/signpost/events") && delivery.LastError != "" {
				t.Fatal(delivery.LastError, delivery.LastAnswer)
			}
		}
	}
}

func TestHandlersExamplePassesConformance(t *testing.T) {
	s, _ := realServer(t)
	kit := freePort(t)
	const secret = "whsec_Y29uZm9ybWFuY2Uga2l0LCBub3QgYSBzZWNyZXQhIQ=="
	site := example(t, "handlers", "KEY=svc_test_of-a-site", "API=http://127.0.0.1:"+kit+"/v1", "WEBHOOK_SECRET="+secret)
	output, err := exec.CommandContext(t.Context(), s.program, "conformance", "--json", "--start", site+"/",
		"--poll", site+"/signpost/poll", "--events", site+"/signpost/events", "--api-listen", "127.0.0.1:"+kit).Output()
	var report struct {
		Holds, Broken int
		NotTested     int `json:"not_tested"`
		Checks        []struct{ Rule, Verdict, Expected, Got string }
	}
	if err := errors.Join(err, json.Unmarshal(output, &report)); err != nil || report.Holds < 50 || report.Broken+report.NotTested > 0 {
		for _, check := range report.Checks {
			if check.Verdict != "holds" {
				t.Errorf("%+v", check)
			}
		}
		t.Fatal(err, report.Holds, report.Broken, report.NotTested)
	}
}

func TestHandlersExampleLogsAUserIn(t *testing.T) {
	s, client := realServer(t)
	ctx := t.Context()
	domain, err := client.Domains.Create(ctx, DomainParams{Domain: "localhost", WebhookURL: "http://localhost:9/hook"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Domains.Delete(context.WithoutCancel(ctx), domain.ID)
	site := example(t, "handlers", "KEY="+s.key, "API="+s.sandbox, "WEBHOOK_SECRET="+domain.WebhookSecret)
	person := newBrowser(t)
	for _, page := range []string{"/register", "/"} {
		shown, _ := person.open(site + page)
		sid := person.find(shown, `data-sid="([^"]*)"`)
		simulation, err := client.Sessions.Simulate(ctx, sid, SimulateParams{})
		if err != nil || simulation.Status != 200 {
			t.Fatal(simulation, err)
		}
		poll := site + "/signpost/poll?sid=" + sid
		stranger, _ := newBrowser(t).open(poll)
		mustEqual(t, "a stranger", strings.TrimSpace(stranger), `{"status":"pending"}`)
		request, _ := http.NewRequestWithContext(ctx, http.MethodGet, poll, nil)
		response, err := person.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		said, _ := io.ReadAll(response.Body)
		response.Body.Close()
		mustEqual(t, "poll", strings.TrimSpace(string(said)), `{"redirect":"/account","status":"authenticated"}`)
		account, _ := person.open(site + "/account")
		mustEqual(t, "user", person.find(account, `<b id="user">([0-9a-f]+)</b>`), simulation.PublicKey)
	}
}

func TestReadmeSiteCompiles(t *testing.T) {
	readme := string(must(os.ReadFile("README.md")))
	_, site, _ := strings.Cut(readme, "```go\npackage main")
	site, _, found := strings.Cut(site, "\n```\n")
	if said := compile(t, "package main"+site); !found || said != "" {
		t.Error(said)
	}
}

// around is the program around the calls, with the variables that they use.
const around = `package main
import ("context"; "errors"; "log"; "net/http"; "os"; "time"; "signpost")
var (_ = errors.As; _ = log.Print; _ = os.Args; _ = time.Now)
func main() {}
func calls(
	ctx context.Context, request *http.Request, body []byte, sessionID, code, publicKey, signature, message, browserHash, browserSecret string,
	session *signpost.Session, domain *signpost.Domain, user *signpost.HostedUser, credential *signpost.Credential, event *signpost.Event,
	answer signpost.Answer,
) {
`

func TestReferenceCallsCompile(t *testing.T) {
	page := string(must(os.ReadFile("../../crates/signpost/assets/reference.html")))
	calls := regexp.MustCompile(`(?s)<figcaption>Go</figcaption>\s*<pre><code>(.*?)</code></pre>`).FindAllStringSubmatch(page, -1)
	if len(calls) < 25 {
		t.Fatalf("only %d calls", len(calls))
	}
	source := around
	for at, call := range calls {
		text := html.UnescapeString(regexp.MustCompile("<[^>]+>").ReplaceAllString(call[1], ""))
		if at > 0 { // The first creates the client for the others.
			text = "_ = func() {\n" + text + "\n}"
		}
		source += text + "\n"
	}
	for _, line := range strings.Split(compile(t, source+"}\n"), "\n") {
		if strings.HasPrefix(line, "./") && !strings.Contains(line, "declared and not used") {
			t.Error(line)
		}
	}
}

// compile returns the errors of a program that uses this package.
func compile(t *testing.T, source string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "main.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, arguments := range [][]string{
		{"mod", "init", "shop"}, {"mod", "edit", "-require", "signpost@v0.1.0", "-replace", "signpost=" + must(os.Getwd())},
		{"build", "-gcflags=-e", "-o", os.DevNull, "."},
	} {
		command := exec.Command("go", arguments...)
		command.Dir = folder
		text, err := command.CombinedOutput()
		switch {
		case arguments[0] == "build":
			return string(text)
		case err != nil:
			t.Fatalf("go %v: %v\n%s", arguments, err, text)
		}
	}
	return ""
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
