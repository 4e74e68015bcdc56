package signpost

import (
	"strings"
	"testing"
	"time"
)

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
