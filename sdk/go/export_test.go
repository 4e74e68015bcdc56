package signpost

import (
	"context"
	"os/exec"
	"testing"
)

// TestSite is a running example site, for tests of packages that import this package.
type TestSite struct {
	Origin, Key, BaseURL, DomainID string
	Client                         *Client
}

// StartTestSite starts the example site with a new domain.
func StartTestSite(t *testing.T) TestSite {
	s, client := realServer(t)
	ctx := t.Context()
	domain, err := client.Domains.Create(ctx, DomainParams{Domain: "localhost", WebhookURL: "http://localhost:9/hook"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Domains.Delete(context.WithoutCancel(ctx), domain.ID) })
	if _, err := client.Domains.Update(ctx, domain.ID, DomainChange{Handler: "hosted"}); err != nil {
		t.Fatal(err)
	}
	origin := example(t, "site", "KEY="+s.key, "API="+s.sandbox, "WEBHOOK_SECRET="+domain.WebhookSecret)
	return TestSite{origin, s.key, s.sandbox, domain.ID, client}
}

// GoInModule returns a command of go in a new module with a file, which uses this package.
func GoInModule(t *testing.T, file, source string, arguments ...string) *exec.Cmd {
	return inModule(t, file, source, arguments...)
}

// FreePort returns an unused port.
func FreePort(t *testing.T) string { return freePort(t) }
