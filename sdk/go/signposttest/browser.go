package signposttest

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"time"
)

const (
	// timeout of a request.
	timeout = 30 * time.Second
	// maxPage is the maximum size of a page, in bytes.
	maxPage = 1 << 20
)

// browser is a browser without scripts, with separate cookies for each origin.
type browser struct {
	ctx       context.Context
	transport http.RoundTripper
	jars      map[string]*cookiejar.Jar
}

// shownPage is a response, as a browser receives it.
type shownPage struct {
	status int
	// location is the absolute URL of a redirect; empty if there is none.
	location, html string
}

func newBrowser(ctx context.Context, transport http.RoundTripper) *browser {
	return &browser{ctx, transport, map[string]*cookiejar.Jar{}}
}

func (b *browser) jar(origin string) *cookiejar.Jar {
	if b.jars[origin] == nil {
		b.jars[origin], _ = cookiejar.New(nil) // without options, it returns no error
	}
	return b.jars[origin]
}

func (b *browser) open(address string) (*shownPage, error) {
	request, err := http.NewRequestWithContext(b.ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("signposttest: %w", err)
	}
	return b.send(request)
}

func (b *browser) submit(address string, form url.Values) (*shownPage, error) {
	request, err := http.NewRequestWithContext(b.ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, fmt.Errorf("signposttest: %w", err)
	}
	request.Header.Set("Origin", originOf(request.URL))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.send(request)
}

func (b *browser) send(request *http.Request) (*shownPage, error) {
	client := &http.Client{
		Transport: b.transport, Timeout: timeout, Jar: b.jar(originOf(request.URL)),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	request.Header.Set("Accept", "text/html")
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("signposttest: no reply from %s: %w", originOf(request.URL), err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxPage+1))
	if err != nil {
		return nil, fmt.Errorf("signposttest: no complete reply from %s: %w", originOf(request.URL), err)
	}
	if len(body) > maxPage {
		return nil, fmt.Errorf("signposttest: the page is longer than 1 MiB")
	}
	shown := &shownPage{status: response.StatusCode, html: string(body)}
	if target := response.Header.Get("Location"); target != "" {
		shown.location, err = resolve(request.URL.String(), target)
	}
	return shown, err
}

func resolve(base, target string) (string, error) {
	u, err := url.Parse(base)
	if err == nil {
		u, err = u.Parse(target)
	}
	if err != nil {
		return "", fmt.Errorf("signposttest: %w", err)
	}
	return u.String(), nil
}

func originOf(u *url.URL) string { return u.Scheme + "://" + u.Host }

// loginError returns the reason of a failed login in the URL of the redirect.
func (p *shownPage) loginError() string {
	u, err := url.Parse(p.location)
	if err != nil {
		return ""
	}
	return u.Query().Get("login_error")
}

// attribute returns an attribute of the last group of the first match of an expression; the whole match if it has no group.
func (p *shownPage) attribute(tag *regexp.Regexp, name string) string {
	found := tag.FindStringSubmatch(p.html)
	if found == nil {
		return ""
	}
	value := regexp.MustCompile(`\s` + name + `="([^"]*)"`).FindStringSubmatch(found[len(found)-1])
	if value == nil {
		return ""
	}
	return html.UnescapeString(value[1])
}

var (
	mainPart = regexp.MustCompile(`(?s)<main[^>]*>(.*?)</main>`)
	anyTag   = regexp.MustCompile(`<[^>]*>`)
)

// text returns the start of the text of the main part, for errors.
func (p *shownPage) text() string {
	part := p.html
	if found := mainPart.FindStringSubmatch(part); found != nil {
		part = found[1]
	}
	text := strings.Join(strings.Fields(anyTag.ReplaceAllString(part, " ")), " ")
	return text[:min(len(text), 300)]
}
