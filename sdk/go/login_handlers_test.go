package signpost

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"
)

// The cases of vectors/login_handlers.json: requests of a browser, in order, with a scripted service.
type handlersVectors struct {
	Site, Path, Domain string
	FailedPath         string `json:"failed_path"`
	CookieSecret       string `json:"cookie_secret"`
	Cases              []handlersCase
}

type handlersCase struct {
	Name           string
	FailedPath     string `json:"failed_path"`
	SignOut        *bool  `json:"sign_out"`
	HasCurrentUser *bool  `json:"has_current_user"`
	ConfirmRecent  *bool  `json:"confirm_recent"`
	Steps          []handlersStep
}

type handlersStep struct {
	Request struct {
		Method, Path string
		Headers      map[string]string
	}
	Times, Now  int64
	Random      string
	CurrentUser string `json:"current_user"`
	Cookies     *string
	Service     []scriptedCall
	Expect      handlersExpectation
}

type scriptedCall struct {
	Method, Path string
	Body         any
	Reply        struct {
		Status    int
		JSON      json.RawMessage
		Text      *string
		RequestID string `json:"request_id"`
		Lost      bool
	}
}

type handlersExpectation struct {
	Status    int
	Location  string
	SetCookie []string `json:"set_cookie"`
	Headers   map[string]string
	Errors    []reportedError
	SignsIn   *signedIn `json:"signs_in"`
	SignsOut  bool      `json:"signs_out"`
	Logs      *int
}

type reportedError struct {
	Code      ErrorCode
	Step      string
	Status    int
	RequestID string `json:"request_id"`
}

type signedIn struct {
	User               LoginUser
	Mode, Next, Method string
}

// jar contains the cookies of a browser, in the order in which they were first set.
type jar struct{ names, values []string }

func (j *jar) header() string {
	var pairs []string
	for at, name := range j.names {
		pairs = append(pairs, name+"="+j.values[at])
	}
	return strings.Join(pairs, "; ")
}

func (j *jar) store(name, value string, isDeleted bool) {
	for at, known := range j.names {
		if known != name {
			continue
		}
		if isDeleted {
			j.names, j.values = append(j.names[:at:at], j.names[at+1:]...), append(j.values[:at:at], j.values[at+1:]...)
		} else {
			j.values[at] = value
		}
		return
	}
	if !isDeleted {
		j.names, j.values = append(j.names, name), append(j.values, value)
	}
}

// play is a site, its service and a browser.
type play struct {
	t       *testing.T
	handler *LoginHandler
	jar     jar
	step    handlersStep
	calls   []scriptedCall
	errors  []reportedError
	signsIn *signedIn
	signOut int
	logs    int
}

func newPlay(t *testing.T, vectors handlersVectors, c handlersCase) *play {
	p := &play{t: t}
	options := LoginOptions{
		Domain: vectors.Domain, Site: vectors.Site, Path: vectors.Path, CookieSecret: vectors.CookieSecret, FailedPath: vectors.FailedPath,
		SkipStartupCheck: true, OnError: p.onError, SignIn: p.onSignIn,
	}
	if c.FailedPath != "" {
		options.FailedPath = c.FailedPath
	}
	if c.SignOut == nil || *c.SignOut {
		options.SignOut = func(http.ResponseWriter, *http.Request) error {
			p.signOut++
			return nil
		}
	}
	if c.HasCurrentUser == nil || *c.HasCurrentUser {
		options.CurrentUser = func(*http.Request) string { return p.step.CurrentUser }
	}
	if c.ConfirmRecent != nil {
		options.ConfirmRecent = func(*http.Request) bool { return *c.ConfirmRecent }
	}
	client := New("k", WithRetries(0), WithHTTPClient(&http.Client{Transport: roundTrip(p.reply)}))
	p.handler = NewLogin(client, options)
	p.handler.now = func() time.Time { return time.Unix(max(p.step.Now, 1_700_000_000), 0) }
	p.handler.log = func(string) { p.logs++ }
	p.handler.random = p.random
	return p
}

func (p *play) onError(err error, step string) {
	var failure *Error
	if !errors.As(err, &failure) {
		p.t.Fatal(err)
	}
	p.errors = append(p.errors, reportedError{failure.Code, step, failure.Status, failure.RequestID})
}

func (p *play) onSignIn(_ http.ResponseWriter, _ *http.Request, login Login) error {
	p.signsIn = &signedIn{login.User, login.Mode, login.Next, login.Method}
	return nil
}

func (p *play) random(b []byte) {
	if p.step.Random == "" {
		for at := range b {
			b[at] = byte(at)
		}
		return
	}
	if n, err := hex.Decode(b, []byte(p.step.Random)); n != len(b) || err != nil {
		p.t.Error(n, err)
	}
}

// reply responds like the service.
func (p *play) reply(r *http.Request) (*http.Response, error) {
	got := scriptedCall{Method: r.Method, Path: strings.TrimPrefix(r.URL.EscapedPath(), "/sandbox/v1")}
	if r.Body != nil {
		text, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(text, &got.Body)
	}
	if len(p.calls) == 0 {
		p.t.Error("an unexpected call", got)
		return nil, errors.New("no reply")
	}
	want := p.calls[0]
	p.calls = p.calls[1:]
	reply := want.Reply
	want.Reply = got.Reply
	mustEqual(p.t, "call", got, want)
	if reply.Lost {
		return nil, errors.New("the connection was lost")
	}
	body := []byte(reply.JSON)
	if reply.Text != nil {
		body = []byte(*reply.Text)
	}
	header := http.Header{}
	if reply.RequestID != "" {
		header.Set("X-Request-Id", reply.RequestID)
	}
	return &http.Response{StatusCode: reply.Status, Header: header, Body: io.NopCloser(bytes.NewReader(body))}, nil
}

// run sends the request of a step, and checks the response.
func (p *play) run(step handlersStep, site string) {
	p.step, p.calls, p.errors, p.signsIn, p.signOut, p.logs = step, step.Service, nil, nil, 0, 0
	if step.Cookies != nil {
		p.jar = jar{}
		for _, pair := range strings.Split(*step.Cookies, "; ") {
			if name, value, ok := strings.Cut(pair, "="); ok {
				p.jar.store(name, value, false)
			}
		}
	}
	request := httptest.NewRequest(step.Request.Method, site+step.Request.Path, nil)
	for name, value := range step.Request.Headers {
		request.Header.Set(name, value)
		if name == "host" {
			request.Header.Del(name)
			request.Host = value
		}
	}
	if cookies := p.jar.header(); cookies != "" {
		request.Header.Set("Cookie", cookies)
	}
	recorder := httptest.NewRecorder()
	p.handler.ServeHTTP(recorder, request)
	p.check(recorder)
	for _, line := range recorder.Header().Values("Set-Cookie") {
		pair, attributes, _ := strings.Cut(line, ";")
		name, value, _ := strings.Cut(pair, "=")
		p.jar.store(name, value, strings.Contains(attributes, "Max-Age=0;"))
	}
}

func (p *play) check(recorder *httptest.ResponseRecorder) {
	p.t.Helper()
	want, header := p.step.Expect, recorder.Header()
	mustEqual(p.t, "status and location", []any{recorder.Code, header.Get("Location")}, []any{want.Status, want.Location})
	mustEqual(p.t, "cookies", header.Values("Set-Cookie"), want.SetCookie)
	mustEqual(p.t, "cache", header.Get("Cache-Control"), "no-store")
	for name, value := range want.Headers {
		mustEqual(p.t, name, header.Get(name), value)
	}
	mustEqual(p.t, "calls that were not made", len(p.calls), 0)
	mustEqual(p.t, "errors", p.errors, want.Errors)
	if !reflect.DeepEqual(p.signsIn, want.SignsIn) {
		p.t.Errorf("signs in %+v, wanted %+v", p.signsIn, want.SignsIn)
	}
	mustEqual(p.t, "signs out", p.signOut == 1, want.SignsOut)
	if want.Logs != nil {
		mustEqual(p.t, "lines in the log", p.logs, *want.Logs)
	}
}

func TestLoginHandlersPassTheVectors(t *testing.T) {
	var vectors handlersVectors
	readVectors(t, "login_handlers.json", &vectors)
	if len(vectors.Cases) < 100 {
		t.Fatal("only", len(vectors.Cases))
	}
	for _, c := range vectors.Cases {
		t.Run(c.Name, func(t *testing.T) {
			p := newPlay(t, vectors, c)
			for _, step := range c.Steps {
				for range max(step.Times, 1) {
					p.run(step, vectors.Site)
				}
			}
		})
	}
}
