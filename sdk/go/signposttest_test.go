package signpost_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"signpost"
	"signpost/signposttest"
)

func options(site signpost.TestSite) signposttest.Options {
	return signposttest.Options{Key: site.Key, BaseURL: site.BaseURL}
}

func logIn(t *testing.T, site signpost.TestSite, change func(*signposttest.Options)) *signposttest.Login {
	t.Helper()
	given := options(site)
	change(&given)
	login, err := signposttest.LogIn(t.Context(), site.Origin, given)
	if err != nil {
		t.Fatal(err)
	}
	return login
}

func TestEachSimulatedWalletIsOneUser(t *testing.T) {
	site := signpost.StartTestSite(t)
	first := logIn(t, site, func(*signposttest.Options) {})
	if !strings.HasPrefix(first.User.ID, "usr_") || first.Location != site.Origin+"/" || len(first.Cookies) != 1 {
		t.Errorf("%+v", first)
	}
	page, err := (&http.Client{Jar: first.Jar}).Get(site.Origin)
	if err != nil {
		t.Fatal(err)
	}
	defer page.Body.Close()
	if text, _ := io.ReadAll(page.Body); !strings.Contains(string(text), first.User.ID) {
		t.Error(string(text))
	}
	again := logIn(t, site, func(o *signposttest.Options) { o.Wallet, o.Next = 1, "/?tab=keys" })
	if again.User.ID != first.User.ID || again.Location != site.Origin+"/?tab=keys" || again.Cookies[0].Value == first.Cookies[0].Value {
		t.Errorf("%+v %+v", again, first)
	}
	if other := logIn(t, site, func(o *signposttest.Options) { o.Wallet = 2 }); other.User.ID == first.User.ID {
		t.Errorf("%+v", other)
	}
	denied := logIn(t, site, func(o *signposttest.Options) { o.Denied, o.Next = true, "/cart" })
	if denied.User != nil || len(denied.Cookies) > 0 || denied.Location != site.Origin+"/?login_error=access_denied&next=%2Fcart" {
		t.Errorf("%+v", denied)
	}
}

func TestFailedSimulatedLoginNamesTheCause(t *testing.T) {
	site := signpost.StartTestSite(t)
	var target string
	fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", target)
		w.WriteHeader(http.StatusSeeOther)
	}))
	defer fake.Close()
	closed := signpost.DomainChange{Registration: "closed"}
	for _, c := range []struct {
		origin, redirect, message string
		change                    func(*signposttest.Options)
	}{
		{site.Origin, "", "a base URL of the sandbox", func(o *signposttest.Options) { o.BaseURL = "http://localhost:8080/v1" }},
		{site.Origin, "", "an API key of the sandbox", func(o *signposttest.Options) { o.Key = "svc_live_x" }},
		{site.Origin, "", "an API key of the sandbox", func(o *signposttest.Options) { o.Key = "" }},
		{site.Origin + "/account", "", "the site is an origin", nil},
		{strings.Replace(site.Origin, "localhost", "127.0.0.1", 1), "", "returns to " + site.Origin + ", the site of the login handler", nil},
		{site.Origin, "", "has status 404 instead of a redirect to the login page", func(o *signposttest.Options) { o.Path = "/signpost/elsewhere" }},
		{site.Origin, "", "invalid_request", func(o *signposttest.Options) { o.Wallet = 101 }},
		{"http://localhost:" + signpost.FreePort(t), "", "no reply from", nil},
		{fake.URL, "/login/sess_0123", "the site uses the live environment", nil},
		{fake.URL, "/signpost/login", "redirected more than 5 times", nil},
		{fake.URL, "/?login_error=unavailable", "login_error=unavailable", nil},
		{site.Origin, "", "the simulated wallet was refused with status 404", func(o *signposttest.Options) {
			if _, err := site.Client.Domains.Update(t.Context(), site.DomainID, closed); err != nil {
				t.Fatal(err)
			}
			o.Wallet = 7
		}},
	} {
		target = c.redirect
		given := options(site)
		if c.change != nil {
			c.change(&given)
		}
		_, err := signposttest.LogIn(t.Context(), c.origin, given)
		if err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: %v", c.message, err)
		}
	}
	var refused *signpost.Error
	if _, err := signposttest.LogIn(t.Context(), site.Origin, signposttest.Options{}); !errors.As(err, &refused) || refused.Code != signpost.CodeInvalidArgument {
		t.Error(err)
	}
}

func TestDocumentedTestsPass(t *testing.T) {
	site := signpost.StartTestSite(t)
	page, err := os.ReadFile("../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(page), "```go\n")
	code, _, _ = strings.Cut(code, "```\n")
	const key, address = `Key: os.Getenv("KEY")`, "http://localhost:9001"
	if strings.Count(code, key) != 2 || strings.Count(code, address) != 1 {
		t.Fatal(code)
	}
	code = strings.Replace(strings.ReplaceAll(code, key, key+`, BaseURL: os.Getenv("API")`), address, site.Origin, 1)
	command := signpost.GoInModule(t, "shop_test.go", code, "test", "-v", "-count=1", ".")
	command.Env = append(os.Environ(), "KEY="+site.Key, "API="+site.BaseURL)
	text, err := command.CombinedOutput()
	if err != nil || strings.Count(string(text), "--- PASS") != 2 {
		t.Fatal(err, string(text))
	}
}
