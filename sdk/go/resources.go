package signpost

import (
	"context"
	"crypto/rand"
	"fmt"
	"iter"
	"math"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	longestPoll     = 25 * time.Second
	defaultPatience = 300 * time.Second
	fullPage        = 100
)

// ListParams selects a page of a list. Limit is 1 to 100; 0 selects the service's default.
type ListParams struct {
	Limit  int
	Cursor string
}

// SessionListParams selects sessions by their status and domain.
type SessionListParams struct {
	Status, Domain string
	ListParams
}

// DeliveryListParams selects deliveries by their state.
type DeliveryListParams struct {
	State string
	ListParams
}

func (p ListParams) query(filters ...string) url.Values {
	query := url.Values{}
	for at := 0; at < len(filters); at += 2 {
		if filters[at+1] != "" {
			query.Set(filters[at], filters[at+1])
		}
	}
	if p.Limit != 0 {
		query.Set("limit", strconv.Itoa(p.Limit))
	}
	if p.Cursor != "" {
		query.Set("cursor", p.Cursor)
	}
	return query
}

// pages iterates over the items of all pages, and stops at the first error.
func pages[T any](params ListParams, list func(ListParams) (items []T, next string, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if params.Limit == 0 {
			params.Limit = fullPage
		}
		for params := params; ; {
			items, next, err := list(params)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == "" || next == params.Cursor {
				return
			}
			params.Cursor = next
		}
	}
}

// Sessions are login attempts.
type Sessions struct{ c *Client }

// Create creates a session. Retries are safe: they share an idempotency key.
func (s *Sessions) Create(ctx context.Context, params SessionParams) (*CreatedSession, error) {
	key := params.IdempotencyKey
	if key == "" {
		key = newUUID()
	}
	return fetch[CreatedSession](ctx, s.c, call{method: http.MethodPost, path: "/sessions", body: params, idempotencyKey: key, repeatable: true})
}

// List returns a page of sessions, newest first.
func (s *Sessions) List(ctx context.Context, params SessionListParams) (*SessionList, error) {
	query := params.query("status", params.Status, "domain", params.Domain)
	return fetch[SessionList](ctx, s.c, call{method: http.MethodGet, path: "/sessions", query: query, repeatable: true})
}

// All iterates over all sessions, newest first.
func (s *Sessions) All(ctx context.Context, params SessionListParams) iter.Seq2[ListedSession, error] {
	return pages(params.ListParams, func(page ListParams) ([]ListedSession, string, error) {
		params.ListParams = page
		list, err := s.List(ctx, params)
		if err != nil {
			return nil, "", err
		}
		return list.Sessions, list.NextCursor, nil
	})
}

// GetOption configures [Sessions.Get].
type GetOption func(*call)

// LongPoll delays the reply until the session is no longer pending, for at most this time: whole seconds, up to 25.
func LongPoll(wait time.Duration) GetOption {
	return func(k *call) {
		k.wait = wait
		k.query = url.Values{"wait": {strconv.Itoa(int(math.Ceil(wait.Seconds())))}}
	}
}

// Get returns a session. It fails if the session expired or was cancelled.
func (s *Sessions) Get(ctx context.Context, id string, options ...GetOption) (*Session, error) {
	k := call{method: http.MethodGet, repeatable: true}
	for _, option := range options {
		option(&k)
	}
	return to[Session](ctx, s.c, k, "/sessions/{}", id)
}

// WaitOption configures [Sessions.Wait].
type WaitOption func(*time.Duration)

// WaitAtMost sets the maximum time to wait for a session. Default: 300 s.
func WaitAtMost(patience time.Duration) WaitOption {
	return func(p *time.Duration) { *p = patience }
}

// Wait waits until a session is no longer pending or the time is over, and returns its last state. A session that expired
// or was cancelled has that status; it is not an error.
func (s *Sessions) Wait(ctx context.Context, id string, options ...WaitOption) (*Session, error) {
	patience := defaultPatience
	for _, option := range options {
		option(&patience)
	}
	for end := s.c.now().Add(patience); ; {
		asked := s.c.now()
		left := min(max(end.Sub(asked), 0), longestPoll)
		session, err := s.Get(ctx, id, LongPoll(left))
		if failure, ok := err.(*Error); ok && failure.Status == http.StatusGone {
			if status, ok := failure.Details["status"].(string); ok {
				return &Session{ID: id, Status: status}, nil
			}
		}
		if err != nil || session.Status != StatusPending || !s.c.now().Before(end) {
			return session, err
		}
		// A proxy on the way may reply early: the next request is sent a second later.
		if s.c.now().Sub(asked) < time.Second {
			if err := s.c.pause(ctx, time.Second); err != nil {
				return nil, lost(err)
			}
		}
	}
}

// Refresh replaces the code of a session that is pending or expired up to 15 minutes ago.
func (s *Sessions) Refresh(ctx context.Context, id string) (*RefreshedSession, error) {
	return to[RefreshedSession](ctx, s.c, call{method: http.MethodPost, repeatable: true}, "/sessions/{}/refresh", id)
}

// Complete completes a login of the page or the same-device flow with its completion code.
func (s *Sessions) Complete(ctx context.Context, id string, completion Completion) (*Session, error) {
	return to[Session](ctx, s.c, call{method: http.MethodPost, body: completion}, "/sessions/{}/complete", id)
}

// Authenticate forwards a wallet's answer that was posted to your handler.
func (s *Sessions) Authenticate(ctx context.Context, id string, answer Answer) (*Session, error) {
	return to[Session](ctx, s.c, call{method: http.MethodPost, body: answer}, "/sessions/{}/authenticate", id)
}

// Cancel cancels a pending session.
func (s *Sessions) Cancel(ctx context.Context, id string) error {
	return remove(ctx, s.c, "/sessions/{}", id)
}

// Simulate simulates a wallet's answer, in the sandbox.
func (s *Sessions) Simulate(ctx context.Context, id string, params SimulateParams) (*Simulation, error) {
	return to[Simulation](ctx, s.c, call{method: http.MethodPost, body: params}, "/sessions/{}/simulate", id)
}

// QRSVG returns the QR code of a pending session as SVG.
func (s *Sessions) QRSVG(ctx context.Context, id string) (string, error) {
	image, err := s.image(ctx, "/sessions/{}/qr.svg", id, "image/svg+xml")
	return string(image), err
}

// QRPNG returns the QR code of a pending session as PNG.
func (s *Sessions) QRPNG(ctx context.Context, id string) ([]byte, error) {
	return s.image(ctx, "/sessions/{}/qr.png", id, "image/png")
}

func (s *Sessions) image(ctx context.Context, format, id, kind string) ([]byte, error) {
	path, err := path(format, id)
	if err != nil {
		return nil, err
	}
	r, err := s.c.do(ctx, call{method: http.MethodGet, path: path, repeatable: true, accept: kind + ", application/json"})
	if err != nil {
		return nil, err
	}
	if given, _, err := mime.ParseMediaType(r.header.Get("Content-Type")); err != nil || given != kind {
		return nil, r.unexpected("it is no "+kind, nil)
	}
	return r.body, nil
}

// Verify checks a signature without a session.
func (c *Client) Verify(ctx context.Context, params VerifyParams) (*Verification, error) {
	return fetch[Verification](ctx, c, call{method: http.MethodPost, path: "/verify", body: params, repeatable: true})
}

// Domains are the registered domains.
type Domains struct{ c *Client }

// Create registers a domain. Only this result contains the webhook secret.
func (d *Domains) Create(ctx context.Context, params DomainParams) (*RegisteredDomain, error) {
	return fetch[RegisteredDomain](ctx, d.c, call{method: http.MethodPost, path: "/domains", body: params})
}

// List returns a page of domains, oldest first.
func (d *Domains) List(ctx context.Context, params ListParams) (*DomainList, error) {
	return fetch[DomainList](ctx, d.c, call{method: http.MethodGet, path: "/domains", query: params.query(), repeatable: true})
}

// All iterates over all domains, oldest first.
func (d *Domains) All(ctx context.Context) iter.Seq2[ListedDomain, error] {
	return pages(ListParams{}, func(page ListParams) ([]ListedDomain, string, error) {
		list, err := d.List(ctx, page)
		if err != nil {
			return nil, "", err
		}
		return list.Domains, list.NextCursor, nil
	})
}

// Get returns a domain.
func (d *Domains) Get(ctx context.Context, id string) (*Domain, error) {
	return to[Domain](ctx, d.c, call{method: http.MethodGet, repeatable: true}, "/domains/{}", id)
}

// Update changes the URLs, the handler or the login settings of a domain.
func (d *Domains) Update(ctx context.Context, id string, change DomainChange) (*Domain, error) {
	return to[Domain](ctx, d.c, call{method: http.MethodPatch, body: change, repeatable: true}, "/domains/{}", id)
}

// Verify checks the proof of ownership of a domain; the Details of its error list the results.
func (d *Domains) Verify(ctx context.Context, id string) (*ProvedDomain, error) {
	return to[ProvedDomain](ctx, d.c, call{method: http.MethodPost, repeatable: true}, "/domains/{}/verify", id)
}

// Delete deletes a domain with its users.
func (d *Domains) Delete(ctx context.Context, id string) error {
	return remove(ctx, d.c, "/domains/{}", id)
}

// SendTestEvent sends a test event.
func (d *Domains) SendTestEvent(ctx context.Context, id string) (*Delivery, error) {
	return to[Delivery](ctx, d.c, call{method: http.MethodPost}, "/domains/{}/test-event", id)
}

// Deliveries are event deliveries.
type Deliveries struct{ c *Client }

// List returns a page of deliveries, newest first.
func (d *Deliveries) List(ctx context.Context, params DeliveryListParams) (*DeliveryList, error) {
	query := params.query("state", params.State)
	return fetch[DeliveryList](ctx, d.c, call{method: http.MethodGet, path: "/deliveries", query: query, repeatable: true})
}

// All iterates over all deliveries, newest first.
func (d *Deliveries) All(ctx context.Context, params DeliveryListParams) iter.Seq2[Delivery, error] {
	return pages(params.ListParams, func(page ListParams) ([]Delivery, string, error) {
		params.ListParams = page
		list, err := d.List(ctx, params)
		if err != nil {
			return nil, "", err
		}
		return list.Deliveries, list.NextCursor, nil
	})
}

// Get returns a delivery with its body.
func (d *Deliveries) Get(ctx context.Context, id string) (*Delivery, error) {
	return to[Delivery](ctx, d.c, call{method: http.MethodGet, repeatable: true}, "/deliveries/{}", id)
}

// Retry retries a delivery as soon as possible.
func (d *Deliveries) Retry(ctx context.Context, id string) (*Delivery, error) {
	return to[Delivery](ctx, d.c, call{method: http.MethodPost}, "/deliveries/{}/retry", id)
}

// RetryAll retries all failed deliveries of the account.
func (d *Deliveries) RetryAll(ctx context.Context) (*Retried, error) {
	return fetch[Retried](ctx, d.c, call{method: http.MethodPost, path: "/deliveries/retry"})
}

func to[T any](ctx context.Context, c *Client, k call, format string, ids ...string) (*T, error) {
	var err error
	if k.path, err = path(format, ids...); err != nil {
		return nil, err
	}
	return fetch[T](ctx, c, k)
}

func remove(ctx context.Context, c *Client, format string, ids ...string) error {
	path, err := path(format, ids...)
	if err != nil {
		return err
	}
	return c.expectNothing(ctx, call{method: http.MethodDelete, path: path})
}

// newUUID returns a random UUID (RFC 9562, version 4).
func newUUID() string {
	var b [16]byte
	rand.Read(b[:]) // It cannot fail since Go 1.24.
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
