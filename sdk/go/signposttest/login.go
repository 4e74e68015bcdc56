// Package signposttest logs users in at a site without a browser, for tests. It works only in the sandbox.
package signposttest

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"

	"signpost"
)

// maxRedirects is the maximum number of redirects between the site and the login page.
const maxRedirects = 5

// Options are the options of [LogIn].
type Options struct {
	// Key is the site's API key, of the sandbox: svc_test_….
	Key string
	// BaseURL is the base URL of the sandbox, …/sandbox/v1. Default: [signpost.DefaultBaseURL].
	BaseURL string
	// Wallet is the number of the simulated wallet, 1 to 100. Each wallet is one user, at every login. Default: 1.
	Wallet int
	// Next is the path of the site to continue at. Default: /.
	Next string
	// Denied reports whether the user cancels the login.
	Denied bool
	// Path is the path of the login handler. Default: /signpost.
	Path string
	// Transport sends the requests to the site and to the login page. Default: [http.DefaultTransport].
	Transport http.RoundTripper
}

// Login is the result of a login at a site.
type Login struct {
	// Cookies are the site's cookies after the login.
	Cookies []*http.Cookie
	// Jar has these cookies, for an [http.Client].
	Jar http.CookieJar
	// Location is the URL that the site redirected to after the login.
	Location string
	// User is the user, as the service returns it; nil if the login was cancelled.
	User *signpost.SessionUser
}

// loginPage is a login page in the browser.
type loginPage struct {
	address, session string
	shown            *shownPage
}

// pagePath matches the path of a login page.
var pagePath = regexp.MustCompile(`(/sandbox)?/login/(sess_\w+)$`)

// LogIn logs a user in at a running site, through the site's own login handler: as a browser, with a simulated wallet. The
// first login of a wallet creates its user. The error names the cause if the login fails.
func LogIn(ctx context.Context, site string, options Options) (*Login, error) {
	origin, err := readOrigin(site)
	if err != nil {
		return nil, err
	}
	client, err := sandboxClient(options)
	if err != nil {
		return nil, err
	}
	b := newBrowser(ctx, options.Transport)
	start := origin + cmp.Or(options.Path, "/signpost") + "/login"
	if next := cmp.Or(options.Next, "/"); next != "/" {
		start += "?next=" + url.QueryEscape(next)
	}
	page, err := b.openLoginPage(start)
	if err != nil {
		return nil, err
	}
	if !options.Denied {
		if err := b.answer(client, page, cmp.Or(options.Wallet, 1)); err != nil {
			return nil, err
		}
	}
	back, err := b.leave(page, options.Denied)
	if err != nil {
		return nil, err
	}
	location, err := b.returnToSite(origin, back, options.Denied)
	if err != nil {
		return nil, err
	}
	login := &Login{Location: location}
	login.Cookies, login.Jar = b.cookies(origin)
	if !options.Denied {
		session, err := client.Sessions.Get(ctx, page.session)
		if err != nil {
			return nil, err
		}
		login.User = session.User
	}
	return login, nil
}

// sandboxClient returns a client of the sandbox, and an error for every other environment.
func sandboxClient(options Options) (*signpost.Client, error) {
	base := cmp.Or(options.BaseURL, signpost.DefaultBaseURL)
	if !strings.HasPrefix(options.Key, "svc_test_") {
		return nil, invalidArgument("LogIn needs an API key of the sandbox, svc_test_…")
	}
	if !strings.HasSuffix(strings.TrimRight(base, "/"), "/sandbox/v1") {
		return nil, invalidArgument("LogIn needs a base URL of the sandbox, …/sandbox/v1")
	}
	return signpost.New(options.Key, signpost.WithBaseURL(base)), nil
}

func readOrigin(site string) (string, error) {
	u, err := url.Parse(site)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Path != "" && u.Path != "/" || strings.ContainsAny(site, "?#") {
		return "", invalidArgument("the site is an origin, such as http://localhost:9001")
	}
	return originOf(u), nil
}

func invalidArgument(message string) error {
	return &signpost.Error{Code: signpost.CodeInvalidArgument, Message: message}
}

// openLoginPage follows the redirects from the site to the login page.
func (b *browser) openLoginPage(start string) (*loginPage, error) {
	address := start
	for range maxRedirects + 1 {
		u, err := url.Parse(address)
		if err != nil {
			return nil, fmt.Errorf("signposttest: the site redirected to no URL: %w", err)
		}
		found := pagePath.FindStringSubmatch(u.Path)
		if found != nil && found[1] == "" {
			return nil, fmt.Errorf("signposttest: the site uses the live environment: give it the key and the base URL of the sandbox")
		}
		shown, err := b.open(address)
		switch {
		case err != nil:
			return nil, err
		case found != nil && shown.status != http.StatusOK:
			return nil, fmt.Errorf("signposttest: the login page has status %d: %s", shown.status, shown.text())
		case found != nil:
			return &loginPage{address, found[2], shown}, nil
		case shown.loginError() != "":
			return nil, fmt.Errorf("signposttest: the site could not start a login (login_error=%s); its OnError has the reason", shown.loginError())
		case shown.location == "":
			return nil, fmt.Errorf("signposttest: %s has status %d instead of a redirect to the login page: is the login handler mounted there?", address, shown.status)
		}
		address = shown.location
	}
	return nil, fmt.Errorf("signposttest: %s redirected more than %d times, and not to the login page", start, maxRedirects)
}

// answer answers the code of the page with a simulated wallet. For a new wallet, the page shows another code.
func (b *browser) answer(client *signpost.Client, page *loginPage, wallet int) error {
	for _, isNew := range []bool{false, true} {
		simulation, err := client.Sessions.Simulate(b.ctx, page.session, signpost.SimulateParams{Wallet: wallet})
		if err != nil {
			return err
		}
		if simulation.Status == http.StatusOK {
			return nil
		}
		if isNew || !strings.Contains(simulation.Body, "account_needed") {
			return fmt.Errorf("signposttest: the simulated wallet was refused with status %d: %s", simulation.Status, simulation.Body+simulation.Error)
		}
		if _, err := b.open(page.address); err != nil {
			return err
		}
	}
	return nil
}

var (
	continueLink = regexp.MustCompile(`<a id="continue"[^>]*>`)
	backLink     = regexp.MustCompile(`<a id="back"[^>]*>`)
	cancelForm   = regexp.MustCompile(`(?s)<form id="cancel"[^>]*>`)
	cancelToken  = regexp.MustCompile(`(?s)<form id="cancel"[^>]*>.*?<input[^>]*name="token"([^>]*)>`)
)

// leave returns the URL that the page sends the browser back to.
func (b *browser) leave(page *loginPage, denied bool) (string, error) {
	shown, link := (*shownPage)(nil), continueLink
	var err error
	if denied {
		link = backLink
		shown, err = b.cancel(page)
	} else {
		shown, err = b.open(page.address)
	}
	if err != nil {
		return "", err
	}
	if back := cmp.Or(shown.location, shown.attribute(link, "href")); back != "" {
		return back, nil
	}
	return "", fmt.Errorf("signposttest: the login page has no link back to the site; its status is %d: %s", shown.status, shown.text())
}

func (b *browser) cancel(page *loginPage) (*shownPage, error) {
	action, token := page.shown.attribute(cancelForm, "action"), page.shown.attribute(cancelToken, "value")
	if action == "" || token == "" {
		return nil, fmt.Errorf("signposttest: the login cannot be cancelled: %s", page.shown.text())
	}
	address, err := resolve(page.address, action)
	if err != nil {
		return nil, err
	}
	return b.submit(address, url.Values{"token": {token}})
}

// returnToSite opens the site's return, and returns the URL that the site redirects to.
func (b *browser) returnToSite(origin, back string, denied bool) (string, error) {
	u, err := url.Parse(back)
	if err != nil {
		return "", fmt.Errorf("signposttest: the login page returns to no URL: %w", err)
	}
	if there := originOf(u); there != origin {
		return "", fmt.Errorf("signposttest: the login returns to %s, the site of the login handler: log in there instead of at %s", there, origin)
	}
	shown, err := b.open(back)
	if err != nil {
		return "", err
	}
	if shown.location == "" {
		return "", fmt.Errorf("signposttest: the site answered the return of the login with status %d", shown.status)
	}
	if reason := shown.loginError(); reason != "" && !(denied && reason == "access_denied") {
		return "", fmt.Errorf("signposttest: the login failed with login_error=%s; OnError of the site has the reason", reason)
	}
	return shown.location, nil
}

// cookies returns the cookies of an origin.
func (b *browser) cookies(origin string) ([]*http.Cookie, *cookiejar.Jar) {
	jar := b.jar(origin)
	u, _ := url.Parse(origin)
	return jar.Cookies(u), jar
}
