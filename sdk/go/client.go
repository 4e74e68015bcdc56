package signpost

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// DefaultBaseURL is the sandbox of a local server.
const DefaultBaseURL = "http://localhost:8080/sandbox/v1"

const (
	userAgent    = "signpost-sdk-go/0.1.0"
	maxReply     = 4 << 20
	longestDelay = 30 * time.Second // maximum Retry-After
)

// Client calls the service. It is safe for concurrent use. Its printed form does not contain the key.
type Client struct {
	Sessions   *Sessions
	Domains    *Domains
	Users      *Users
	Clients    *Clients
	Deliveries *Deliveries
	ATMs       *ATMs

	// The base URL, and the URL of the locator.
	base, mcp string
	misuse    *Error
	http      *http.Client
	// For calls that are not retried, because the server may have closed an idle connection.
	fresh   *http.Client
	timeout time.Duration
	retries int
	longest time.Duration
	// Functions, so that a printed client contains their addresses instead of the key and the token.
	key    func() string
	token  func() string
	now    func() time.Time
	random func() float64
	// Between two attempts, and between two polls.
	sleep, pause func(context.Context, time.Duration) error
}

// Option configures a [Client].
type Option func(*Client)

// WithBaseURL sets the address of the API: http or https, with /v1 or /sandbox/v1 at its end.
func WithBaseURL(base string) Option { return func(c *Client) { c.base = base } }

// WithMCPURL sets the MCP URL of the ATM locator. Default: /mcp at the origin of the base URL.
func WithMCPURL(address string) Option { return func(c *Client) { c.mcp = address } }

// WithMCPToken sets the token for the ATM locator, if the server requires a token: an access token, or an API key with the
// scope mcp.
func WithMCPToken(token string) Option {
	return func(c *Client) { c.token = func() string { return token } }
}

// WithTimeout sets the timeout of an attempt. Default: 30 s. The context of a call bounds all of its attempts.
func WithTimeout(timeout time.Duration) Option {
	return func(c *Client) { c.timeout = timeout }
}

// WithRetries sets the maximum number of retries. Default: 2.
func WithRetries(retries int) Option { return func(c *Client) { c.retries = retries } }

// WithHTTPClient sends requests with the given client. Redirects are not followed, because they would disclose the key.
// Calls that are not safe to repeat use a new connection each, if its Transport is an [http.Transport].
func WithHTTPClient(client *http.Client) Option {
	return func(c *Client) { copied := *client; c.http = &copied }
}

// New creates a client for an API key. An invalid option is reported by the first call, as invalid_argument. The key is
// checked only by the service.
func New(key string, options ...Option) *Client {
	c := &Client{
		http: &http.Client{}, timeout: 30 * time.Second, retries: 2, longest: longestDelay,
		key: func() string { return key }, token: func() string { return "" }, base: DefaultBaseURL, now: time.Now, random: rand.Float64, sleep: sleep, pause: sleep,
	}
	for _, option := range options {
		option(c)
	}
	c.checkAddresses()
	if c.timeout <= 0 || c.retries < 0 {
		c.misuse = invalidArgument("a timeout must be longer than 0, and retries 0 or more")
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	fresh := *c.http
	if transport, ok := cmp.Or(fresh.Transport, http.DefaultTransport).(*http.Transport); ok {
		transport = transport.Clone()
		transport.DisableKeepAlives = true
		fresh.Transport = transport
	}
	c.fresh = &fresh
	return c.link()
}

func (c *Client) link() *Client {
	c.Sessions, c.Domains, c.Users = &Sessions{c}, &Domains{c}, &Users{c}
	c.Clients, c.Deliveries, c.ATMs = &Clients{c}, &Deliveries{c}, &ATMs{c}
	return c
}

// within returns a copy of the client with a shorter maximum Retry-After.
func (c *Client) within(longest time.Duration) *Client {
	copied := *c
	copied.longest = min(c.longest, longest)
	return copied.link()
}

// withoutRetries returns a copy of the client with a shorter timeout and without retries.
func (c *Client) withoutRetries(timeout time.Duration) *Client {
	copied := *c
	copied.timeout, copied.retries = min(c.timeout, timeout), 0
	return copied.link()
}

func (c *Client) checkAddresses() {
	base, ok := parseAddress(c.base)
	if !ok || strings.Contains(c.base, "?") {
		c.misuse = invalidArgument("the base URL must be http or https, without a query, such as %s", DefaultBaseURL)
		return
	}
	c.base = strings.TrimRight(c.base, "/")
	if c.mcp == "" {
		c.mcp = base.Scheme + "://" + base.Host + "/mcp"
	}
	if _, ok := parseAddress(c.mcp); !ok {
		c.misuse = invalidArgument("the MCP URL must be http or https, without user name and fragment, such as https://atm.example/mcp")
	}
}

// parseAddress parses an http or https URL without user name and fragment.
func parseAddress(text string) (*url.URL, bool) {
	u, err := url.Parse(text)
	if err != nil || u.User != nil || strings.Contains(text, "#") {
		return nil, false
	}
	return u, (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// call is a request, with its rules for retries.
type call struct {
	method, path string
	query        url.Values
	body         any
	// Retried after a lost connection.
	repeatable     bool
	idempotencyKey string
	accept         string
	// How long the service itself may wait before it replies.
	wait time.Duration
	// Never retried, because the caller is waiting.
	once bool
	// Sent to the locator: at another URL, with the token instead of the key.
	locator bool
	// Sent without the key.
	anonymous bool
}

// reply is a complete reply.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func fetch[T any](ctx context.Context, c *Client, k call) (*T, error) {
	r, err := c.do(ctx, k)
	if err != nil {
		return nil, err
	}
	out := new(T)
	if err := decode(r, out); err != nil {
		return nil, err
	}
	return out, nil
}

func (c *Client) expectNothing(ctx context.Context, k call) error {
	r, err := c.do(ctx, k)
	if err == nil && r.status != http.StatusNoContent {
		err = r.unexpected("a reply of 204 was promised", nil)
	}
	return err
}

// do returns a reply with a status of 2xx, or an *Error.
func (c *Client) do(ctx context.Context, k call) (*reply, error) {
	if err := c.checkHeaders(k); err != nil {
		return nil, err
	}
	var body []byte
	if k.body != nil {
		encoded, err := json.Marshal(k.body)
		if err != nil {
			return nil, &Error{Code: CodeInvalidArgument, Message: "the arguments are no JSON: " + err.Error(), cause: err}
		}
		body = encoded
	}
	for try := 0; ; try++ {
		r, failure := c.attempt(ctx, k, body)
		if failure == nil {
			return r, nil
		}
		again := failure.Status == http.StatusTooManyRequests || failure.Status == http.StatusServiceUnavailable ||
			failure.Status == 0 && k.repeatable
		if !again || k.once || try >= c.retries || failure.RetryAfter > c.longest || ctx.Err() != nil {
			return nil, failure
		}
		jitter := time.Duration(c.random() * float64(500*time.Millisecond<<min(try, 6)))
		if err := c.sleep(ctx, failure.RetryAfter+jitter); err != nil {
			return nil, failure
		}
	}
}

// checkHeaders returns an error for an invalid option of the client, or a value that no header can have.
func (c *Client) checkHeaders(k call) error {
	if c.misuse != nil {
		return c.misuse
	}
	if strings.ContainsFunc(c.key()+c.token()+k.idempotencyKey, func(r rune) bool { return r < ' ' || r > '~' }) {
		return invalidArgument("the API key, the MCP token or the idempotency key contains a line end or a non-ASCII character")
	}
	return nil
}

func (c *Client) attempt(ctx context.Context, k call, body []byte) (*reply, *Error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout+k.wait)
	defer cancel()
	request, err := c.request(ctx, k, body)
	if err != nil {
		return nil, &Error{Code: CodeInvalidArgument, Message: err.Error(), cause: err}
	}
	client := c.fresh
	if k.repeatable {
		client = c.http
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, lost(err)
	}
	defer response.Body.Close()
	r := &reply{status: response.StatusCode, header: response.Header}
	r.body, err = io.ReadAll(io.LimitReader(response.Body, maxReply+1))
	if err != nil {
		return nil, lost(err)
	}
	if len(r.body) > maxReply {
		return nil, r.unexpected("it is longer than 4 MiB", nil)
	}
	if r.status < 200 || r.status > 299 {
		return nil, c.refusal(r)
	}
	return r, nil
}

func (c *Client) request(ctx context.Context, k call, body []byte) (*http.Request, error) {
	address := c.base + k.path
	if k.locator {
		address = c.mcp
	}
	if len(k.query) > 0 {
		address += "?" + strings.ReplaceAll(k.query.Encode(), "+", "%20")
	}
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, k.method, address, reader)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", userAgent)
	request.Header.Set("Accept", cmp.Or(k.accept, "application/json"))
	switch {
	case k.locator && c.token() != "":
		request.Header.Set("Authorization", "Bearer "+c.token())
	case !k.locator && !k.anonymous:
		request.Header.Set("Authorization", "Bearer "+c.key())
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if k.idempotencyKey != "" {
		request.Header.Set("Idempotency-Key", k.idempotencyKey)
	}
	return request, nil
}

func lost(err error) *Error {
	if timeout := (interface{ Timeout() bool })(nil); errors.As(err, &timeout) && timeout.Timeout() {
		return &Error{Code: CodeTimeout, Message: "no reply came in time: " + err.Error(), cause: err}
	}
	return &Error{Code: CodeConnectionFailed, Message: "no reply came, or it was cut: " + err.Error(), cause: err}
}

// refusal returns the error for a reply without a status of 2xx.
func (c *Client) refusal(r *reply) *Error {
	var said struct {
		Error struct {
			Code    ErrorCode      `json:"code"`
			Message string         `json:"message"`
			Details map[string]any `json:"details"`
		} `json:"error"`
	}
	failure := r.unexpected("it is no error of the API", nil)
	if json.Unmarshal(r.body, &said) == nil && said.Error.Code != "" {
		failure.Code, failure.Message, failure.Details = said.Error.Code, said.Error.Message, said.Error.Details
	} else if rpc := rpcError(r); rpc != nil {
		failure = rpc
	}
	failure.RetryAfter = c.retryAfter(r.header.Get("Retry-After"))
	return failure
}

// retryAfter parses both forms of Retry-After; 0 if it is malformed.
func (c *Client) retryAfter(text string) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(seconds, math.MaxInt32)) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return max(at.Sub(c.now()), 0)
}

func (r *reply) unexpected(why string, cause error) *Error {
	message := "the reply with status " + strconv.Itoa(r.status) + " does not match the API: " + why
	return &Error{
		Code: CodeInvalidResponse, Message: message, Status: r.status,
		RequestID: r.header.Get("X-Request-Id"), cause: cause,
	}
}

func decode(r *reply, out any) error {
	if text := bytes.TrimLeft(r.body, " \t\r\n"); len(text) == 0 || text[0] != '{' {
		return r.unexpected("it is no JSON object", nil)
	}
	if err := json.Unmarshal(r.body, out); err != nil {
		return r.unexpected("it is no JSON of the API: "+err.Error(), err)
	}
	return nil
}

// path inserts IDs into a path, each as a single segment.
func path(format string, ids ...string) (string, error) {
	for _, id := range ids {
		if id == "" || id == "." || id == ".." {
			return "", invalidArgument("%q is no ID", id)
		}
		escaped := strings.ReplaceAll(url.QueryEscape(id), "+", "%20")
		format = strings.Replace(format, "{}", escaped, 1)
	}
	return format, nil
}

func sleep(ctx context.Context, delay time.Duration) error {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
