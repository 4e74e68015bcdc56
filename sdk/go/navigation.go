package signpost

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// hostMarker is the parameter of a request that was redirected from another host.
const hostMarker = "signpost_host"

var (
	// Headers that contain prefetch, prerender or preview in requests for a page that the user did not open yet.
	purposeHeaders = []string{"Sec-Purpose", "X-Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"}
	// Headers of Next.js in requests for data of a page. If such a request gets no data, Next.js opens the page itself.
	routerHeaders = []string{"Next-Router-Prefetch", "Rsc"}
	isPurpose     = regexp.MustCompile(`(?i)prefetch|prerender|preview`)
)

// isPrefetch reports whether the request is a prefetch or comes from a script. Without Sec-Fetch-Mode, it is a navigation.
func isPrefetch(r *http.Request) bool {
	for _, name := range purposeHeaders {
		if isPurpose.MatchString(strings.Join(r.Header.Values(name), ",")) {
			return true
		}
	}
	for _, name := range routerHeaders {
		if len(r.Header.Values(name)) > 0 {
			return true
		}
	}
	modes := r.Header.Values("Sec-Fetch-Mode")
	return len(modes) > 0 && strings.Join(modes, ",") != "navigate"
}

// nextOf returns the checked next of a request; / if it is missing, ambiguous or not a path of the site.
func nextOf(r *http.Request) string { return localNext(once(r.URL.Query(), "next")) }

// hostCheck redirects requests to another host than the site's, whose cookies the site would not receive at the return.
type hostCheck struct {
	site *site
	log  func(line string)
	// Once per process, because each request would repeat the line.
	redirected, replaced sync.Once
}

// siteURL returns the URL at the site to redirect to, or "" if the login may start. A request is redirected once: behind a
// proxy that replaces the Host header, each request seems to have another host.
func (c *hostCheck) siteURL(r *http.Request, route string) string {
	if c.site.hasHost(r.Host) {
		return ""
	}
	shown := fmt.Sprintf("%.100q", r.Host)
	if r.URL.Query().Has(hostMarker) {
		c.replaced.Do(func() {
			c.log("signpost: requests have the host " + shown + " although browsers use " + c.site.origin + ": let the proxy pass " +
				"the Host header (nginx: proxy_set_header Host $host), or correct the option Site")
		})
		return ""
	}
	c.redirected.Do(func() {
		c.log("signpost: a login began at the host " + shown + " and was redirected to " + c.site.origin + ", the option Site")
	})
	query := hostMarker + "=1"
	if next := nextOf(r); next != "/" {
		query = "next=" + escapeQuery(next) + "&" + query
	}
	return c.site.origin + c.site.path + route + "?" + query
}
