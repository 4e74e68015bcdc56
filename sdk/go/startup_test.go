package signpost

import (
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// jsonReply returns the response of a service.
func jsonReply(status int, body string) (*http.Response, error) {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

func errorReply(status int, code string) (*http.Response, error) {
	return jsonReply(status, `{"error":{"code":"`+code+`","message":"no","details":{}}}`)
}

// checkedSettings returns the lines in the log after a check of the settings.
func checkedSettings(reply roundTrip, options ...Option) []string {
	var lines []string
	given := []Option{WithBaseURL("https://login.example/v1"), WithHTTPClient(&http.Client{Transport: reply})}
	checkSettings(New("secret-key", append(given, options...)...), "shop.example", func(line string) { lines = append(lines, line) })
	return lines
}

func TestCorrectSettingsLogNothing(t *testing.T) {
	var paths []string
	lines := checkedSettings(func(r *http.Request) (*http.Response, error) {
		paths = append(paths, r.URL.Path)
		return jsonReply(200, `{"id":"dom_1","domain":"shop.example","handler":"hosted"}`)
	})
	mustEqual(t, "log", lines, []string(nil))
	mustEqual(t, "calls", paths, []string{"/v1/domains/shop.example"})
}

func TestWrongSettingIsOneLineInTheLog(t *testing.T) {
	calls := 0
	always := func(status int, code string) roundTrip {
		return func(*http.Request) (*http.Response, error) { return errorReply(status, code) }
	}
	for name, c := range map[string]struct {
		reply roundTrip
		want  string
	}{
		"a wrong key":            {always(401, "invalid_api_key"), `https://login\.example/v1 rejects the API key: `},
		"a key of another scope": {always(403, "insufficient_scope"), `the API key has no scope auth`},
		"no connection": {func(*http.Request) (*http.Response, error) {
			calls++
			return nil, errors.New("refused")
		}, `cannot be reached at the base URL https://login\.example/v1`},
		"another program":       {func(*http.Request) (*http.Response, error) { return jsonReply(200, "<h1>Welcome</h1>") }, `the base URL https://login\.example/v1 is not that of a Signpost server`},
		"a base URL without v1": {always(404, "not_found"), `it ends in /v1 or /sandbox/v1`},
		"an outage":             {always(500, "internal_error"), `replied with internal_error`},
		"a direct domain": {func(*http.Request) (*http.Response, error) {
			return jsonReply(200, `{"id":"dom_1","handler":"direct"}`)
		}, `requires the handler hosted`},
		"an unknown domain": {func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/domains") {
				return jsonReply(200, `{"domains":[]}`)
			}
			return errorReply(404, "domain_not_found")
		}, `shop\.example is not registered with this API key: run signpost domains add shop\.example --handler hosted$`},
	} {
		lines := checkedSettings(c.reply)
		if len(lines) != 1 || !regexp.MustCompile(`^signpost: logins will fail: .*`+c.want).MatchString(lines[0]) || strings.Contains(lines[0], "secret-key") {
			t.Errorf("%s: %q", name, lines)
		}
	}
	mustEqual(t, "tries without a connection", calls, 1)
	lines := checkedSettings(nil, WithBaseURL("login.example"))
	if len(lines) != 1 || !strings.Contains(lines[0], "the client has an invalid option") {
		t.Error(lines)
	}
}

func TestDomainThatIsFoundByItsIDIsAccepted(t *testing.T) {
	lines := checkedSettings(func(r *http.Request) (*http.Response, error) {
		switch r.URL.Path {
		case "/v1/domains":
			return jsonReply(200, `{"domains":[{"id":"dom_0","domain":"other.example"},{"id":"dom_1","domain":"shop.example"}]}`)
		case "/v1/domains/dom_1":
			return jsonReply(200, `{"id":"dom_1","domain":"shop.example","handler":"hosted"}`)
		}
		return errorReply(404, "domain_not_found")
	})
	mustEqual(t, "log", lines, []string(nil))
}

func TestStartupCheckRunsInTheBackground(t *testing.T) {
	asked, answer := make(chan string, 1), make(chan bool)
	client := New("k", WithHTTPClient(&http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		asked <- r.URL.Path
		<-answer
		return jsonReply(200, `{"id":"dom_1","domain":"shop.example","handler":"hosted"}`)
	})}))
	NewLogin(client, loginOptions(func(o *LoginOptions) { o.SkipStartupCheck = false }))
	mustEqual(t, "call", <-asked, "/sandbox/v1/domains/shop.example")
	close(answer)

	NewLogin(client, loginOptions(nil))
	select {
	case path := <-asked:
		t.Error("a skipped check asked for", path)
	case <-time.After(20 * time.Millisecond):
	}
}
