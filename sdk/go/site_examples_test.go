package signpost

import (
	"context"
	"encoding/json"
	"errors"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

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
